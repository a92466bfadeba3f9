//! A rule that did not hold, and how it was seen.

use std::fmt;

/// What did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The rule, by its number or a word.
    pub rule: &'static str,
    /// How it was seen.
    pub what: String,
}

/// A value, unless a rule was broken on the way to it.
pub(crate) type Checked<T = ()> = Result<T, Breach>;

impl Breach {
    pub(crate) fn new(rule: &'static str, what: impl Into<String>) -> Self {
        Self { rule, what: what.into() }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {} is broken: {}", self.rule, self.what)
    }
}

impl From<storage::Error> for Breach {
    fn from(error: storage::Error) -> Self {
        Self::new("store", error.to_string())
    }
}

/// Returns a breach of a rule unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $rule:literal, $($what:tt)+) => {
        if !$holds {
            return Err($crate::breach::Breach::new($rule, format!($($what)+)));
        }
    };
}
pub(crate) use ensure;
