//! The monotonic clock that all processes of the machine share.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC`: the same clock in every process, so that one can start it and another stop it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instant {
    /// Since some point of the past.
    pub(crate) ns: u64,
}

impl Instant {
    pub(crate) fn now() -> Self {
        let time = clock_gettime(ClockId::Monotonic);
        let part = |number: i64| u64::try_from(number).unwrap_or_default();
        Self { ns: part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec) }
    }

    /// From an earlier one to this; zero if it was not earlier.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.ns.saturating_sub(earlier.ns))
    }

    /// From this to now.
    pub(crate) fn elapsed(self) -> Duration {
        Self::now().since(self)
    }
}
