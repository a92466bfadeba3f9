//! Wire types for projects and worktrees.

use delivery::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::schema;

/// A project to give to a channel.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetProject {
    /// Top folder of a git repository on the server's machine, absolute.
    pub folder: String,
    /// A line for the shell that is run once in each new worktree, if the project is trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Patterns of ignored files that are copied into each new worktree: relative to the folder, with `*`, `?` and `**`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<String>,
}

/// The project of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Project {
    /// Channel name.
    pub channel: String,
    /// Top folder of its repository.
    pub folder: String,
    /// The line that sets a new worktree up.
    #[schema(required = true)]
    pub setup: Option<String>,
    /// Patterns of the files that are copied into a new worktree.
    pub copies: Vec<String>,
    /// When it was given to the channel.
    #[schema(value_type = schema::Timestamp)]
    pub set_at: Timestamp,
    /// Since when an owner trusts it.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub trusted_at: Option<Timestamp>,
    /// The files from which agents load settings, commands, instructions or environment, in every form that there is.
    pub files: Vec<ProjectFile>,
    /// Tells these files in this form from any others.
    pub fingerprint: String,
    /// Why the files cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// A file of a project from which agents load something, in one form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProjectFile {
    /// Path within the project.
    pub path: String,
    /// Hash of what it holds.
    pub hash: String,
    /// The worktree that has it so; null: the project's present commit.
    #[schema(required = true)]
    pub worktree: Option<String>,
    /// Whether agents get it.
    pub trusted: bool,
    /// Whether it can be trusted: a link that leads out of the project, or to a folder, cannot.
    pub can_be_trusted: bool,
}

/// Files to trust, in the form that somebody looked at.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustProject {
    /// The files.
    pub files: Vec<TrustFile>,
}

/// A file to trust.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustFile {
    /// Path within the project.
    pub path: String,
    /// Hash of what it holds.
    pub hash: String,
}

/// The worktree of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Worktree {
    /// Id.
    pub id: String,
    /// Channel name.
    pub channel: String,
    /// Handle of the agent, without `@`.
    pub agent: String,
    /// Top folder of the project's repository.
    pub project: String,
    /// Where it is.
    pub path: String,
    /// Its branch.
    pub branch: String,
    /// Whether its agent uses it: it was not removed and its channel has the same project.
    pub used: bool,
    /// Whether it is on the disk.
    pub there: bool,
    /// Files with changes that are not committed.
    pub changed: u64,
    /// Commits that are on no other branch, here or elsewhere.
    pub ahead: u64,
    /// Bytes on the disk.
    pub bytes: u64,
    /// Why it cannot be told how it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}
