//! The cache models from outside: tables of cases with their sources, and properties.

#![expect(clippy::unwrap_used, reason = "tests; clippy excepts only functions that it sees to be some")]

mod cases;
mod properties;
