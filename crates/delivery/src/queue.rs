//! The queue per key: one run at a time for each (channel, binding), the others wait in order (2.6).

use crate::model::{Key, RunId};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A run was queued, behind those of its key.
    Queued {
        /// Its key.
        key: Key,
        /// The run.
        run: RunId,
    },
    /// A run ended, whether it ran or waited: its key is free if it was the one that ran.
    Ended {
        /// Its key.
        key: Key,
        /// The run.
        run: RunId,
    },
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// This run is the next of its key: get it a lease.
    Begin {
        /// Its key.
        key: Key,
        /// The run.
        run: RunId,
    },
}

/// All queues. Keys without a run take no memory.
#[derive(Clone, Debug, Default)]
pub struct Queue {}

impl Queue {
    /// Takes an event in. Events that make no sense (an unknown run, one twice) change nothing.
    pub fn handle(&mut self, event: Event) {
        let _ = event;
        unimplemented!()
    }

    /// The next thing to do, until there is none.
    pub fn next_command(&mut self) -> Option<Command> {
        unimplemented!()
    }

    /// The run of a key that was begun and has not ended.
    pub fn current(&self, key: &Key) -> Option<&RunId> {
        let _ = key;
        unimplemented!()
    }

    /// The runs of a key that wait behind the current one, in order.
    pub fn waiting(&self, key: &Key) -> Vec<RunId> {
        let _ = key;
        unimplemented!()
    }

    /// How many keys have a run.
    pub fn keys(&self) -> usize {
        unimplemented!()
    }
}
