//! How processes and queues stand, for people.

use std::collections::BTreeMap;

use delivery::model::{Key, RunId};
use storage::PermissionId;

use super::{Board, Engine, Now, permission};

impl Engine {
    /// How processes and queues stand.
    pub fn board(&self, now: Now) -> Board {
        let mut keys: Vec<&Key> = self.live.keys().chain(self.open.values().map(|(key, _)| key)).collect();
        keys.sort();
        keys.dedup();
        let states = keys.iter().map(|key| ((*key).clone(), self.residency.state(key))).collect();
        let queues = keys
            .iter()
            .map(|key| {
                let current = self.queue.current(key).cloned();
                ((*key).clone(), current.into_iter().chain(self.queue.waiting(key)).collect())
            })
            .collect();
        let mut asking: BTreeMap<RunId, Vec<PermissionId>> = BTreeMap::new();
        for run in self.cards.values().map(permission::Waiting::run) {
            asking.entry(run.clone()).or_insert_with(|| self.cards_of(run));
        }
        let failed = self.waits.iter().filter(|(_, wait)| wait.run.is_none());
        let backoffs = failed
            .map(|(key, wait)| (key.clone(), now.wall.after(wait.until.ms.saturating_sub(now.mono.ms))))
            .collect();
        Board { at: now.wall, states, queues, asking, backoffs, memory: BTreeMap::new() }
    }
}
