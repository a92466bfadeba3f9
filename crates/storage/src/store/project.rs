//! The part of a store's contract that is about projects and worktrees (8).

use delivery::Timestamp;
use delivery::model::{BindingId, ChannelId};

use crate::Error;
use crate::record::*;

/// What can be asked about projects. Lists come oldest first.
pub trait ReadProject: Send {
    /// The project of a channel, if it has one.
    fn project(&self, channel: &ChannelId) -> Result<Option<Project>, Error>;
    /// A worktree by id, whether it is still there or not.
    fn worktree(&self, id: &WorktreeId) -> Result<Worktree, Error>;
    /// The worktree that a binding uses.
    fn worktree_of(&self, binding: &BindingId) -> Result<Option<Worktree>, Error>;
    /// All worktrees that are there, those of removed bindings too.
    fn worktrees(&self) -> Result<Vec<Worktree>, Error>;
}

/// What can be changed about projects. Each call is atomic by itself.
pub trait StoreProject: ReadProject {
    /// Gives a channel a project. Another folder than before is not trusted; the same one stays as trusted as it is.
    fn set_project(&mut self, channel: &ChannelId, new: &NewProject, at: Timestamp)
    -> Result<Project, Error>;
    /// Takes a channel's project away; without one it changes nothing.
    fn remove_project(&mut self, channel: &ChannelId) -> Result<(), Error>;
    /// Trusts a channel's project with these files in the form that they have; those trusted before stay so.
    fn trust_project(
        &mut self,
        channel: &ChannelId,
        files: &[AgentFile],
        at: Timestamp,
    ) -> Result<Project, Error>;
    /// Trusts single files of a channel's project, whether it is trusted itself or not.
    fn trust_files(&mut self, channel: &ChannelId, files: &[AgentFile]) -> Result<(), Error>;
    /// Takes trust back, from all files.
    fn distrust_project(&mut self, channel: &ChannelId) -> Result<Project, Error>;
    /// Remembers what was asked about files that are not trusted.
    fn asked_trust(&mut self, channel: &ChannelId, asked: &str) -> Result<(), Error>;
    /// Plans a worktree of a project for a binding that uses none.
    fn add_worktree(&mut self, binding: &BindingId, project: &str, at: Timestamp) -> Result<Worktree, Error>;
    /// A worktree was made, or found where it is now.
    fn worktree_made(&mut self, id: &WorktreeId, made: &MadeWorktree) -> Result<(), Error>;
    /// The project's set-up line has worked in a worktree.
    fn worktree_set_up(&mut self, id: &WorktreeId, at: Timestamp) -> Result<(), Error>;
    /// Its binding uses a worktree no more. One that was never made is gone with that.
    fn retire_worktree(&mut self, id: &WorktreeId, at: Timestamp) -> Result<(), Error>;
    /// Nothing of a worktree is on the disk any more.
    fn remove_worktree(&mut self, id: &WorktreeId, at: Timestamp) -> Result<(), Error>;
}
