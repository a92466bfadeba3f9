//! Time as values: wall-clock timestamps for people and storage, monotonic moments for deadlines.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Milliseconds since the Unix epoch, UTC. Written as `2026-11-30T10:00:01.000Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub ms: i64,
}

impl Timestamp {
    /// The time `ms` milliseconds later.
    #[must_use]
    pub fn after(self, ms: u64) -> Self {
        Self { ms: self.ms.saturating_add_unsigned(ms) }
    }
}

/// Milliseconds of a monotonic clock whose zero means nothing. For deadlines within one life of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// Milliseconds since that clock's zero.
    pub ms: u64,
}

impl Moment {
    /// The moment `ms` milliseconds later.
    #[must_use]
    pub fn after(self, ms: u64) -> Self {
        Self { ms: self.ms.saturating_add(ms) }
    }
}

const MS_PER_DAY: i64 = 86_400_000;

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, ms) = (self.ms.div_euclid(MS_PER_DAY), self.ms.rem_euclid(MS_PER_DAY));
        let (year, month, day) = civil_from_days(days);
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1_000)
    }
}

/// Why a text is no timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotATimestamp;

impl fmt::Display for NotATimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a UTC time like 2026-11-30T10:00:01.000Z")
    }
}

impl std::error::Error for NotATimestamp {}

impl FromStr for Timestamp {
    type Err = NotATimestamp;

    /// Reads RFC 3339 in UTC with `Z`, with or without a fraction; digits past the millisecond are dropped.
    fn from_str(text: &str) -> Result<Self, NotATimestamp> {
        let body = text.strip_suffix('Z').ok_or(NotATimestamp)?;
        let (date, clock) = body.split_once('T').ok_or(NotATimestamp)?;
        let [year, month, day] = numbers(date, '-')?;
        let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
        let [hour, minute, second] = numbers(clock, ':')?;
        if fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
            return Err(NotATimestamp);
        }
        let ms = fraction.bytes().chain(*b"00").take(3).fold(0, |n, b| n * 10 + i64::from(b - b'0'));
        let in_range = (1..=12).contains(&month) && (1..=31).contains(&day) && year <= 9999;
        if !in_range || hour > 23 || minute > 59 || second > 60 {
            return Err(NotATimestamp);
        }
        let days = days_from_civil(year, month, day);
        if civil_from_days(days) != (year, month, day) {
            return Err(NotATimestamp);
        }
        Ok(Self { ms: days * MS_PER_DAY + hour * 3_600_000 + minute * 60_000 + second * 1_000 + ms })
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

fn numbers(text: &str, separator: char) -> Result<[i64; 3], NotATimestamp> {
    let mut parts = text.split(separator).map(|part| {
        let digits = !part.is_empty() && part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit());
        if digits { part.parse().map_err(|_| NotATimestamp) } else { Err(NotATimestamp) }
    });
    let mut next = || parts.next().ok_or(NotATimestamp)?;
    let three = [next()?, next()?, next()?];
    if parts.next().is_some() { Err(NotATimestamp) } else { Ok(three) }
}

/// Days since 1970-01-01 of a date in the proleptic Gregorian calendar (Hinnant's algorithm).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The inverse of [`days_from_civil`]: (year, month, day).
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted_month + 2) / 5 + 1)
}

#[cfg(test)]
mod tests;
