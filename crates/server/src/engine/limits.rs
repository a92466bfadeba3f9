//! A binding's own limits, of its turns and of its memory: changed by owners.

use storage::{OwnLimits, Store};

use super::admin::bound;
use super::{Engine, Now, Reply};
use crate::error::ApiError;

/// Less silence than this a turn cannot do without.
const MS_MIN: u64 = 10;
const DAY_MS: u64 = 86_400_000;

/// Less than this no agent starts with; more no machine has.
const MEMORY_BYTES: std::ops::RangeInclusive<u64> = (16 << 20)..=(16 << 40);

/// A change of a binding's limits; `None` stays, `Some(None)` is as the settings say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitsChange {
    /// Milliseconds that its agent may give no sign of life in a turn.
    pub inactivity_ms: Option<Option<u64>>,
    /// Milliseconds that a turn of it may take.
    pub turn_ms: Option<Option<u64>>,
    /// Bytes of memory that its processes may have together.
    pub memory_bytes: Option<Option<u64>>,
}

impl Engine {
    pub(super) fn change_limits(
        &mut self,
        store: &mut dyn Store,
        channel: &str,
        handle: &str,
        change: LimitsChange,
        now: Now,
    ) -> Result<Reply, ApiError> {
        let binding = bound(store, channel, handle)?;
        let old = binding.spec.limits;
        let limits = OwnLimits {
            inactivity_ms: change.inactivity_ms.unwrap_or(old.inactivity_ms),
            turn_ms: change.turn_ms.unwrap_or(old.turn_ms),
            memory_bytes: change.memory_bytes.unwrap_or(old.memory_bytes),
        };
        check_limits(&limits)?;
        Ok(Reply::Binding(Box::new(store.set_limits(&binding.id, &limits, now.wall)?)))
    }
}

/// Refuses limits that nobody could keep.
pub(super) fn check_limits(limits: &OwnLimits) -> Result<(), ApiError> {
    for (limit, what, range) in [
        (limits.inactivity_ms, "an inactivity limit is 10 ms to 1 d", MS_MIN..=DAY_MS),
        (limits.turn_ms, "a turn limit is 10 ms to 7 d", MS_MIN..=7 * DAY_MS),
        (limits.memory_bytes, "a memory limit is 16 MiB to 16384 GiB", MEMORY_BYTES),
    ] {
        if limit.is_some_and(|limit| !range.contains(&limit)) {
            return Err(ApiError::invalid(what));
        }
    }
    Ok(())
}
