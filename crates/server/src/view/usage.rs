//! What runs took, as the API shows it.

use storage::{Cost, Read, Turned, Usage, UsageBy, UsageSum};

use crate::error::ApiError;
use crate::wire;

pub(crate) fn usage(usage: Usage) -> wire::Usage {
    wire::Usage {
        input: usage.input,
        output: usage.output,
        cached_read: usage.cached_read,
        cached_write: usage.cached_write,
        total: usage.total,
        cost: usage.cost.map(cost),
    }
}

fn cost(cost: Cost) -> wire::Cost {
    wire::Cost { micros: cost.micros, currency: cost.currency.to_string(), by: cost.by }
}

pub(crate) fn turn(turn: Turned) -> wire::Turn {
    wire::Turn {
        n: turn.n,
        at: turn.at,
        native: turn.native.map(|native| native.0),
        source: turn.took.source,
        model: turn.took.model,
        usage: usage(turn.took.usage),
        cut: turn.took.cut,
    }
}

/// A sum; `by` is `None` for all together.
pub(crate) fn sum(store: &dyn Read, by: Option<UsageBy>, sum: UsageSum) -> Result<wire::UsageSum, ApiError> {
    let channel = store.channel_by_id(&sum.channel)?.name;
    let agent = store.binding(&sum.binding)?.spec.handle;
    let (of, channel, agent) = match by {
        Some(UsageBy::Run | UsageBy::Session | UsageBy::Binding) => (sum.of, Some(channel), Some(agent)),
        Some(UsageBy::Channel) => (channel.clone(), Some(channel), None),
        // All of its turns are of one day.
        Some(UsageBy::Day) => (sum.first_at.to_string().chars().take(10).collect(), None, None),
        None => (sum.of, None, None),
    };
    Ok(wire::UsageSum {
        of,
        channel,
        agent,
        first_at: sum.first_at,
        last_at: sum.last_at,
        runs: sum.runs,
        runs_untold: sum.runs_untold,
        turns: sum.turns,
        turns_unpriced: sum.turns_unpriced,
        cut: sum.cut,
        input: sum.usage.input,
        output: sum.usage.output,
        cached_read: sum.usage.cached_read,
        cached_write: sum.usage.cached_write,
        cache_share: sum.usage.cache_share().map(ratio),
        costs: sum.costs.into_iter().map(cost).collect(),
    })
}

#[expect(clippy::cast_precision_loss, reason = "a thousand thousandths at most")]
fn ratio(thousandths: u64) -> f64 {
    thousandths as f64 / 1e3
}
