//! What the engine counted since it began, for whoever watches the server.

use storage::{Currency, RunStatus, Usage};

/// Counts of what was done; never falling. A step that is undone takes its counts back with the rest of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages that people posted.
    pub posts: u64,
    /// Runs that ended, by how.
    pub ended: Ended,
    /// Tokens that agents reported, which not all do.
    pub tokens: Tokens,
    /// What that cost, in millionths of dollars: as agents told, or by list prices. Other currencies are not counted.
    pub cost_usd_micros: u64,
    /// Turns that took something.
    pub turns: Turns,
    /// Runs that did not begin since a spending limit was reached.
    pub limited: u64,
    /// Turns that read too little from the provider's cache, as far as that was said.
    pub cache_alerts: u64,
}

/// Turns by whether it was told what they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// It was, with their end.
    pub told: u64,
    /// It was not.
    pub untold: u64,
}

/// Runs by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Answered.
    pub succeeded: u64,
    /// Failed.
    pub failed: u64,
    /// Cancelled.
    pub cancelled: u64,
    /// Declined.
    pub declined: u64,
}

/// Tokens, as agents report them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Uncached input.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Input that the provider had in its cache.
    pub cached_read: u64,
    /// Input that it put there.
    pub cached_write: u64,
}

impl Tally {
    pub(super) fn run_ended(&mut self, status: RunStatus) {
        match status {
            RunStatus::Succeeded => self.ended.succeeded += 1,
            RunStatus::Failed => self.ended.failed += 1,
            RunStatus::Cancelled => self.ended.cancelled += 1,
            RunStatus::Declined => self.ended.declined += 1,
            RunStatus::Queued | RunStatus::Running => {}
        }
    }

    /// A turn took this.
    pub(super) fn took(&mut self, usage: &Usage) {
        let told = if usage.is_told() { &mut self.turns.told } else { &mut self.turns.untold };
        *told += 1;
        self.more(usage);
    }

    /// It turned out that a turn took this, too.
    pub(super) fn more(&mut self, usage: &Usage) {
        let tokens = &mut self.tokens;
        let cost = usage.cost.filter(|cost| cost.currency == Currency::USD).map(|cost| cost.micros);
        let counts = [
            (&mut tokens.input, usage.input),
            (&mut tokens.output, usage.output),
            (&mut tokens.cached_read, usage.cached_read),
            (&mut tokens.cached_write, usage.cached_write),
            (&mut self.cost_usd_micros, cost),
        ];
        for (sum, more) in counts {
            // What an agent tells may be nonsense; it must not end the engine.
            *sum = sum.saturating_add(more.unwrap_or(0));
        }
    }
}
