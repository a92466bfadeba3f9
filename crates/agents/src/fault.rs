//! What kind of failure ended a turn, by what can be done about it.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The type that a provider gives an error of a request that it will never take; agents pass it on in their words.
const INVALID_REQUEST: &str = "invalid_request_error";

/// What kind of failure ended a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The provider could not serve it now; the same turn may succeed later.
    Passing {
        /// Why.
        kind: Passing,
        /// Milliseconds that the provider asks to wait, if it says so.
        retry_after_ms: Option<u64>,
    },
    /// The provider took the request for invalid, so it will not take it later either.
    Invalid,
    /// The agent's process is gone, or unfit for another turn: its end follows.
    Lost,
    /// Anything else.
    Other,
}

/// A reason that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// Too many requests.
    RateLimit,
    /// The provider has too much to do.
    Overloaded,
    /// An error of the provider's own.
    Server,
}

impl Passing {
    /// In words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::RateLimit => "the provider's rate limit",
            Self::Overloaded => "the provider is overloaded",
            Self::Server => "an error of the provider",
        }
    }
}

/// The fault that an error tells of: by `errorKind` in its data, else by its text.
pub(crate) fn of_error(data: Option<&RawValue>, text: &str) -> Fault {
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Data<'a> {
        #[serde(borrow)]
        error_kind: Option<Cow<'a, str>>,
        #[serde(borrow)]
        retry_after: Option<&'a RawValue>,
        #[serde(borrow)]
        retry_after_ms: Option<&'a RawValue>,
    }
    // Data that is no such object says nothing.
    let data: Data<'_> = data.and_then(|data| serde_json::from_str(data.get()).ok()).unwrap_or_default();
    let passing = |kind| {
        let seconds = data.retry_after.and_then(number).map(|seconds| seconds * 1_000.0);
        let ms = data.retry_after_ms.and_then(number).or(seconds);
        Fault::Passing { kind, retry_after_ms: ms.map(whole) }
    };
    match data.error_kind.as_deref() {
        Some("rate_limit") => passing(Passing::RateLimit),
        Some("overloaded") => passing(Passing::Overloaded),
        Some("server_error") => passing(Passing::Server),
        Some("invalid_request") => Fault::Invalid,
        Some("unknown") | None if text.contains(INVALID_REQUEST) => Fault::Invalid,
        Some(_) | None => Fault::Other,
    }
}

/// A number, also one in quotes, as headers give it.
fn number(raw: &RawValue) -> Option<f64> {
    raw.get().trim_matches('"').trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Milliseconds, rounded up, 0 for what lies in the past.
fn whole(ms: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is finite and not negative, and what is too large becomes the largest"
    )]
    let whole = ms.max(0.0).ceil() as u64;
    whole
}

#[cfg(test)]
mod tests;
