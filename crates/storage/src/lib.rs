//! Channels, messages, runs, showings, bindings: one synchronous trait, SQLite by default.

mod error;
mod record;
mod store;

pub use error::Error;
pub use record::*;
pub use store::{Read, Store};
