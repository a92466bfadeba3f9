//! Wire types of what moves channels and whole servers.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What an import brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Imported {
    /// Names of channels, in the order of the file.
    pub channels: Vec<String>,
    /// Names of people who are new, and cannot sign in until they are given a link.
    pub new_people: Vec<String>,
    /// Those of them who were owners elsewhere, and are members here.
    pub former_owners: Vec<String>,
    /// How many messages and notices.
    pub messages: u64,
    /// How many runs.
    pub runs: u64,
    /// How many of those were cancelled, since they had not ended.
    pub cancelled_runs: u64,
}
