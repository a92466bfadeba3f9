//! Times and spans of time, for people.

use std::time::{SystemTime, UNIX_EPOCH};

use delivery::Timestamp;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A time as `2026-11-30 10:00:01Z`.
pub(crate) fn time(at: Timestamp) -> String {
    let text = at.to_string();
    let seconds = text.split_once('.').map_or(text.as_str(), |(seconds, _)| seconds);
    format!("{}Z", seconds.replace('T', " "))
}

/// How long ago a time was: `2m ago`; after a month its date. What lies ahead, by a clock that differs, is `now`.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    match now.ms - at.ms {
        ..SECOND => "now".to_owned(),
        ms @ SECOND..MINUTE => format!("{}s ago", ms / SECOND),
        ms @ MINUTE..HOUR => format!("{}m ago", ms / MINUTE),
        ms @ HOUR..DAY => format!("{}h ago", ms / HOUR),
        ms if ms < 30 * DAY => format!("{}d ago", ms / DAY),
        _ => at.to_string().chars().take("2026-11-30".len()).collect(),
    }
}

/// A span of time as `250 ms` or `1.2 s`; of a clock that ran backwards, `0 ms`.
pub(crate) fn span(from: Timestamp, to: Timestamp) -> String {
    match (to.ms - from.ms).max(0) {
        ms @ ..SECOND => format!("{ms} ms"),
        ms => format!("{}.{} s", ms / SECOND, ms % SECOND / 100),
    }
}

/// The time of this machine.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { ms: i64::try_from(since.as_millis()).unwrap_or(i64::MAX) }
}

#[cfg(test)]
mod tests;
