//! A new server where the last one stopped (2.8).

use std::collections::BTreeMap;

use delivery::model::RunId;
use storage::RunStatus;

use super::{Doors, Model, Seen};
use crate::breach::Checked;

impl Model {
    /// Queued runs wait again, in the order in which they were made; those that may have begun fail visibly. All
    /// processes are gone.
    pub(super) fn restarted(&mut self, seen: &mut Seen) -> Checked {
        self.processes.clear();
        self.lose_cards();
        let keys: Vec<_> = self.sessions.values().map(|session| session.key.clone()).collect();
        for key in keys {
            if self.chat.bindings.get(&key.binding).is_some_and(|bound| !bound.removed) {
                self.let_go(&key, None)?;
            }
        }
        self.doors = Doors::Open;
        self.queues = BTreeMap::new();
        self.wishes.clear();
        let open: Vec<(RunId, RunStatus)> = self
            .runs
            .iter()
            .filter(|run| !run.status.ended())
            .map(|run| (run.id.clone(), run.status))
            .collect();
        for (id, status) in open {
            let run = self.run_mut(&id)?;
            run.lost = false;
            let key = run.key.clone();
            if status == RunStatus::Queued {
                self.queues.entry(key).or_default().push_back(id);
            } else {
                // What it held stays held.
                self.tell_end(&id, RunStatus::Failed, None, seen)?;
                self.close_run(&id, RunStatus::Failed)?;
            }
        }
        self.bars_restarted(seen.now);
        Ok(())
    }
}
