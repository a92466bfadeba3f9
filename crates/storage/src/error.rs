//! Why a storage call failed, by what the caller does about it.

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something that was named does not exist.
    #[error("no such {what}: {name}")]
    NotFound {
        /// `channel`, `message`, `run`, …
        what: &'static str,
        /// What was asked for.
        name: String,
    },
    /// A name that is taken.
    #[error("{what} {name} exists already")]
    Exists {
        /// `channel`, `handle`, …
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The request makes no sense in the present state (edit of a deleted message, say).
    #[error("{0}")]
    Conflict(String),
    /// No space is left; nothing was written.
    #[error("the disk that holds the data folder is full; nothing was saved. Free some space and try again")]
    DiskFull,
    /// The data folder cannot be used: locked by another server, a newer schema, damaged.
    #[error("{0}")]
    Unusable(String),
    /// The database failed.
    #[error("database: {0}")]
    Database(#[from] rusqlite::Error),
}
