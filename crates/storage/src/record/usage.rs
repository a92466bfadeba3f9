//! What turns took, and what may be spent, as values.

use std::fmt;

use delivery::Timestamp;
use delivery::model::{BindingId, ChannelId, NativeId, RunId};
use delivery::turn::Lease;
use serde::{Deserialize, Serialize};

/// Tokens that a turn used, as far as they were told; what was not is `None`, never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Uncached input tokens.
    pub input: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
    /// Input tokens read from the provider's cache.
    pub cached_read: Option<u64>,
    /// Input tokens written to the provider's cache.
    pub cached_write: Option<u64>,
    /// Total, as the agent says.
    pub total: Option<u64>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Usage {
    /// All tokens of the prompts; `None` where none were told.
    pub fn prompt(&self) -> Option<u64> {
        sum(&[self.input, self.cached_read, self.cached_write])
    }

    /// All tokens, as parts, else as a total that stands alone; `None` where none were told.
    pub fn tokens(&self) -> Option<u64> {
        sum(&[self.input, self.cached_read, self.cached_write, self.output]).or(self.total)
    }

    /// How much of the prompts the provider read from its cache, in thousandths; `None` where that was not told.
    pub fn cache_share(&self) -> Option<u64> {
        let prompt = self.prompt().filter(|prompt| *prompt > 0)?;
        let read = u128::from(self.cached_read?) * 1_000 / u128::from(prompt);
        u64::try_from(read).ok()
    }

    /// Both together. Of costs in different currencies the first stays.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            input: sum(&[self.input, other.input]),
            output: sum(&[self.output, other.output]),
            cached_read: sum(&[self.cached_read, other.cached_read]),
            cached_write: sum(&[self.cached_write, other.cached_write]),
            total: sum(&[self.total, other.total]),
            cost: match (self.cost, other.cost) {
                (Some(one), Some(more)) => Some(one.and(more)),
                (one, more) => one.or(more),
            },
        }
    }

    /// Whether anything was told.
    pub fn is_told(&self) -> bool {
        self.tokens().is_some() || self.cost.is_some()
    }
}

fn sum(parts: &[Option<u64>]) -> Option<u64> {
    parts.iter().flatten().copied().reduce(u64::saturating_add)
}

/// Money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Millionths of the currency's unit.
    pub micros: u64,
    /// Which.
    pub currency: Currency,
    /// By whom it is known.
    pub by: CostBy,
}

impl Cost {
    fn and(self, other: Self) -> Self {
        if self.currency != other.currency {
            return self;
        }
        let by = if self.by == other.by { self.by } else { CostBy::Price };
        Self { micros: self.micros.saturating_add(other.micros), by, ..self }
    }
}

/// A currency by its three letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Currency([u8; 3]);

impl Currency {
    /// Dollars of the United States, in which the known prices are.
    pub const USD: Self = Self(*b"USD");

    /// Three letters, whatever their case.
    pub fn parse(text: &str) -> Option<Self> {
        let letters: [u8; 3] = text.as_bytes().try_into().ok()?;
        letters.iter().all(u8::is_ascii_alphabetic).then(|| Self(letters.map(|one| one.to_ascii_uppercase())))
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|letter| write!(f, "{}", char::from(*letter)))
    }
}

impl TryFrom<String> for Currency {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("a currency has three letters, not {text:?}"))
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.to_string()
    }
}

/// By whom a cost is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CostBy {
    /// The agent told it.
    Agent,
    /// Its tokens at the model's list price.
    Price,
}

/// By whom the tokens of a turn are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UsageSource {
    /// The agent told them with its answer.
    Agent,
    /// The agent's own transcript has them.
    Transcript,
}

/// What a turn took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnUsage {
    /// Tokens and cost.
    pub usage: Usage,
    /// Who told it; `None`: nobody told anything.
    pub source: Option<UsageSource>,
    /// The model that most of it went to, if it was told.
    pub model: Option<String>,
    /// Requests that were broken off, of which nobody tells what they took.
    pub cut: u32,
}

/// A turn with what it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turned {
    /// The run.
    pub run: RunId,
    /// 1, 2, 3, … within the run.
    pub n: u32,
    /// When it ended.
    pub at: Timestamp,
    /// The session that had it, if that is known.
    pub native: Option<NativeId>,
    /// Cold, restored or warm, if that is known.
    pub lease: Option<Lease>,
    /// What it took.
    pub took: TurnUsage,
}

/// How far a session's own counts were taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionMarks {
    /// What the agent's count of the session's cost stood at, in millionths.
    pub cost_seen: Option<u64>,
    /// Up to where its transcript was read.
    pub transcript: TranscriptMark,
}

/// A place in a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptMark {
    /// Bytes in front of it.
    pub bytes: u64,
    /// The last request in front of it: what stands of that behind it was counted.
    pub request: Option<String>,
}

/// By what usage is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UsageBy {
    /// By run.
    Run,
    /// By native session.
    Session,
    /// By binding.
    Binding,
    /// By channel.
    Channel,
    /// By day, in UTC.
    Day,
}

/// Which usage, and by what it is added up.
#[derive(Clone, Copy, Debug)]
pub struct UsageQuery<'a> {
    /// In these channels.
    pub channels: &'a [ChannelId],
    /// Of this binding alone.
    pub binding: Option<&'a BindingId>,
    /// Of turns that ended at this time or later.
    pub since: Option<Timestamp>,
    /// By what; `None`: all together.
    pub by: Option<UsageBy>,
    /// Sums at most, those that were used last.
    pub limit: usize,
}

/// Usage, added up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageSum {
    /// The run, session, binding or channel by its id, or the day's first millisecond; empty for all together, and for
    /// turns whose session is not known.
    pub of: String,
    /// A channel of it, and a binding: the only ones, but by channel, by day and for all together.
    pub channel: ChannelId,
    /// See `channel`.
    pub binding: BindingId,
    /// When its first turn ended.
    pub first_at: Timestamp,
    /// When its last one did.
    pub last_at: Timestamp,
    /// Runs that had a turn.
    pub runs: u64,
    /// Those of them of which nothing was told.
    pub runs_untold: u64,
    /// Turns.
    pub turns: u64,
    /// Requests that were broken off, of which nobody tells what they took.
    pub cut: u64,
    /// Tokens; `cost` is empty.
    pub usage: Usage,
    /// What was told of costs, by currency.
    pub costs: Vec<Cost>,
    /// Turns whose cost is not known.
    pub turns_unpriced: u64,
}

/// Whom a spending limit is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitOf {
    /// All agents together.
    All,
    /// The agents of a channel together.
    Channel(ChannelId),
    /// One agent in a channel.
    Binding(ChannelId, BindingId),
}

/// What may be spent in a day, which begins at midnight UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// Tokens of all kinds together.
    pub tokens: Option<u64>,
    /// Money, in millionths.
    pub money: Option<(u64, Currency)>,
}

/// A spending limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpendingLimit {
    /// For whom.
    pub of: LimitOf,
    /// How much; never nothing at all.
    pub most: Spending,
}
