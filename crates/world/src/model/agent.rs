//! What agents report, and what must become of their turns.

use agents::{Event, EventKind, Fault, Started, Stop, Turn as Answer, Update};
use delivery::model::{Key, RunId};
use delivery::{AuthorKind, Policy, prose};
use storage::RunStatus;

use super::chat::Wanted;
use super::failed::Doomed;
use super::people::leading;
use super::session::{Session, State};
use super::{Model, Phase, Run, Seen};
use crate::breach::{Breach, Checked, ensure};

impl Model {
    /// What comes under another epoch than the present one changes nothing (5.7).
    pub(super) fn agent_event(&mut self, event: Event, seen: &mut Seen) -> Checked {
        let Event { key, epoch, kind } = event;
        ensure!(seen.reply.is_ok(), "5.7", "{kind:?} was refused: {:?}", seen.reply);
        if self.processes.get(&key).is_none_or(|process| process.epoch != epoch) {
            return Ok(());
        }
        let has = |run: &RunId| self.turn(&key).is_some_and(|turn| turn.run == *run);
        match kind {
            EventKind::Started(started) => self.started(&key, &started, seen),
            EventKind::ReloadFailed { .. } => self.reload_failed(&key, seen),
            EventKind::TreeLost => {
                if let Some(session) = self.present_mut(&key) {
                    session.barred = true;
                }
                Ok(())
            }
            EventKind::PromptWritten { run } if has(&run) => {
                if let Some(turn) = self.turn_mut(&key) {
                    turn.written = true;
                }
                if let Some(session) = self.session_mut(&key) {
                    session.turn_at = Some(seen.now.wall);
                }
                Ok(())
            }
            EventKind::Update { run, update } if has(&run) => self.update(&key, update, seen),
            EventKind::TurnEnded { run, turn } if has(&run) => self.turn_ended(&key, &run, &turn, seen),
            EventKind::TurnFailed { run, reason, fault } if has(&run) => {
                self.turn_failed(&key, &run, (&reason, fault), seen)
            }
            EventKind::PermissionAsked { run, ask } if has(&run) => self.asked(&key, &run, &ask, seen),
            EventKind::PermissionAsked { .. } => Ok(()),
            EventKind::PermissionClosed { run, ask, why } => {
                if has(&run) {
                    self.closed(&run, ask, why);
                }
                Ok(())
            }
            EventKind::Steered { .. } => Err(Breach::new("model", "no agent of this world can be steered")),
            EventKind::PromptWritten { .. }
            | EventKind::Update { .. }
            | EventKind::TurnEnded { .. }
            | EventKind::TurnFailed { .. } => Ok(()),
            EventKind::Exited { reason } => self.exited(&key, reason.as_deref(), seen),
        }
    }

    /// A new session: its native id is its own, whatever the agent says. One whose id is another's, or that the agent
    /// cannot reload, does not outlive its process.
    pub(super) fn begun(&mut self, key: &Key, started: &Started, seen: &Seen) -> Checked {
        let spec = self.chat.spec(key)?;
        let system = system_prompt(spec).filter(|_| started.system_prompt);
        let Some(process) = self.processes.get_mut(key) else { return Ok(()) };
        let stored = seen.session.as_ref().and_then(Option::as_ref);
        let stored = stored.filter(|session| session.epoch == process.epoch);
        let Some(stored) = stored else {
            return Err(Breach::new("6.2", format!("{key:?} has no session after its start")));
        };
        ensure!(
            !self.sessions.contains_key(&stored.native) && stored.system == system,
            "5.2",
            "session {} of {key:?} is not new, or has another system prompt",
            stored.native
        );
        process.native = Some(stored.native.clone());
        let epoch = process.epoch;
        if let Some(before) = self.present_mut(key) {
            before.state = State::Over;
        }
        let session = Session {
            key: key.clone(),
            native: stored.native.clone(),
            epoch,
            system,
            state: State::Live,
            barred: !started.reloadable || stored.native != started.native,
            turn_at: None,
            told: Default::default(),
            places: Default::default(),
            known: Default::default(),
            shown: Vec::new(),
        };
        self.sessions.insert(stored.native.clone(), session);
        Ok(())
    }

    fn update(&mut self, key: &Key, update: Update, seen: &mut Seen) -> Checked {
        let acts = !matches!(
            update,
            Update::Used(_) | Update::Cost(_) | Update::Compacted | Update::Notice(_) | Update::Other
        );
        if let Some(turn) = self.turn_mut(key) {
            turn.acted |= acts;
        }
        match update {
            Update::Text(piece) => {
                if let Some(turn) = self.turn_mut(key) {
                    turn.answer_bytes += piece.len();
                }
            }
            Update::Used(used) => {
                self.doubt(key, used, seen)?;
                if let Some(session) = self.session_mut(key) {
                    session.told.used(used);
                }
            }
            Update::Compacted => {
                if let Some(session) = self.session_mut(key) {
                    session.told.compacted();
                }
            }
            Update::PermissionRejected { title, .. } => self.tell_refusal(key, &title, seen)?,
            Update::ToolCall { .. }
            | Update::ToolUpdate { .. }
            | Update::Plan(_)
            | Update::Cost(_)
            | Update::Notice(_)
            | Update::Other => {}
        }
        Ok(())
    }

    fn turn_ended(&mut self, key: &Key, id: &RunId, answer: &Answer, seen: &mut Seen) -> Checked {
        let run = self.known_run(id)?;
        self.bars.crashes.remove(key);
        let turn = self.turn(key);
        let (declined, posts) = turn.map_or((None, 0), |turn| (turn.declined.clone(), turn.posts));
        let said = answer.text.as_deref();
        let status = match (&declined, answer.stop, said) {
            (Some(_), ..) => RunStatus::Declined,
            (None, Stop::EndTurn, _) | (None, Stop::MaxTokens | Stop::MaxRequests, Some(_)) => {
                RunStatus::Succeeded
            }
            (None, Stop::Cancelled, _) => RunStatus::Cancelled,
            (None, Stop::MaxTokens | Stop::MaxRequests, None) | (None, Stop::Refusal, _) => RunStatus::Failed,
        };
        match (status, said) {
            (RunStatus::Succeeded, Some(text)) => {
                self.reply(&run, text, seen)?;
                if answer.stop != Stop::EndTurn {
                    self.tell_end(id, status, Some("was cut"), seen)?;
                }
            }
            (RunStatus::Succeeded, None) if posts > 0 => {}
            (RunStatus::Succeeded, None) => self.tell_end(id, status, Some("(no reply)"), seen)?,
            (RunStatus::Failed | RunStatus::Cancelled | RunStatus::Declined, _) => {
                self.tell_end(id, status, declined.as_deref(), seen)?;
            }
            (RunStatus::Queued | RunStatus::Running, _) => {}
        }
        self.settle(key, status, Doomed::ByPolicy, seen)
    }

    /// The answer stands where the mention was, and may begin with whom it calls.
    fn reply(&mut self, run: &Run, text: &str, seen: &mut Seen) -> Checked {
        let own = self.chat.spec(&run.key)?.handle.clone();
        let author = format!("@{own}");
        let native = self.processes.get(&run.key).and_then(|process| process.native.clone());
        let thread = self.live_thread(run)?;
        let want = Wanted {
            channel: &run.key.channel,
            thread: thread.as_ref(),
            kind: AuthorKind::Agent,
            author: &author,
            native: native.as_ref(),
            run: Some(&run.id),
            text,
        };
        let message = self.chat.expect(&mut seen.events, seen.now.wall, &want)?;
        let is_direct = self.chat.rooms.get(&run.key.channel).is_some_and(|room| room.direct.is_some());
        if is_direct {
            return Ok(());
        }
        let is_known = |handle: &str| self.chat.agent(&run.key.channel, handle).is_some();
        let named = leading(text, is_known).into_iter().filter(|handle| *handle != own);
        let named = named.map(str::to_owned).collect();
        self.call(run, &message, named, seen).map(drop)
    }

    /// A process is gone, and with it the turn that it had; one that could not be started fails the run that it was
    /// started for.
    fn exited(&mut self, key: &Key, reason: Option<&str>, seen: &mut Seen) -> Checked {
        let Some(process) = self.processes.get(key).cloned() else { return Ok(()) };
        let mut stillborn = None;
        match &process.phase {
            Phase::Busy(turn) => {
                let reason = reason.unwrap_or("its process was ended");
                self.turn_failed(key, &turn.run, (reason, Fault::Lost), seen)?;
            }
            Phase::Starting if process.lost_session => {}
            Phase::Starting => stillborn = self.next_run(key).cloned(),
            Phase::Idle { .. } | Phase::Ending => {}
        }
        if let Some(run) = &stillborn {
            self.tell_end(run, RunStatus::Failed, reason, seen)?;
            self.close_run(run, RunStatus::Failed)?;
        }
        let ended = matches!(process.phase, Phase::Ending);
        self.processes.remove(key);
        self.let_go(key, process.doom.filter(|_| ended))?;
        stillborn.map_or(Ok(()), |run| self.process_failed(key, &run, seen))
    }
}

/// What stands in a true system prompt: framing and brief, where the policy puts them there.
pub(super) fn system_prompt(spec: &storage::NewBinding) -> Option<String> {
    let brief = prose::channel_task_brief();
    match spec.delivery {
        Policy::Lean => Some(format!("{}\n\n{brief}", framing(spec))),
        Policy::Base | Policy::Window => None,
    }
}

/// The framing with the binding's own instructions behind it.
pub(super) fn framing(spec: &storage::NewBinding) -> String {
    match &spec.instructions {
        Some(own) => format!("{}\n\n{own}", prose::FRAMING),
        None => prose::FRAMING.to_owned(),
    }
}
