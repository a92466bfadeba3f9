//! Wire types for what runs took.

use delivery::Timestamp;
use serde::{Deserialize, Serialize};
pub use storage::{CostBy, UsageBy, UsageSource};
use utoipa::ToSchema;

use super::schema;

/// Tokens and cost, as far as they were told; what was not is null.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Usage {
    /// Uncached input tokens.
    #[schema(required = true)]
    pub input: Option<u64>,
    /// Output tokens.
    #[schema(required = true)]
    pub output: Option<u64>,
    /// Read from the provider's cache.
    #[schema(required = true)]
    pub cached_read: Option<u64>,
    /// Written to it.
    #[schema(required = true)]
    pub cached_write: Option<u64>,
    /// Total.
    #[schema(required = true)]
    pub total: Option<u64>,
    /// What it cost.
    #[serde(default)]
    #[schema(required = true)]
    pub cost: Option<Cost>,
}

/// Money.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Cost {
    /// Millionths of the currency's unit.
    pub micros: u64,
    /// Three letters: `USD`.
    pub currency: String,
    /// `agent`: it told so; `price`: all or some of it is tokens at the model's list price.
    #[schema(value_type = schema::CostBy)]
    pub by: CostBy,
}

/// A turn of a run, with what it took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Turn {
    /// 1, 2, 3, …: a run that failed for a passing reason has several.
    pub n: u32,
    /// When it ended.
    #[schema(value_type = schema::Timestamp)]
    pub at: Timestamp,
    /// Native session id.
    #[schema(required = true)]
    pub native: Option<String>,
    /// Who told what it took: `agent` with its answer, or its own `transcript`; null: nobody.
    #[schema(value_type = Option<schema::UsageSource>, required = true)]
    pub source: Option<UsageSource>,
    /// The model that most of it went to.
    #[schema(required = true)]
    pub model: Option<String>,
    /// What it took.
    pub usage: Usage,
    /// Requests to the model that were broken off, of which nobody tells what they took.
    pub cut: u32,
}

/// Usage, added up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageSum {
    /// The run's id, the native session id, the binding's id, the channel's name, or the day as `2026-11-30`; empty for all
    /// together, and for turns whose session is not known.
    pub of: String,
    /// The channel, where it is of one alone.
    #[schema(required = true)]
    pub channel: Option<String>,
    /// The agent, without `@`, where it is of one alone.
    #[schema(required = true)]
    pub agent: Option<String>,
    /// When its first turn ended.
    #[schema(value_type = schema::Timestamp)]
    pub first_at: Timestamp,
    /// When its last one did.
    #[schema(value_type = schema::Timestamp)]
    pub last_at: Timestamp,
    /// Runs that had a turn.
    pub runs: u64,
    /// Those of them of which nothing was told.
    pub runs_untold: u64,
    /// Turns.
    pub turns: u64,
    /// Turns whose cost is not known.
    pub turns_unpriced: u64,
    /// Requests to models that were broken off, of which nobody tells what they took.
    pub cut: u64,
    /// Uncached input tokens; null: no turn told.
    #[schema(required = true)]
    pub input: Option<u64>,
    /// Output tokens.
    #[schema(required = true)]
    pub output: Option<u64>,
    /// Read from the provider's cache.
    #[schema(required = true)]
    pub cached_read: Option<u64>,
    /// Written to it.
    #[schema(required = true)]
    pub cached_write: Option<u64>,
    /// How much of all input was read from the cache, 0 to 1.
    #[schema(required = true)]
    pub cache_share: Option<f64>,
    /// What is known of costs, by currency.
    pub costs: Vec<Cost>,
}

/// Usage of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageReport {
    /// By what it is added up.
    #[schema(value_type = schema::UsageBy)]
    pub by: UsageBy,
    /// What was used last comes first.
    pub sums: Vec<UsageSum>,
    /// All together; null: nothing.
    #[schema(required = true)]
    pub all: Option<UsageSum>,
}

/// A spending limit, with what was spent today.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SpendingLimit {
    /// Name of the channel; null: all agents together.
    #[schema(required = true)]
    pub channel: Option<String>,
    /// The agent, without `@`; null: all of the channel together.
    #[schema(required = true)]
    pub agent: Option<String>,
    /// Tokens of all kinds together, a day.
    #[schema(required = true)]
    pub tokens: Option<u64>,
    /// Money a day, in millionths.
    #[schema(required = true)]
    pub micros: Option<u64>,
    /// Its currency.
    #[schema(required = true)]
    pub currency: Option<String>,
    /// Tokens since midnight UTC.
    pub spent_tokens: u64,
    /// Money since then, in that currency, as far as it is known.
    #[schema(required = true)]
    pub spent_micros: Option<u64>,
    /// Runs since then of which nothing is known: they count for nothing.
    pub runs_untold: u64,
    /// Turns since then whose cost is not known.
    pub turns_unpriced: u64,
}

/// A spending limit to set; without tokens and money it is taken away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetSpendingLimit {
    /// Name of the channel; all agents together if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Handle of one agent there; all of the channel together if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Tokens of all kinds together, a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money a day, in millionths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micros: Option<u64>,
    /// Its currency; `USD` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
}
