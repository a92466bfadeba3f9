//! Why a storage call failed, by what the caller does about it.

use std::sync::Arc;

use rusqlite::ErrorCode;

/// An error of the store. A copy of it can be given to each of several callers whose commit failed together.
#[derive(Clone, Debug, thiserror::Error)]
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
    Database(#[source] Arc<rusqlite::Error>),
}

impl Error {
    /// Whether the request was refused for what it says, before anything was written; anything else is a failure
    /// of the store, after which part of the call's work may stand in the open transaction.
    pub(crate) fn refusal(&self) -> bool {
        match self {
            Self::NotFound { .. } | Self::Exists { .. } | Self::Conflict(_) => true,
            Self::DiskFull | Self::Unusable(_) | Self::Database(_) => false,
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        let code = error.sqlite_error_code();
        if code == Some(ErrorCode::DiskFull) {
            Self::DiskFull
        } else if matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)) {
            let what = format!("the database is damaged ({error}): stop the server and restore a backup");
            Self::Unusable(what)
        } else {
            Self::Database(Arc::new(error))
        }
    }
}
