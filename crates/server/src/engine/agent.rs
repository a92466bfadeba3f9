//! What agent processes report, and what becomes of their runs.

use agents::{Begun, EventKind, Fault, Started, Stop, Turn, Update};
use delivery::answer::{MESSAGE_BYTES_MAX, split};
use delivery::faults::{Rule, broken};
use delivery::model::{AuthorKind, Epoch, Key, NativeId, RunId, SessionPolicy};
use delivery::residency::{self, After, EndReason};
use delivery::turn::Lease;
use delivery::{Author, queue};
use serde_json::json;
use storage::{Binding, Ending, Run, RunStatus, Store};

use super::run::{read_told, say, tell_end, write_told};
use super::saved::{self, FRESH, MAY_LIVE, SAME_ID, let_go};
use super::{Command, Engine, Live, Now, Piece, host};
use crate::error::ApiError;
use crate::preset;

/// Steps kept of one run at most: an agent that floods fills no disk.
const RUN_EVENTS_MAX: u32 = 500;
/// Session ids tried for a session whose own is taken.
const IDS_TRIED_MAX: u32 = 10;
/// Notices of refused permissions in one run at most; the rest are steps of the run alone.
const REFUSALS_TOLD_MAX: u32 = 5;
/// Bytes of a title or plan kept at most.
const STEP_BYTES_MAX: usize = 4_096;

impl Engine {
    /// Takes in an event of a process. One of another epoch than the key's present one changes nothing (5.7).
    pub(super) fn agent_event(
        &mut self,
        store: &mut dyn Store,
        event: agents::Event,
        now: Now,
    ) -> Result<(), ApiError> {
        let agents::Event { key, epoch, kind } = event;
        let is_of_now = |live: &Live| live.epoch == epoch || broken(Rule::OldEpochsAreDead);
        if !self.live.get(&key).is_some_and(is_of_now) {
            return Ok(());
        }
        match kind {
            EventKind::Started(started) => self.started(store, key, epoch, &started, now),
            EventKind::ReloadFailed { reason } => self.reload_failed(store, &key, &reason, now),
            EventKind::PromptWritten { run } => {
                if let Some(turn) = self.turn_of(&key, &run) {
                    turn.written = true;
                    self.touched = true;
                    store.touch_session(&key, now.wall)?;
                }
                Ok(())
            }
            EventKind::Update { run, update } => self.update(store, &key, &run, update, now),
            EventKind::PermissionAsked { run, ask } => self.permission_asked(store, &key, &run, &ask, now),
            EventKind::PermissionClosed { run, ask, why } => {
                self.permission_closed(store, &key, &run, ask, why, now)
            }
            EventKind::Steered { run, message, taken } => {
                self.steered(store, &key, &run, &message, taken, now)
            }
            EventKind::TurnEnded { run, turn } => {
                if self.turn_of(&key, &run).is_none() {
                    return Ok(());
                }
                self.turn_ended(store, &key, &run, turn, now)
            }
            EventKind::TurnFailed { run, reason, fault } => {
                self.turn_failed(store, &key, &run, (&reason, fault), now)
            }
            EventKind::TreeLost => Ok(store.bar_session(&key, MAY_LIVE)?),
            EventKind::Exited { reason } => self.exited(store, key, epoch, reason, now),
        }
    }

    pub(super) fn turn_of(&mut self, key: &Key, run: &RunId) -> Option<&mut super::LiveTurn> {
        self.live.get_mut(key).and_then(|live| live.turn.as_mut()).filter(|turn| turn.run == *run)
    }

    fn started(
        &mut self,
        store: &mut dyn Store,
        key: Key,
        epoch: Epoch,
        started: &Started,
        now: Now,
    ) -> Result<(), ApiError> {
        // What is ending gets no turn: its session stays as it is.
        if self.live.get(&key).is_none_or(|live| live.ending.is_some()) {
            return Ok(());
        }
        let mut on_its_word = None;
        let restored = match started.begun {
            Begun::New => {
                let binding = store.binding(&key.binding)?;
                let system = started.system_prompt.then(|| self.system_prompt(&binding)).flatten();
                begin_session(store, &key, &started.native, epoch, system.as_deref(), now)?;
                if !started.reloadable {
                    saved::bar_unreloadable(store, &key)?;
                }
                false
            }
            Begun::Restored | Begun::Resumed => {
                on_its_word = saved::take_up(store, &key, epoch, started, now)?;
                true
            }
        };
        if let (Some(run), false) = (self.queue.current(&key).cloned(), started.notices.is_empty()) {
            let run = store.run(&run)?;
            for text in &started.notices {
                store.add_run_event(
                    &run.id,
                    "notice",
                    &json!({ "text": short(text) }).to_string(),
                    now.wall,
                )?;
            }
        }
        self.touched = true;
        if let Some(live) = self.live.get_mut(&key) {
            live.started = true;
            live.steering = started.steering;
            live.on_its_word = on_its_word;
        }
        self.residency.handle(residency::Event::Started { key, epoch, restored }, now.mono);
        Ok(())
    }

    fn update(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        run: &RunId,
        update: Update,
        now: Now,
    ) -> Result<(), ApiError> {
        let Some(turn) = self.turn_of(key, run) else { return Ok(()) };
        turn.acted |= acts(&update);
        let mut anew = false;
        let step = match update {
            // A running answer's pieces are not durable; its final text is.
            Update::Text(piece) => {
                turn.answer_bytes = turn.answer_bytes.saturating_add(piece.len() as u64);
                self.touched = true;
                self.stream(key, run, Piece::Text(piece));
                return Ok(());
            }
            Update::Other => return Ok(()),
            Update::Used(used) => {
                if turn.lease == Lease::Restored {
                    self.check_restored(store, key, used, now)?;
                }
                return change_told(store, key, |told| told.used(used));
            }
            Update::Cost(money) => return self.counted(store, key, &money),
            Update::Compacted => {
                change_told(store, key, delivery::turn::Told::compacted)?;
                ("notice", json!({ "text": "the agent compacted its context" }))
            }
            Update::ToolCall { id, title, kind } => {
                anew = true;
                ("tool_call", json!({ "id": short(&id), "title": short(&title), "kind": short(&kind) }))
            }
            Update::ToolUpdate { id, status, title } => (
                "tool_update",
                json!({ "id": short(&id), "status": status.as_deref().map(short), "title": title.as_deref().map(short) }),
            ),
            Update::Notice(text) => ("notice", json!({ "text": short(&text) })),
            Update::Plan(plan) => ("plan", json!({ "text": short(&plan) })),
            Update::PermissionRejected { title, option, why } => {
                let (title, option) = (short(&title), option.as_deref().map(short));
                self.tell_refusal(store, key, run, title, &why, now)?;
                let outcome = storage::Outcome::Rejected;
                let body = json!({ "title": title, "outcome": outcome, "option": option, "why": why });
                ("permission", body)
            }
        };
        if anew {
            self.touched = true;
            self.stream(key, run, Piece::Anew);
        }
        self.add_step(store, key, run, step, now)
    }

    /// Adds a step to a run, unless it has very many.
    pub(super) fn add_step(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        run: &RunId,
        (kind, body): (&str, serde_json::Value),
        now: Now,
    ) -> Result<(), ApiError> {
        let Some(turn) = self.turn_of(key, run) else { return Ok(()) };
        if turn.events >= RUN_EVENTS_MAX {
            return Ok(());
        }
        turn.events += 1;
        self.touched = true;
        store.add_run_event(run, kind, &body.to_string(), now.wall)?;
        Ok(())
    }

    /// Posts a notice of a refused permission, unless there were some already.
    pub(super) fn tell_refusal(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        run: &RunId,
        title: &str,
        why: &str,
        now: Now,
    ) -> Result<(), ApiError> {
        let Some(turn) = self.turn_of(key, run) else { return Ok(()) };
        turn.refusals += 1;
        let refusals = turn.refusals;
        self.touched = true;
        if refusals > REFUSALS_TOLD_MAX {
            return Ok(());
        }
        permission_notice(store, run, &format!("{} ({why})", delivery::clean::name(title)), refusals, now)
    }

    fn stream(&mut self, key: &Key, run: &RunId, piece: Piece) {
        self.out.push_back(Command::Stream { key: key.clone(), run: run.clone(), piece });
    }

    /// Reply, commit and end of run are one transaction (5.6): the step's.
    fn turn_ended(
        &mut self,
        store: &mut dyn Store,
        key: &Key,
        run: &RunId,
        mut turn: Turn,
        now: Now,
    ) -> Result<(), ApiError> {
        let run = store.run(run)?;
        let binding = store.binding(&key.binding)?;
        let after = self.after(key, &binding);
        if !broken(Rule::AnswerForgives) {
            self.crashes.remove(key);
        }
        let ended = self.turn_of(key, &run.id).map(|ended| {
            ended.told = turn.usage.take();
            (ended.declined.clone(), ended.posts)
        });
        let (declined, posts) = ended.unwrap_or_default();
        let (status, error) = outcome(&turn, declined);
        let text =
            turn.text.map(|text| text.replace('\0', "\u{fffd}")).filter(|text| !text.trim().is_empty());
        match (status, text) {
            (RunStatus::Succeeded, Some(text)) => {
                self.reply(store, &run, &binding, &text, now)?;
                if let Some(note) = &error {
                    tell_end(store, &run, status, note, now)?;
                }
            }
            (RunStatus::Succeeded, None) if posts > 0 || broken(Rule::SilenceIsTold) => {}
            (RunStatus::Succeeded, None) => tell_end(store, &run, status, "(no reply)", now)?,
            (RunStatus::Failed | RunStatus::Cancelled | RunStatus::Declined, _) => {
                tell_end(store, &run, status, error.as_deref().unwrap_or("by request"), now)?;
            }
            (RunStatus::Queued | RunStatus::Running, _) => {}
        }
        let error = if status == RunStatus::Succeeded { None } else { error };
        self.settle(store, key, &Ending { status, error, told: None }, after, now)
    }

    /// What becomes of a process whose turn has ended (6.5).
    pub(super) fn after(&self, key: &Key, binding: &Binding) -> After {
        let doubted = self.live.get(key).and_then(|live| live.turn.as_ref()).is_some_and(|turn| turn.doubted);
        match binding.spec.session {
            _ if doubted => After::End,
            SessionPolicy::Resident => After::Keep,
            SessionPolicy::Saved if broken(Rule::SavedEndsAfterTurn) => After::Keep,
            SessionPolicy::Saved => After::Save,
            SessionPolicy::Fresh if broken(Rule::FreshEachRun) => After::Keep,
            SessionPolicy::Fresh => After::End,
        }
    }

    /// Posts a reply, in parts if it is long, and calls the agents that it begins with.
    fn reply(
        &mut self,
        store: &mut dyn Store,
        run: &Run,
        binding: &Binding,
        text: &str,
        now: Now,
    ) -> Result<(), ApiError> {
        let mut first = None;
        for part in split(text, MESSAGE_BYTES_MAX) {
            let author = Author { kind: AuthorKind::Agent, name: format!("@{}", binding.spec.handle) };
            let message = say(store, run, author, part, now)?;
            first.get_or_insert(message);
        }
        match first {
            Some(first) => self.call_by_reply(store, run, binding, &first, now),
            None => Ok(()),
        }
    }

    /// A process is gone. The run that it had fails if its prompt may have been written, and begins again otherwise; one
    /// that could not be started fails the run that it was started for.
    fn exited(
        &mut self,
        store: &mut dyn Store,
        key: Key,
        epoch: Epoch,
        reason: Option<String>,
        now: Now,
    ) -> Result<(), ApiError> {
        let Some(Live { started, turn, ending, lost_session, .. }) = self.live.get(&key).cloned() else {
            return Ok(());
        };
        let reason = reason.unwrap_or_else(|| "its process was ended".to_owned());
        if let Some(turn) = turn {
            self.turn_failed(store, &key, &turn.run, (&reason, Fault::Lost), now)?;
        }
        let_go(store, &key, ending, &session_end(ending, &reason), now)?;
        let begins_anew = started || ending.is_some() || lost_session;
        let stillborn = if begins_anew { None } else { self.queue.current(&key).cloned() };
        if let Some(id) = &stillborn {
            let run = store.run(id)?;
            let reason = self.with_install(&store.binding(&key.binding)?, reason);
            self.end_visibly(store, &run, RunStatus::Failed, &reason, now)?;
        }
        self.touched = true;
        self.live.remove(&key);
        let binding = store.binding(&key.binding)?;
        if binding.removed_at.is_some() {
            self.let_worktree_go(store, &binding, now)?;
        }
        self.residency.handle(residency::Event::Exited { key: key.clone(), epoch }, now.mono);
        if let Some(id) = stillborn {
            let run = store.run(&id)?;
            self.forget(&id, queue::Event::Ended { key, run: id.clone() });
            self.crashed(store, &run, now)?;
        } else if self.queue.current(&key).is_some() {
            self.residency.handle(residency::Event::Wanted(key), now.mono);
        }
        Ok(())
    }

    /// Why a process did not start, with how to install its program if that is what is missing.
    fn with_install(&self, binding: &Binding, reason: String) -> String {
        match preset::install(&binding.spec.preset) {
            Some(install) if !(self.rules.reachable)(binding) => {
                format!("{reason}; install it with: {install}")
            }
            Some(_) | None => reason,
        }
    }
}

/// Whether an agent did something by this that cannot be taken back, or that somebody saw.
fn acts(update: &Update) -> bool {
    match update {
        Update::Text(_)
        | Update::ToolCall { .. }
        | Update::ToolUpdate { .. }
        | Update::Plan(_)
        | Update::PermissionRejected { .. } => true,
        Update::Used(_) | Update::Cost(_) | Update::Compacted | Update::Notice(_) | Update::Other => false,
    }
}

/// Why a session ended with its process, for people.
fn session_end(ending: Option<EndReason>, reason: &str) -> String {
    match ending {
        Some(EndReason::Idle) => "its last process was idle for longer than the limit".to_owned(),
        Some(EndReason::Evicted) => "its last process made room for another agent (pool_size)".to_owned(),
        Some(EndReason::Saved) => "its session policy is saved: no process stays between turns".to_owned(),
        Some(EndReason::Fresh) => FRESH.to_owned(),
        Some(EndReason::Removed) => "the agent was removed from the channel".to_owned(),
        Some(EndReason::Shutdown) => "the server was stopped".to_owned(),
        None => format!("its last process went away: {}", short(reason.lines().next().unwrap_or_default())),
    }
}

/// Records a session. An agent that gives the same id twice for two sessions must not inherit what the first was
/// told: its second gets the epoch behind it.
fn begin_session(
    store: &mut dyn Store,
    key: &Key,
    native: &NativeId,
    epoch: Epoch,
    system: Option<&str>,
    now: Now,
) -> Result<(), ApiError> {
    let mut own = native.clone();
    for n in 0..IDS_TRIED_MAX {
        match store.begin_session(key, &own, epoch, system, now.wall) {
            Err(storage::Error::Exists { .. }) => own = NativeId(format!("{native}~{}.{n}", epoch.0)),
            Ok(_) if n > 0 => return Ok(store.bar_session(key, SAME_ID)?),
            other => return Ok(other.map(|_| ())?),
        }
    }
    Err(ApiError::conflict(format!("the agent gives no session id of its own: {native}")))
}

pub(super) fn change_told(
    store: &mut dyn Store,
    key: &Key,
    change: impl FnOnce(&mut delivery::turn::Told),
) -> Result<(), ApiError> {
    let Some(session) = store.session(key)? else { return Ok(()) };
    let mut told = read_told(&session.told);
    let before = told.clone();
    change(&mut told);
    if told != before {
        store.set_told(key, &write_told(&told))?;
    }
    Ok(())
}

fn permission_notice(
    store: &mut dyn Store,
    run: &RunId,
    what: &str,
    refusals: u32,
    now: Now,
) -> Result<(), ApiError> {
    let run: Run = store.run(run)?;
    let handle = store.binding(&run.key.binding)?.spec.handle;
    let mut text = format!("@{handle} asked for permission and was refused: {what}");
    if refusals == REFUSALS_TOLD_MAX {
        text.push_str(&format!(" (further refusals are told by: highwater run show {})", run.id));
    }
    say(store, &run, host(), text, now).map(|_| ())
}

fn outcome(turn: &Turn, declined: Option<String>) -> (RunStatus, Option<String>) {
    if let Some(reason) = declined {
        return (RunStatus::Declined, Some(reason));
    }
    match (turn.stop, turn.text.is_some()) {
        (Stop::EndTurn, _) => (RunStatus::Succeeded, None),
        (Stop::Cancelled, _) => (RunStatus::Cancelled, Some("by request".to_owned())),
        (Stop::MaxTokens, true) => {
            (RunStatus::Succeeded, Some("the answer was cut at the limit of tokens".to_owned()))
        }
        (Stop::MaxTokens, false) => {
            (RunStatus::Failed, Some("it reached its limit of tokens without an answer".to_owned()))
        }
        (Stop::MaxRequests, true) => {
            (RunStatus::Succeeded, Some("the answer was cut at the limit of requests in one turn".to_owned()))
        }
        (Stop::MaxRequests, false) => (
            RunStatus::Failed,
            Some("it reached its limit of requests in one turn without an answer".to_owned()),
        ),
        (Stop::Refusal, _) => (RunStatus::Failed, Some("its model refused to go on".to_owned())),
    }
}

/// A text of at most [`STEP_BYTES_MAX`] bytes.
pub(super) fn short(text: &str) -> &str {
    let mut end = text.len().min(STEP_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
