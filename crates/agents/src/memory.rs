//! Memory of the agents' trees: measured while they live, and how much of it they may have, in words.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use crate::agents::{Live, lock};
use crate::platform::{self, Weight};
use crate::process::Order;

/// How often trees are measured that the system bounds, or that have no limit.
const EVERY: Duration = Duration::from_secs(5);

/// How often they are measured while one of them has a limit that nothing else keeps, or is new.
const EVERY_WATCHED: Duration = Duration::from_secs(1);

/// What is known of one tree's memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scale {
    /// Whom to measure, once it runs.
    pub(crate) holder: Option<u32>,
    /// What it may have, and who keeps it to that.
    pub(crate) limit: Option<(u64, Keeper)>,
    /// What it had at the last look.
    pub(crate) bytes: Option<u64>,
    /// Whether it was told that it has too much.
    told: bool,
}

/// Who keeps a tree to its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeper {
    /// The kernel, by a control group.
    Kernel,
    /// The server, by looking.
    Server,
}

impl Scale {
    fn take(&mut self, weight: Weight) -> bool {
        self.bytes = Some(weight.all);
        let Some((max, keeper)) = self.limit else { return false };
        let counts = match keeper {
            // What left its group, as root may; files that others have too are charged to one of them.
            Keeper::Kernel => weight.own,
            Keeper::Server => weight.all,
        };
        let over = counts > max && !self.told;
        self.told |= over;
        over
    }

    fn is_watched(&self) -> bool {
        self.holder.is_some() && (self.bytes.is_none() || matches!(self.limit, Some((_, Keeper::Server))))
    }
}

/// Measures what lives, for as long as something does, and tells those that have too much.
pub(crate) async fn measure(live: Arc<Mutex<Live>>, started: Arc<Notify>) {
    loop {
        started.notified().await;
        loop {
            let is_watched = lock(&live).values().any(|way| way.scale.is_watched());
            sleep(if is_watched { EVERY_WATCHED } else { EVERY }).await;
            let holders: Vec<u32> = lock(&live).values().filter_map(|way| way.scale.holder).collect();
            if holders.is_empty() && lock(&live).is_empty() {
                break;
            }
            let weighed = tokio::task::spawn_blocking(move || platform::weigh(&holders)).await;
            take(&live, &weighed.unwrap_or_default());
        }
    }
}

fn take(live: &Mutex<Live>, weighed: &BTreeMap<u32, Weight>) {
    for way in lock(live).values_mut() {
        let weight = way.scale.holder.and_then(|holder| weighed.get(&holder));
        if weight.is_some_and(|weight| way.scale.take(*weight)) {
            // One whose queue is full ends anyway.
            let _ = way.orders.try_send(Order::TooLarge);
        }
    }
}

/// An amount of memory in words, in the largest unit that it is a whole number of.
pub fn amount(bytes: u64) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = units.into_iter().find(|(_, size)| bytes >= *size && bytes.is_multiple_of(*size));
    unit.map_or_else(|| format!("{bytes} bytes"), |(name, size)| format!("{} {name}", bytes / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_largest_whole_unit() {
        for (bytes, words) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (64 << 20, "64 MiB"),
            (2 << 30, "2 GiB"),
            (3 << 29, "1536 MiB"),
            ((2 << 30) + 1, "2147483649 bytes"),
        ] {
            assert_eq!(amount(bytes), words);
        }
    }

    #[test]
    fn who_has_too_much_is_told_once() {
        let check = |limit: Option<(u64, Keeper)>, weights: &[(u64, u64)], expect: &[bool]| {
            let mut scale = Scale { holder: Some(1), limit, ..Scale::default() };
            let told: Vec<bool> =
                weights.iter().map(|(all, own)| scale.take(Weight { all: *all, own: *own })).collect();
            assert_eq!(told, expect, "{limit:?}");
            assert_eq!(scale.bytes, weights.last().map(|(all, _)| *all));
        };
        check(None, &[(u64::MAX, u64::MAX)], &[false]);
        check(Some((100, Keeper::Server)), &[(100, 0), (101, 0), (102, 0)], &[false, true, false]);
        check(Some((100, Keeper::Kernel)), &[(200, 100), (200, 101), (200, 150)], &[false, true, false]);
    }
}
