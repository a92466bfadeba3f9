//! Turns that fail: which are tried again by themselves, and what else comes of them.

use agents::Fault;
use delivery::model::{Key, RunId, SessionPolicy};
use storage::RunStatus;

use super::bars::WAIT_MAX_MS;
use super::session::State;
use super::{Cancel, Doom, Model, Phase, Seen, Turn};
use crate::breach::Checked;

/// Milliseconds before the second try and before the third, where nobody names a time.
const WAITS_MS: [u64; 2] = [10_000, 60_000];
/// Turns refused as invalid after which the session is to blame.
const REFUSED_MAX: u32 = 2;

impl Model {
    /// A turn has failed: its run is tried again if the reason passes and the agent did nothing yet, or if its prompt was
    /// never written; else it ends.
    pub(super) fn turn_failed(
        &mut self,
        key: &Key,
        id: &RunId,
        (reason, fault): (&str, Fault),
        seen: &mut Seen,
    ) -> Checked {
        let Some(turn) = self.turn(key).cloned() else { return Ok(()) };
        let run = self.known_run(id)?;
        let deleted = self.chat.known(&run.message)?.deleted.is_some();
        let stands = turn.cancel == Cancel::Not && !deleted;
        let mut also = None;
        match fault {
            Fault::Passing { retry_after_ms, .. } if stands && !turn.acted => {
                let usual = usize::try_from(run.tries).ok().and_then(|tries| WAITS_MS.get(tries));
                match (usual, retry_after_ms) {
                    (None, _) => also = Some("(tried 3 times)"),
                    (Some(_), Some(ms)) if ms > WAIT_MAX_MS => also = Some("longer than the limit of 10 min"),
                    (Some(usual), asked) => {
                        return self.try_again(key, &turn, asked.unwrap_or(*usual), seen);
                    }
                }
            }
            Fault::Lost if !turn.written && turn.cancel == Cancel::Not && !run.lost => {
                self.run_mut(id)?.lost = true;
                self.return_run(key, &turn, Doomed::Gone)?;
                return if deleted { self.end_run(id, RunStatus::Cancelled, seen) } else { Ok(()) };
            }
            Fault::Passing { .. } | Fault::Lost | Fault::Invalid | Fault::Other => {}
        }
        if fault == Fault::Lost {
            self.crashed(key);
        }
        let status = if turn.cancel == Cancel::Not { RunStatus::Failed } else { RunStatus::Cancelled };
        let reasons: Vec<&str> = [reason].into_iter().chain(also).collect();
        self.tell_end_with(id, status, &reasons, seen)?;
        let refused = status == RunStatus::Failed && fault == Fault::Invalid;
        if let Some(session) = self.session_mut(key).filter(|_| refused) {
            session.told.refused();
        }
        let after = if fault == Fault::Lost { Doomed::Gone } else { Doomed::ByPolicy };
        self.settle(key, status, after, seen)?;
        match (status, fault) {
            (RunStatus::Failed, Fault::Invalid) => self.replace_if_poisoned(key, id, seen),
            (RunStatus::Failed, Fault::Lost) => self.process_failed(key, id, seen),
            _ => Ok(()),
        }
    }

    fn try_again(&mut self, key: &Key, turn: &Turn, wait_ms: u64, seen: &Seen) -> Checked {
        let run = self.run_mut(&turn.run)?;
        run.tries += 1;
        run.again = Some(seen.now.wall.after(wait_ms));
        if let Some(session) = self.session_mut(key) {
            session.told.failed();
        }
        self.return_run(key, turn, Doomed::ByPolicy)?;
        if let Some(process) = self.processes.get_mut(key) {
            process.phase = Phase::Idle { since: seen.now.mono };
        }
        let until = seen.now.mono.after(wait_ms);
        self.bars.waits.insert(key.clone(), (until, Some(turn.run.clone())));
        Ok(())
    }

    /// A run has no turn any more, and waits in front of the others of its key.
    fn return_run(&mut self, key: &Key, turn: &Turn, after: Doomed) -> Checked {
        let run = self.run_mut(&turn.run)?;
        run.status = RunStatus::Queued;
        run.began = false;
        if let Some(session) = self.session_mut(key) {
            session.shown.retain(|shown| shown.run != turn.run);
        }
        match after {
            Doomed::Gone => {
                if let Some(process) = self.processes.get_mut(key) {
                    process.phase = Phase::Ending;
                }
                Ok(())
            }
            Doomed::ByPolicy => self.doom_after(key, turn),
        }
    }

    /// What becomes of a process whose turn has ended (6.5).
    pub(super) fn doom_after(&mut self, key: &Key, turn: &Turn) -> Checked {
        let doom = match self.chat.spec(key)?.session {
            _ if turn.doubted => Some(Doom::Fresh),
            SessionPolicy::Resident => None,
            SessionPolicy::Saved => Some(Doom::Save),
            SessionPolicy::Fresh => Some(Doom::Fresh),
        };
        doom.into_iter().for_each(|doom| self.doom(key, doom));
        Ok(())
    }

    /// A session of which the provider takes no request is replaced, visibly.
    fn replace_if_poisoned(&mut self, key: &Key, id: &RunId, seen: &mut Seen) -> Checked {
        let poisoned = |session: &super::session::Session| session.told.refusals() >= REFUSED_MAX;
        if !self.present(key).is_some_and(poisoned) {
            return Ok(());
        }
        self.say_of(id, &["begins a new session"], seen)?;
        if let Some(session) = self.present_mut(key) {
            session.state = State::Over;
        }
        self.doom(key, Doom::Fresh);
        Ok(())
    }
}

/// What becomes of a process after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doomed {
    /// What its binding's policy says.
    ByPolicy,
    /// It is going by itself: its end is yet to be told.
    Gone,
}
