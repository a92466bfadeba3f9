//! A channel's project, and the worktrees of its bindings (8).

use delivery::Timestamp;
use delivery::model::{BindingId, ChannelId};
use serde::{Deserialize, Serialize};

use super::identity::ids;

ids! {
    /// A worktree: `w1`.
    WorktreeId
}

/// A project to give to a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProject {
    /// Top folder of the repository, absolute.
    pub folder: String,
    /// A line for the shell that is run once in each new worktree.
    pub setup: Option<String>,
    /// Patterns of ignored files that are copied into each new worktree, relative to the folder.
    pub copies: Vec<String>,
}

/// The project of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Channel.
    pub channel: ChannelId,
    /// What was given.
    pub spec: NewProject,
    /// When it was given.
    pub set_at: Timestamp,
    /// Since when an owner trusts it (8.2).
    pub trusted_at: Option<Timestamp>,
    /// The files with settings for agents that are trusted, by path and hash.
    pub trusted: Vec<AgentFile>,
    /// What was asked last about files that are not trusted: the same is not asked twice.
    pub asked: Option<String>,
}

/// A file of a project that agents load settings, instructions or environment from, in one form of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AgentFile {
    /// Path within the project, with `/`.
    pub path: String,
    /// SHA-256 of what it holds, in hexadecimal digits.
    pub hash: String,
}

/// A worktree of a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// `w1`.
    pub id: WorktreeId,
    /// Whose.
    pub binding: BindingId,
    /// Top folder of the project that it belongs to.
    pub project: String,
    /// What it is, once it was made.
    pub made: Option<MadeWorktree>,
    /// When it was planned.
    pub created_at: Timestamp,
    /// When the project's set-up line has worked in it.
    pub set_up_at: Option<Timestamp>,
    /// Since when its binding does not use it any more.
    pub retired_at: Option<Timestamp>,
}

/// A worktree that is on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeWorktree {
    /// Where it is, absolute.
    pub path: String,
    /// Its branch.
    pub branch: String,
    /// Its name within the repository: that of its folder among the repository's worktrees.
    pub name: String,
}
