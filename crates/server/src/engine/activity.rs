//! How agents stand, for people who look on.

use std::collections::BTreeMap;

use delivery::model::Key;
use delivery::residency::State;

use super::Engine;

/// What an agent is doing in a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It has a turn.
    Working,
    /// It has a turn, and waits for people to answer a permission card.
    Asking,
    /// A run of it is about to begin: its process starts, or its last one ends.
    Queued,
    /// A run of it waits until another agent's process makes room.
    Waiting,
    /// Its runs wait for a person, for their time, or for the end of a pause.
    Held,
}

/// What an agent is doing in a channel, for how many runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doing {
    /// What.
    pub activity: Activity,
    /// Runs that wait or run.
    pub open_runs: usize,
    /// Whether it has a turn that can be steered.
    pub steerable: bool,
}

/// A piece of an answer that is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// More text.
    Text(String),
    /// What was said by now was no answer yet (2.4): it begins anew.
    Anew,
}

impl Engine {
    /// What the agents are doing that have runs which have not ended; all others are idle.
    pub fn activities(&self) -> BTreeMap<Key, Doing> {
        let mut runs: BTreeMap<Key, usize> = BTreeMap::new();
        for (key, _) in self.open.values() {
            *runs.entry(key.clone()).or_default() += 1;
        }
        let stands = |key: &Key| match self.residency.state(key) {
            State::Busy if self.is_asking(key) => Activity::Asking,
            State::Busy => Activity::Working,
            State::Absent | State::WaitingForPlace | State::Starting | State::Idle | State::Ending
                if self.queue.is_barred(key) && self.queue.current(key).is_none() =>
            {
                Activity::Held
            }
            State::WaitingForPlace => Activity::Waiting,
            State::Absent | State::Starting | State::Idle | State::Ending => Activity::Queued,
        };
        let doing = |key: &Key, open_runs| Doing {
            activity: stands(key),
            open_runs,
            steerable: self.is_steerable(key),
        };
        runs.into_iter().map(|(key, open)| (key.clone(), doing(&key, open))).collect()
    }
}
