//! Permissions that agents ask for (6.10): cards for people, rules for the rest, one outcome each.

use agents::{Ask, ChoiceKind, Closed};
use delivery::Moment;
use delivery::model::{Key, RunId};
use server::engine::{Answer, Reply};
use storage::{Outcome, PermissionId, RunStatus};

use super::{Cancel, Model, Seen, expect_refusal};
use crate::breach::{Breach, Checked, ensure};
use crate::setup::{CARD_MS, INSIDE};

/// A card.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    pub(crate) id: PermissionId,
    pub(crate) key: Key,
    pub(crate) run: RunId,
    ask: u64,
    options: Vec<ChoiceKind>,
    due: Moment,
    /// What came of it; `None` while it waits.
    pub(crate) outcome: Option<Outcome>,
}

/// What an agent must be told of what it asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) key: Key,
    pub(super) run: RunId,
    pub(super) ask: u64,
    pub(super) choice: Option<usize>,
}

impl Model {
    /// Of a turn that is being cancelled nobody is asked.
    pub(super) fn asked(&mut self, key: &Key, run: &RunId, ask: &Ask, seen: &mut Seen) -> Checked {
        if self.turn(key).is_none_or(|turn| turn.cancel != Cancel::Not) {
            return Ok(());
        }
        if let Some(turn) = self.turn_mut(key) {
            turn.acted = true;
        }
        let options: Vec<ChoiceKind> = ask.options.iter().map(|option| option.kind).collect();
        if self.chat.spec(key)?.supervised {
            let id = PermissionId(format!("k{}", self.cards.len() + 1));
            let due = seen.now.mono.after(CARD_MS);
            let (key, run) = (key.clone(), run.clone());
            self.cards.push(Card { id, key, run, ask: ask.n, options, due, outcome: None });
            return Ok(());
        }
        // Reading and searching inside its own folder is allowed, all else rejected.
        let inside = ask
            .touches
            .as_ref()
            .is_some_and(|touches| touches.paths.iter().all(|path| path.starts_with(INSIDE)));
        let once = options.iter().position(|option| *option == ChoiceKind::AllowOnce);
        let choice = match (ask.kind.as_str(), once) {
            ("read" | "search", Some(once)) if inside => Some(once),
            _ => {
                self.tell_refusal(key, &ask.title, seen)?;
                reject(&options)
            }
        };
        self.told.push(Told { key: key.clone(), run: run.clone(), ask: ask.n, choice });
        Ok(())
    }

    /// Some refusals are told in the channel; more of them are steps of the run alone.
    pub(super) fn tell_refusal(&mut self, key: &Key, title: &str, seen: &mut Seen) -> Checked {
        let Some(turn) = self.turn_mut(key) else { return Ok(()) };
        turn.refusals += 1;
        if turn.refusals > 5 {
            return Ok(());
        }
        let run = turn.run.clone();
        self.tell_end(&run, RunStatus::Running, Some(title), seen)
    }

    /// A person answers: the agent is told, once.
    pub(super) fn answer(&mut self, answer: &Answer, seen: &Seen) -> Checked {
        let Some(card) = self.cards.iter_mut().find(|card| card.id == answer.permission) else {
            return expect_refusal(seen, "an answer to no card");
        };
        let at = usize::try_from(answer.option).ok().and_then(|n| n.checked_sub(1));
        let option = at.and_then(|at| card.options.get(at).map(|kind| (at, *kind)));
        let (Some((choice, kind)), None) = (option, card.outcome) else {
            return expect_refusal(seen, "an answer to what is decided");
        };
        let rejects = matches!(kind, ChoiceKind::RejectOnce | ChoiceKind::RejectAlways);
        card.outcome = Some(if rejects { Outcome::Rejected } else { Outcome::Allowed });
        let (key, run, ask) = (card.key.clone(), card.run.clone(), card.ask);
        self.told.push(Told { key, run, ask, choice: Some(choice) });
        match &seen.reply {
            Ok(Reply::Permission(permission)) if permission.id == answer.permission => Ok(()),
            other => Err(Breach::new("6.10", format!("an answer is answered by {other:?}"))),
        }
    }

    /// Nobody answered in time: a reject option is chosen.
    pub(super) fn cards_due(&mut self, now: Moment) {
        for card in self.cards.iter_mut().filter(|card| card.outcome.is_none() && card.due <= now) {
            card.outcome = Some(Outcome::TimedOut);
            let (key, run, choice) = (card.key.clone(), card.run.clone(), reject(&card.options));
            self.told.push(Told { key, run, ask: card.ask, choice });
        }
    }

    /// The agent does not wait any more.
    pub(super) fn closed(&mut self, run: &RunId, ask: u64, why: Closed) {
        for card in self.cards.iter_mut().filter(|card| card.run == *run && card.ask == ask) {
            card.outcome.get_or_insert(match why {
                Closed::Withdrawn => Outcome::Withdrawn,
                Closed::Stopped => Outcome::Cancelled,
            });
        }
    }

    /// What a run still asks ends with it.
    pub(super) fn end_cards(&mut self, run: &RunId, status: RunStatus) {
        for card in self.cards.iter_mut().filter(|card| card.run == *run) {
            card.outcome.get_or_insert(match status {
                RunStatus::Cancelled => Outcome::Cancelled,
                RunStatus::Failed => Outcome::Lost,
                RunStatus::Succeeded | RunStatus::Declined | RunStatus::Queued | RunStatus::Running => {
                    Outcome::Withdrawn
                }
            });
        }
    }

    /// Cards of a server that is gone.
    pub(super) fn lose_cards(&mut self) {
        for card in &mut self.cards {
            card.outcome.get_or_insert(Outcome::Lost);
        }
    }

    pub(crate) fn waiting_cards(&self) -> impl Iterator<Item = &Card> {
        self.cards.iter().filter(|card| card.outcome.is_none())
    }

    /// When the first card is due.
    pub(super) fn next_card(&self) -> Option<Moment> {
        self.waiting_cards().map(|card| card.due).min()
    }

    pub(super) fn compare_cards(&self, pending: &[PermissionId]) -> Checked {
        let due: Vec<&PermissionId> = self.waiting_cards().map(|card| &card.id).collect();
        let is: Vec<&PermissionId> = pending.iter().collect();
        ensure!(is == due, "6.10", "the cards {is:?} wait instead of {due:?}");
        Ok(())
    }
}

/// The option that says no, for this once before for ever.
fn reject(options: &[ChoiceKind]) -> Option<usize> {
    let of = |kind| options.iter().position(|option| *option == kind);
    of(ChoiceKind::RejectOnce).or_else(|| of(ChoiceKind::RejectAlways))
}
