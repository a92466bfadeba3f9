//! What turns take, as agents tell it.

/// Tokens of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Uncached input.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Read from the provider's cache.
    pub cached_read: Option<u64>,
    /// Written to it.
    pub cached_write: Option<u64>,
    /// Total.
    pub total: u64,
    /// The same by model, with requests beside the turn's own, where the agent tells that; the numbers above are the turn's
    /// own alone.
    pub models: Vec<ModelUsage>,
}

/// Tokens of one model in a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelUsage {
    /// The provider's name for it.
    pub model: String,
    /// Uncached input.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Read from the provider's cache.
    pub cached_read: Option<u64>,
    /// Written to it.
    pub cached_write: Option<u64>,
}

/// Money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Money {
    /// Millionths of the currency's unit.
    pub micros: u64,
    /// The currency as the agent names it.
    pub currency: String,
}
