//! How the server stands, for whoever watches it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whether something does its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Works {
    /// It does.
    Ok,
    /// It does not, or not in time.
    Failing,
}

impl From<bool> for Works {
    fn from(works: bool) -> Self {
        if works { Self::Ok } else { Self::Failing }
    }
}

/// The answer of `/healthz`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Healthz {
    /// All of it.
    pub status: Works,
    /// The thread of the engine answers.
    pub engine: Works,
    /// The database can be read.
    pub read: Works,
    /// The database can be written.
    pub write: Works,
}

impl Healthz {
    /// Out of its parts.
    pub fn new(engine: bool, read: bool, write: bool) -> Self {
        let status = (engine && read && write).into();
        Self { status, engine: engine.into(), read: read.into(), write: write.into() }
    }
}
