//! What happened in worlds, counted.

use std::collections::BTreeMap;
use std::fmt;

/// Counts by kind.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    counts: BTreeMap<&'static str, u64>,
}

impl Tally {
    pub(crate) fn count(&mut self, kind: &'static str) {
        *self.counts.entry(kind).or_default() += 1;
    }

    /// How often something happened.
    pub fn of(&self, kind: &str) -> u64 {
        self.counts.get(kind).copied().unwrap_or(0)
    }

    /// Adds another world's.
    pub fn add(&mut self, other: &Self) {
        for (kind, count) in &other.counts {
            *self.counts.entry(kind).or_default() += count;
        }
    }
}

/// One kind a line.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, count) in &self.counts {
            writeln!(f, "{count:>12}  {kind}")?;
        }
        Ok(())
    }
}
