//! Rate limits: a token bucket for each key, as values.

use std::collections::BTreeMap;

use delivery::Moment;

/// A limit: so many at once, and in the long run one in each span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// At most one in this many microseconds, once the burst is used up.
    pub every_us: u64,
    /// At most this many at once; at least 1.
    pub burst: u32,
}

impl Rate {
    /// So many a second, at least 1.
    pub fn per_second(n: u32, burst: u32) -> Self {
        Self { every_us: 1_000_000 / u64::from(n.max(1)), burst }
    }
}

/// Keys that are remembered at most; more than that many at once is a flood.
const KEYS_MAX: usize = 10_000;

/// One bucket per key. A full bucket takes no memory for long.
#[derive(Clone, Debug)]
pub(crate) struct Buckets<K> {
    rate: Rate,
    /// When each bucket will be full again.
    full_at_us: BTreeMap<K, u64>,
}

impl<K: Ord + Clone> Buckets<K> {
    /// All full.
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, full_at_us: BTreeMap::new() }
    }

    /// Takes one out of a bucket, or says in how many milliseconds there is one.
    pub(crate) fn take(&mut self, key: &K, now: Moment) -> Result<(), u64> {
        let now_us = now.ms.saturating_mul(1_000);
        let one_us = self.rate.every_us;
        let room_us = one_us.saturating_mul(u64::from(self.rate.burst.max(1)));
        let full_at = self.full_at_us.get(key).copied().unwrap_or(now_us).max(now_us);
        let after = full_at.saturating_add(one_us);
        let over_us = after.saturating_sub(now_us).saturating_sub(room_us);
        if over_us > 0 {
            return Err(over_us.div_ceil(1_000));
        }
        if self.full_at_us.len() >= KEYS_MAX && !self.full_at_us.contains_key(key) {
            self.forget(now_us);
        }
        self.full_at_us.insert(key.clone(), after);
        Ok(())
    }

    /// Forgets the buckets that are full, and of the others the fuller half: whoever took most is remembered longest.
    fn forget(&mut self, now_us: u64) {
        self.full_at_us.retain(|_, full_at| *full_at > now_us);
        if self.full_at_us.len() < KEYS_MAX {
            return;
        }
        let mut times: Vec<u64> = self.full_at_us.values().copied().collect();
        times.sort_unstable();
        let middle = times[times.len() / 2];
        self.full_at_us.retain(|_, full_at| *full_at > middle);
    }
}

#[cfg(test)]
mod tests;
