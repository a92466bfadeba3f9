//! Channels, messages, runs, showings, bindings: one synchronous trait, SQLite by default.

#[cfg(test)]
mod contract;
mod error;
mod group_commit;
mod record;
mod sqlite;
mod store;

pub use error::Error;
pub use group_commit::{atomically, group_commit};
pub use record::*;
pub use sqlite::{Reader, Sqlite};
pub use store::{Read, Store};
