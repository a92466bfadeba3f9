//! Permissions that agents ask for: put up as cards, answered by people, by time or by rule; each has one outcome.

use agents::{Ask, Closed};
use delivery::faults::{self, broken};
use delivery::model::{Epoch, Key, RunId};
use delivery::{Moment, Timestamp};
use serde_json::json;
use storage::{
    Asked, Binding, Choice, ChoiceKind, Decider, Decision, Detail, Outcome, PermissionId, PersonId, Rule,
    RunStatus, Store, ToolKind, reject_option,
};

use super::{Command, Engine, Now, Reply, Rules};
use crate::error::{ApiError, Code};
use crate::view;

/// Cards of one run at most: an agent that floods fills no disk, and nobody reads more.
const CARDS_MAX: u32 = 100;

/// An answer that a person gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The card.
    pub permission: PermissionId,
    /// Number of the option, from 1.
    pub option: u32,
    /// Who answers.
    pub person: PersonId,
}

/// A card that waits.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    key: Key,
    epoch: Epoch,
    run: RunId,
    /// The agent's number for it.
    ask: u64,
    due: Moment,
    /// The option that says no.
    reject: Option<u32>,
}

impl Waiting {
    /// The run that waits.
    pub(super) fn run(&self) -> &RunId {
        &self.run
    }
}

/// What is done with a request at once.
enum Ruling {
    /// People are asked.
    Ask,
    /// This option is chosen.
    Allow(u32, String),
    /// It is rejected.
    Reject(String),
}

impl Engine {
    /// Takes in that an agent asks. Of a turn that is being cancelled nobody is asked: the cancel tells the agent.
    pub(super) fn permission_asked(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        run: &RunId,
        ask: &Ask,
        now: Now,
    ) -> Result<(), ApiError> {
        let Some(epoch) = self.live.get(key).map(|live| live.epoch) else { return Ok(()) };
        let Some(turn) = self.turn_of(key, run).filter(|turn| !turn.cancelling) else { return Ok(()) };
        turn.acted = true;
        let full = turn.cards >= CARDS_MAX;
        self.touched = true;
        let binding = Self::where_it_works(store, store.binding(&key.binding)?)?;
        match ruling(&self.rules, &binding, ask) {
            Ruling::Ask if full => {
                let why = format!("it is more than {CARDS_MAX} requests in one run");
                self.rule(store, key, run, ask, Ruling::Reject(why), now)
            }
            Ruling::Ask => {
                let limit_ms = binding.spec.permissions.limit_ms.unwrap_or(self.rules.permission_ms);
                let asked = asked(ask);
                let until =
                    Timestamp { ms: now.wall.ms.saturating_add(i64::try_from(limit_ms).unwrap_or(i64::MAX)) };
                let card = store.ask_permission(run, &asked, until, now.wall)?;
                let waiting = Waiting {
                    key: key.clone(),
                    epoch,
                    run: run.clone(),
                    ask: ask.n,
                    due: Moment { ms: now.mono.ms.saturating_add(limit_ms) },
                    reject: reject_option(&asked.options),
                };
                if let Some(turn) = self.turn_of(key, run) {
                    turn.cards += 1;
                }
                self.cards.insert(card.id, waiting);
                Ok(())
            }
            ruling @ (Ruling::Allow(..) | Ruling::Reject(_)) => self.rule(store, key, run, ask, ruling, now),
        }
    }

    /// Answers by rule: a step of the run, and a notice of what was refused.
    fn rule(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        run: &RunId,
        ask: &Ask,
        ruling: Ruling,
        now: Now,
    ) -> Result<(), ApiError> {
        let options = asked(ask).options;
        let (outcome, option, why) = match ruling {
            Ruling::Ask => return Ok(()),
            Ruling::Allow(option, why) => (Outcome::Allowed, Some(option), why),
            Ruling::Reject(why) => (Outcome::Rejected, reject_option(&options), why),
        };
        if let Some(epoch) = self.live.get(key).map(|live| live.epoch) {
            self.tell_agent(key, epoch, run, ask.n, option);
        }
        let name = option.and_then(|n| options.get(index(n)?)).map(|option| option.name.as_str());
        let body =
            json!({ "title": ask.title, "kind": ask.kind, "outcome": outcome, "option": name, "why": why });
        if outcome == Outcome::Rejected {
            self.tell_refusal(store, key, run, &ask.title, &why, now)?;
        }
        self.add_step(store, key, run, ("permission", body), now)
    }

    /// A person answers.
    pub(super) fn answer(
        &mut self,
        store: &mut dyn Store,
        answer: &Answer,
        now: Now,
    ) -> Result<Reply, ApiError> {
        let card = store.permission(&answer.permission)?;
        if let Some(decision) = &card.decision {
            return Err(decided_already(&card.id, decision));
        }
        let options = &card.asked.options;
        let Some(option) = index(answer.option).and_then(|at| options.get(at)) else {
            return Err(ApiError::invalid(format!(
                "permission {} has options 1 to {}; {} is none",
                card.id,
                options.len(),
                answer.option
            )));
        };
        let Some(waiting) = self.cards.get(&card.id).cloned() else {
            return Err(ApiError::conflict(format!("permission {} is ending", card.id)));
        };
        let name = store.person_by_id(&answer.person)?.name;
        let decision = Decision {
            outcome: if option.kind.rejects() { Outcome::Rejected } else { Outcome::Allowed },
            option: Some(answer.option),
            by: Some(Decider { person: answer.person.clone(), name }),
            why: None,
            at: now.wall,
        };
        store.decide_permission(&card.id, &decision)?;
        self.touched = true;
        self.cards.remove(&card.id);
        self.tell_agent(&waiting.key, waiting.epoch, &waiting.run, waiting.ask, Some(answer.option));
        Ok(Reply::Permission(Box::new(store.permission(&card.id)?)))
    }

    /// Says no for those who did not answer in time.
    pub(super) fn permissions_due(&mut self, store: &mut dyn Store, now: Now) -> Result<(), ApiError> {
        let due =
            self.cards.iter().filter(|(_, card)| card.due <= now.mono && !broken(faults::Rule::CardsTimeOut));
        let due: Vec<(PermissionId, Waiting)> = due.map(|(id, card)| (id.clone(), card.clone())).collect();
        for (id, card) in due {
            let decision = Decision {
                outcome: Outcome::TimedOut,
                option: card.reject,
                by: None,
                why: Some("nobody answered in time".to_owned()),
                at: now.wall,
            };
            store.decide_permission(&id, &decision)?;
            self.touched = true;
            self.cards.remove(&id);
            self.tell_agent(&card.key, card.epoch, &card.run, card.ask, card.reject);
        }
        Ok(())
    }

    /// When [`Self::permissions_due`] is to be called.
    pub(super) fn next_permission(&self) -> Option<Moment> {
        self.cards.values().map(|card| card.due).min()
    }

    /// The agent does not wait for an answer any more. One that was given meanwhile came too late, which is told.
    pub(super) fn permission_closed(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        run: &RunId,
        ask: u64,
        why: Closed,
        now: Now,
    ) -> Result<(), ApiError> {
        let Some(turn) = self.turn_of(key, run) else { return Ok(()) };
        let cancelling = turn.cancelling;
        let found = self.cards.iter().find(|(_, card)| card.run == *run && card.ask == ask);
        let Some(id) = found.map(|(id, _)| id.clone()) else {
            if cancelling {
                return Ok(());
            }
            let text = "an answer to a permission came too late: the agent did not wait for it any more";
            return self.add_step(store, key, run, ("notice", json!({ "text": text })), now);
        };
        let (outcome, why) = match why {
            Closed::Withdrawn => (Outcome::Withdrawn, "the agent took its request back"),
            Closed::Stopped if cancelling => (Outcome::Cancelled, "the run was cancelled"),
            Closed::Stopped => (Outcome::Cancelled, "the turn came to a limit of time"),
        };
        self.end_card(store, &id, outcome, why, now)
    }

    /// Ends all cards of a run that wait: whoever calls this tells its agent in another way, or has none to tell.
    pub(super) fn end_permissions(
        &mut self,
        store: &mut dyn Store,
        run: &RunId,
        status: RunStatus,
        now: Now,
    ) -> Result<(), ApiError> {
        let (outcome, why) = match status {
            RunStatus::Cancelled => (Outcome::Cancelled, "the run was cancelled"),
            RunStatus::Failed => (Outcome::Lost, "the run failed"),
            RunStatus::Succeeded | RunStatus::Declined | RunStatus::Queued | RunStatus::Running => {
                (Outcome::Withdrawn, "the turn ended without waiting for the answer")
            }
        };
        if broken(faults::Rule::CardsEndWithTheirRun) {
            return Ok(());
        }
        let of_run: Vec<PermissionId> = self.cards_of(run);
        of_run.iter().try_for_each(|id| self.end_card(store, id, outcome, why, now))
    }

    /// Ends the cards of a server that is gone.
    pub(super) fn end_lost_permissions(&mut self, store: &mut dyn Store, now: Now) -> Result<(), ApiError> {
        if broken(faults::Rule::CardsEndWithTheServer) {
            return Ok(());
        }
        for card in store.pending_permissions()? {
            self.end_card(store, &card.id, Outcome::Lost, "the server was restarted", now)?;
        }
        Ok(())
    }

    /// The cards of a run that wait, oldest first.
    pub(super) fn cards_of(&self, run: &RunId) -> Vec<PermissionId> {
        let mut ids: Vec<&PermissionId> =
            self.cards.iter().filter(|(_, card)| card.run == *run).map(|(id, _)| id).collect();
        // Of ids of one letter, the shorter is the smaller number.
        ids.sort_by_key(|id| (id.0.len(), id.0.as_str()));
        ids.into_iter().cloned().collect()
    }

    /// Whether a key's turn waits for people.
    pub(super) fn is_asking(&self, key: &Key) -> bool {
        self.cards.values().any(|card| card.key == *key)
    }

    fn end_card(
        &mut self,
        store: &mut dyn Store,
        id: &PermissionId,
        outcome: Outcome,
        why: &str,
        now: Now,
    ) -> Result<(), ApiError> {
        let decision = Decision { outcome, option: None, by: None, why: Some(why.to_owned()), at: now.wall };
        store.decide_permission(id, &decision)?;
        self.touched = true;
        self.cards.remove(id);
        Ok(())
    }

    fn tell_agent(&mut self, key: &Key, epoch: Epoch, run: &RunId, ask: u64, option: Option<u32>) {
        let choice = option.and_then(index);
        self.out.push_back(Command::Answer { key: key.clone(), epoch, run: run.clone(), ask, choice });
    }
}

/// What is done with a request: people decide for a supervised agent, rules for others. Whatever is not known is
/// rejected, and nothing is ever allowed for ever by rule (6.10).
fn ruling(rules: &Rules, binding: &Binding, ask: &Ask) -> Ruling {
    if binding.spec.supervised || broken(faults::Rule::UnsupervisedByRule) {
        return Ruling::Ask;
    }
    let Some(kind) = ToolKind::of_word(&ask.kind) else {
        return Ruling::Reject("nobody supervises it, and this kind of tool is not known".to_owned());
    };
    let word = kind.as_str();
    let once = (1..).zip(&ask.options).find(|(_, option)| option.kind == agents::ChoiceKind::AllowOnce);
    let allow = |why: String| match once {
        Some((n, _)) => Ruling::Allow(n, why),
        None => Ruling::Reject("it can only be allowed for ever".to_owned()),
    };
    match binding.spec.permissions.rule(kind) {
        Rule::Ask => Ruling::Ask,
        Rule::Allow => allow(format!("{word} is allowed without supervision")),
        Rule::Reject => Ruling::Reject(format!("{word} is not allowed without supervision")),
        Rule::Inside if !kind.is_by_path() => {
            Ruling::Reject(format!("{word} is not allowed without supervision"))
        }
        Rule::Inside => match &ask.touches {
            Some(touches) if (rules.inside)(binding, touches) => {
                allow(format!("{word} inside its own working folder is allowed"))
            }
            Some(_) | None => Ruling::Reject(format!(
                "without supervision, {word} is allowed only for paths inside its own working folder"
            )),
        },
    }
}

/// That a card has its outcome already, in words for whoever comes late.
fn decided_already(id: &PermissionId, decision: &Decision) -> ApiError {
    let outcome = view::outcome_words(decision.outcome);
    let who = match (&decision.by, &decision.why) {
        (Some(by), _) => format!(" by {}", by.name),
        (None, Some(why)) => format!(", {why}"),
        (None, None) => String::new(),
    };
    let at = decision.at.to_string();
    let time = at.get(11..16).map_or_else(|| at.clone(), |time| format!("{time} UTC"));
    ApiError::new(
        Code::AlreadyDecided,
        format!("permission {id} is already decided: {outcome} at {time}{who}"),
    )
}

/// An option's place in its list.
fn index(n: u32) -> Option<usize> {
    usize::try_from(n.checked_sub(1)?).ok()
}

fn asked(ask: &Ask) -> Asked {
    let detail = |detail: &agents::Detail| match detail.clone() {
        agents::Detail::Command(text) => Detail::Command { text },
        agents::Detail::Path(text) => Detail::Path { text },
        agents::Detail::Diff { path, old, new } => Detail::Diff { path, old, new },
        agents::Detail::Text(text) => Detail::Text { text },
        agents::Detail::Input(text) => Detail::Input { text },
    };
    let choice = |choice: &agents::Choice| Choice {
        name: choice.name.clone(),
        kind: match choice.kind {
            agents::ChoiceKind::AllowOnce => ChoiceKind::AllowOnce,
            agents::ChoiceKind::AllowAlways => ChoiceKind::AllowAlways,
            agents::ChoiceKind::RejectOnce => ChoiceKind::RejectOnce,
            agents::ChoiceKind::RejectAlways => ChoiceKind::RejectAlways,
            agents::ChoiceKind::Other => ChoiceKind::Other,
        },
    };
    Asked {
        title: ask.title.clone(),
        kind: ask.kind.clone(),
        tool: ask.tool.clone(),
        details: ask.details.iter().map(detail).collect(),
        options: ask.options.iter().map(choice).collect(),
    }
}
