//! Which agent processes are alive (section 6): one per (channel, binding), a bounded pool, idle ends,
//! the least recently used idle one makes room.

use crate::model::{Epoch, Key};
use crate::time::Moment;
use crate::turn::Lease;

/// Settings of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Processes alive at most, those that start or end counted.
    pub processes_max: usize,
    /// Idle milliseconds after which a process ends.
    pub idle_ms: u64,
}

/// What becomes of a process when its turn has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It stays for the next turn.
    Keep,
    /// It ends (session policy `fresh`, or a failure that leaves it unfit).
    End,
}

/// What happened. Events with an epoch that is not the key's present one change nothing (5.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A run of this key is the next: it wants a turn. Wanted twice is wanted once.
    Wanted(Key),
    /// It no longer does (cancelled before it got one).
    Unwanted(Key),
    /// The process runs and has a session.
    Started {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// Whether it reloaded an exact saved session.
        restored: bool,
    },
    /// The prompt of the granted turn was written: from now on the session has had a turn.
    Prompted {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
    },
    /// The granted turn is over, or was never begun.
    TurnEnded {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// What becomes of the process.
        after: After,
    },
    /// The process is gone, or could not be started. A key that still wants a turn waits: whoever sends this
    /// decides whether to want again.
    Exited {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
    },
    /// Next turn is a new native session (6.7): an idle process ends now, a busy one when its turn has ended.
    Fresh(Key),
    /// The binding is gone: its process ends now, busy or not; nothing is wanted any more.
    Removed(Key),
    /// No new work: idle and starting processes end now, busy ones when their turn has ended.
    Shutdown,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Start a process and a session under this epoch.
    Start {
        /// Key.
        key: Key,
        /// A new epoch, higher than all before.
        epoch: Epoch,
    },
    /// The key has its turn: send the prompt.
    Grant {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// Cold, restored or warm.
        lease: Lease,
    },
    /// End the process politely: its stdin is closed, then signals.
    End {
        /// Key.
        key: Key,
        /// Epoch.
        epoch: Epoch,
        /// Why, for the log and the board.
        why: EndReason,
    },
}

/// Why a process is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Idle for longer than the limit.
    Idle,
    /// Another key needed its place.
    Evicted,
    /// Start fresh, or session policy `fresh`, or unfit after a failure.
    Fresh,
    /// The binding was removed.
    Removed,
    /// The server stops.
    Shutdown,
}

/// How a key's process stands, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No process, none wanted.
    Absent,
    /// A turn is wanted but the pool is full.
    WaitingForPlace,
    /// Starting.
    Starting,
    /// Alive without a turn.
    Idle,
    /// In a turn.
    Busy,
    /// Ending.
    Ending,
}

/// The pool. Keys without a process and without a wish take no memory.
#[derive(Clone, Debug)]
pub struct Residency {
    pool: Pool,
    next_epoch: Epoch,
}

impl Residency {
    /// An empty pool; the first process gets `first_epoch`, which must be above all that were ever used.
    pub fn new(pool: Pool, first_epoch: Epoch) -> Self {
        Self { pool, next_epoch: first_epoch }
    }

    /// Takes an event in.
    pub fn handle(&mut self, event: Event, now: Moment) {
        let _ = (event, now, self.pool, self.next_epoch);
        unimplemented!()
    }

    /// Does what is due at `now`; too early is harmless.
    pub fn handle_timeout(&mut self, now: Moment) {
        let _ = now;
        unimplemented!()
    }

    /// The next thing to do, until there is none.
    pub fn next_command(&mut self) -> Option<Command> {
        unimplemented!()
    }

    /// When [`Self::handle_timeout`] is due next.
    pub fn next_timeout(&self) -> Option<Moment> {
        unimplemented!()
    }

    /// How a key stands.
    pub fn state(&self, key: &Key) -> State {
        let _ = key;
        unimplemented!()
    }

    /// Whether nothing is alive, starting or ending.
    pub fn is_empty(&self) -> bool {
        unimplemented!()
    }
}
