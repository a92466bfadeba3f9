//! One process of the pool: where it stands between its start and its end.

use super::{After, EndReason};
use crate::model::Epoch;
use crate::time::Moment;
use crate::turn::Lease;

/// A process that takes a place, whether it starts, lives or ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    /// The epoch that it was started under.
    pub(super) epoch: Epoch,
    /// Where it stands.
    pub(super) phase: Phase,
    /// What the next grant says.
    pub(super) lease: Lease,
}

/// Where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The start was commanded.
    Starting,
    /// Alive without a turn.
    Idle {
        /// Since when.
        since: Moment,
    },
    /// In a turn.
    Busy {
        /// What was asked for the time after the turn, while it ran.
        after: After,
    },
    /// To be ended: the command has not been taken yet.
    Doomed(EndReason),
    /// The end was commanded.
    Ending,
}

impl Process {
    /// Whether its key may get a turn of it, now or later.
    pub(super) fn serves(&self) -> bool {
        match self.phase {
            Phase::Starting | Phase::Idle { .. } | Phase::Busy { .. } => true,
            Phase::Doomed(_) | Phase::Ending => false,
        }
    }

    /// When it has been idle for `idle_ms`, if it is idle.
    pub(super) fn idle_until(&self, idle_ms: u64) -> Option<Moment> {
        match self.phase {
            Phase::Idle { since } => Some(since.after(idle_ms)),
            Phase::Starting | Phase::Busy { .. } | Phase::Doomed(_) | Phase::Ending => None,
        }
    }
}
