//! What tokens cost by the list prices of their models.

use std::sync::LazyLock;

use cost::cache::Outcome;
use cost::price::{Money, Price, Table};
use storage::{Binding, Cost, CostBy, Currency};

use crate::preset;

/// The known prices.
static PRICES: LazyLock<Table> = LazyLock::new(Table::built_in);

/// Of all that an answer tells; `None` where a model's price is not known, or how much of its input was cached.
///
/// A turn is many requests, each of which may be short or long: it is priced as if all of them were short.
pub(super) fn of(told: &agents::Usage, binding: &Binding) -> Option<Cost> {
    let hour = preset::keeps_ms(&binding.spec.preset, binding.spec.profile) > Some(HALF_AN_HOUR_MS);
    let money = match told.models.as_slice() {
        [] => {
            let counts = (told.input, told.cached_read, told.cached_write, told.output);
            tokens(binding.spec.model.as_deref()?, counts, hour)?
        }
        models => models
            .iter()
            .map(|one| tokens(&one.model, (one.input, one.cached_read, one.cached_write, one.output), hour))
            .sum::<Option<Money>>()?,
    };
    // Picodollars.
    let micros = u64::try_from(money.0 / 1_000_000).unwrap_or(u64::MAX);
    Some(Cost { micros, currency: Currency::USD, by: CostBy::Price })
}

/// A provider that keeps what it caches for longer takes another price for writing it.
const HALF_AN_HOUR_MS: u64 = 30 * 60_000;

/// Input, read from the cache, written to it, and output.
type Counts = (u64, Option<u64>, Option<u64>, u64);

fn tokens(model: &str, (input, read, write, output): Counts, hour: bool) -> Option<Money> {
    // What is read costs a tenth: without that number it is no price.
    let read_tokens = read?;
    let rates = PRICES.price(plain(model))?.rates;
    let write = write.unwrap_or(0);
    let (written_tokens, written_1h_tokens) = if hour { (0, write) } else { (write, 0) };
    let outcome = Outcome { read_tokens, written_tokens, written_1h_tokens, uncached_tokens: input };
    // A count beyond reason prices nothing.
    let sane = [input, read_tokens, write, output].iter().all(|count| *count < 1_000_000_000_000);
    sane.then(|| Price { rates, long: None }.of(outcome, output))
}

/// A model without what agents write behind its name: `claude-sonnet-5[1m]`.
fn plain(model: &str) -> &str {
    model.split('[').next().unwrap_or(model)
}

#[cfg(test)]
mod tests;
