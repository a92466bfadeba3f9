//! Channels, messages, runs, showings, bindings: one synchronous trait, SQLite by default.

mod atomically;
#[cfg(test)]
mod contract;
mod error;
mod log;
mod record;
mod sqlite;
mod store;

pub use atomically::atomically;
pub use error::Error;
pub use log::{Change, LogEntry, LogSpan};
pub use record::*;
pub use sqlite::{
    Backup, Migrated, Present, Progress, Reader, Sqlite, back_up, database_bytes, draft, in_use, restore,
};
pub use store::{
    Read, ReadIdentity, ReadLife, ReadPermission, ReadProject, ReadTransfer, ReadUsage, Store, StoreIdentity,
    StoreLife, StorePermission, StoreProject, StoreTransfer, StoreUsage, Which,
};
