//! Prices: a dated table, and what an outcome costs by it, in whole picodollars.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

use crate::cache::Outcome;

/// An amount in picodollars (1e-12 dollars, which is what a price of one microdollar for a million tokens makes of one token).
/// Whole numbers: a total is the sum of its parts, to the last digit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(pub u128);

impl Money {
    /// In dollars, for display and files; not for sums.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a figure to read; the sums are made of whole numbers")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl fmt::Display for Money {
    /// Dollars with six decimals, or as many as asked for, rounded half up.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = out.precision().unwrap_or(6).min(12);
        let unit = (0..12 - decimals).fold(1, |unit: u128, _| unit * 10);
        let rounded = (self.0 + unit / 2) / unit;
        let whole = (0..decimals).fold(1, |whole: u128, _| whole * 10);
        write!(out, "${}", rounded / whole)?;
        if decimals > 0 { write!(out, ".{:0decimals$}", rounded % whole) } else { Ok(()) }
    }
}

impl Add for Money {
    type Output = Money;

    fn add(self, other: Money) -> Money {
        Money(self.0 + other.0)
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Money) {
        *self = *self + other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(amounts: I) -> Money {
        amounts.fold(Money::default(), Add::add)
    }
}

/// Prices of one token, in picodollars; the same number is microdollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Ordinary input.
    pub input: u64,
    /// Input read from the cache.
    pub read: u64,
    /// Input written to the cache for the provider's ordinary time.
    pub write: u64,
    /// Input written to the cache for an hour.
    pub write_1h: u64,
    /// Output.
    pub output: u64,
}

/// What a model costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// As a rule.
    pub rates: Rates,
    /// For the whole of a request with a longer prompt, if that has a price of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<Long>,
}

/// The price of requests with a long prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Long {
    /// It holds for prompts of more tokens than this, read and written ones counted.
    pub above_tokens: u64,
    /// For all tokens of such a request.
    pub rates: Rates,
}

impl Price {
    /// What one request costs, with its output. Prices depend on the length of single requests: price each, then add up.
    #[must_use]
    pub fn of(&self, outcome: Outcome, output_tokens: u64) -> Money {
        let long = self.long.filter(|long| outcome.total_tokens() > long.above_tokens);
        let rates = long.map_or(self.rates, |long| long.rates);
        let parts = [
            (outcome.read_tokens, rates.read),
            (outcome.written_tokens, rates.write),
            (outcome.written_1h_tokens, rates.write_1h),
            (outcome.uncached_tokens, rates.input),
            (output_tokens, rates.output),
        ];
        parts.iter().map(|(tokens, rate)| Money(u128::from(*tokens) * u128::from(*rate))).sum()
    }
}

/// Prices by model, with their day and source. `cargo xtask prices` writes the built-in one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The day on which they were read, as `2026-11-30`.
    pub date: String,
    /// Where they come from.
    pub source: String,
    /// By the provider's name for the model.
    pub models: BTreeMap<String, Price>,
}

impl Table {
    /// The table that comes with the program.
    ///
    /// # Panics
    ///
    /// Never: a test reads it.
    #[must_use]
    pub fn built_in() -> Table {
        Table::parse(include_str!("../data/prices.json")).expect("a test reads the built-in prices")
    }

    /// A table in the form of the built-in one (`data/prices.json`), such as a newer one.
    ///
    /// # Errors
    ///
    /// It has another form.
    pub fn parse(json: &str) -> Result<Table, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// The price of `model`: by its exact name, else by the name that it is a dated version of (`claude-sonnet-4-6-20260217`).
    #[must_use]
    pub fn price(&self, model: &str) -> Option<&Price> {
        crate::models::closest(&self.models, model)
    }
}
