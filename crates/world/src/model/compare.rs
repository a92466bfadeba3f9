//! The model beside the store, after every step.

use std::collections::{BTreeMap, BTreeSet};

use delivery::Policy;
use delivery::Watermark;
use delivery::model::{BindingId, Key, RunId};
use delivery::residency::State;
use server::engine::{Board, Now};
use storage::{PermissionId, PlacedWatermark, Run as StoredRun};

use super::session::{Memory, Place, Session};
use super::{Model, Phase, Run, Seen};
use crate::breach::{Breach, Checked, ensure};

impl Model {
    /// Runs and watermarks are as they must be.
    pub(super) fn compare(&self, seen: &Seen) -> Checked {
        let mut open: BTreeMap<&RunId, &Run> =
            self.runs.iter().filter(|run| !run.status.ended()).map(|run| (&run.id, run)).collect();
        for stored in &seen.runs {
            let Some(run) = self.run(&stored.id) else {
                return Err(Breach::new("2.1", format!("{} should not be", stored.id)));
            };
            same_run(run, stored)?;
            open.remove(&stored.id);
        }
        ensure!(open.is_empty(), "2.8", "runs {:?} are open and should not have ended", open.keys());
        self.compare_cards(&seen.pending)?;
        seen.marks.as_ref().map_or(Ok(()), |marks| self.compare_marks(marks))
    }

    /// Each watermark is what its session was given; none is of no session.
    fn compare_marks(&self, marks: &[PlacedWatermark]) -> Checked {
        let mut due: BTreeMap<(&BindingId, &Place), (&Session, &Memory)> = BTreeMap::new();
        for session in self.sessions_by_age() {
            for (place, memory) in &session.places {
                due.insert((&session.key.binding, place), (session, memory));
            }
        }
        for placed in marks {
            let Some((session, memory)) = due.remove(&(&placed.binding, &placed.thread)) else {
                return Err(Breach::new("5.3", format!("there should be no watermark {placed:?}")));
            };
            let policy = self.chat.spec(&session.key)?.delivery;
            same_mark(policy, session, memory, &placed.watermark)?;
        }
        ensure!(due.is_empty(), "5.1", "there are no watermarks for {:?}", due.keys());
        Ok(())
    }

    /// How processes and queues must stand.
    pub(crate) fn board(&self, now: Now) -> Board {
        let keys: BTreeSet<&Key> = self.processes.keys().chain(self.queues.keys()).collect();
        let state = |key: &Key| match self.processes.get(key).map(|process| &process.phase) {
            Some(Phase::Starting) => State::Starting,
            Some(Phase::Idle { .. }) => State::Idle,
            Some(Phase::Busy(_)) => State::Busy,
            Some(Phase::Ending) => State::Ending,
            None if self.wants(key) => State::WaitingForPlace,
            None => State::Absent,
        };
        let states = keys.iter().map(|key| ((*key).clone(), state(key))).collect();
        let queues = keys.iter().map(|key| ((*key).clone(), self.queue(key).cloned().collect())).collect();
        let mut asking: BTreeMap<RunId, Vec<PermissionId>> = BTreeMap::new();
        for card in self.waiting_cards() {
            asking.entry(card.run.clone()).or_default().push(card.id.clone());
        }
        let failed = self.bars.waits.iter().filter(|(_, (_, run))| run.is_none());
        let backoffs = failed.map(|(key, (until, _))| (key.clone(), now.wall.after(until.ms - now.mono.ms)));
        Board { at: now.wall, states, queues, asking, backoffs: backoffs.collect(), memory: BTreeMap::new() }
    }

    fn sessions_by_age(&self) -> Vec<&Session> {
        let mut sessions: Vec<&Session> = self.sessions.values().collect();
        sessions.sort_by_key(|session| session.epoch);
        sessions
    }
}

fn same_run(run: &Run, stored: &StoredRun) -> Checked {
    let due = (&run.key, &run.message, &run.thread, run.status, &run.retry_of, run.tries, run.again);
    let again = stored.again.as_ref().map(|again| again.at);
    let is =
        (&stored.key, &stored.message, &stored.thread, stored.status, &stored.retry_of, stored.tries, again);
    ensure!(due == is, "2.6", "{} is {is:?} instead of {due:?}", run.id);
    Ok(())
}

fn same_mark(policy: Policy, session: &Session, memory: &Memory, mark: &Watermark) -> Checked {
    let is_lean = policy == Policy::Lean;
    let due = Watermark {
        native: session.native.clone(),
        last_at: memory.last_at.unwrap_or(delivery::Timestamp { ms: 0 }),
        last_seq: Some(memory.last_seq),
        ids: memory.told.clone(),
        waiting: if is_lean { memory.waiting.clone() } else { Vec::new() },
    };
    ensure!(*mark == due, "5.1", "the watermark is\n{mark:?}\n--- where this is due:\n{due:?}");
    Ok(())
}
