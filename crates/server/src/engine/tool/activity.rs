//! `project_activity` (7.3), as far as the engine knows: worktrees and runs of the channel, and of no other.

use delivery::tool_result::{PastRun, Whose};
use storage::{Store, Worktree};

use super::Caller;
use crate::error::ApiError;
use crate::view;

/// Runs that are told.
const RUNS_MAX: usize = 10;

/// What the engine knows of a channel's project.
#[derive(Clone, Debug)]
pub struct ActivityFacts {
    /// Top folder of the project.
    pub folder: String,
    /// The worktrees of the channel's agents; first that of the agent that asks.
    pub worktrees: Vec<WorktreeOf>,
    /// The channel's newest runs, newest first.
    pub runs: Vec<PastRun>,
}

/// A worktree and whose it is.
#[derive(Clone, Debug)]
pub struct WorktreeOf {
    /// Whose.
    pub whose: Whose,
    /// The worktree.
    pub worktree: Worktree,
}

/// The facts for a caller; `None` if its channel has no project. Another channel may have the same project: its agents,
/// branches and runs are none of this one's business.
pub(super) fn facts(store: &dyn Store, caller: &Caller) -> Result<Option<ActivityFacts>, ApiError> {
    let channel = &caller.key.channel;
    let Some(project) = store.project(channel)? else { return Ok(None) };
    let mut worktrees = Vec::new();
    for binding in store.bindings(Some(channel))? {
        let whose = match binding.id == caller.binding.id {
            true => Whose::Asking,
            false => Whose::Other(binding.spec.handle),
        };
        worktrees.extend(store.worktree_of(&binding.id)?.map(|worktree| WorktreeOf { whose, worktree }));
    }
    worktrees.sort_by_key(|worktree| worktree.whose != Whose::Asking);
    let mut runs = Vec::new();
    for run in store.runs(Some(channel), RUNS_MAX)? {
        runs.push(PastRun {
            handle: store.binding(&run.key.binding)?.spec.handle,
            status: view::status(run.status).to_owned(),
            id: run.id.0,
            at: run.created_at,
            message: run.message.0,
        });
    }
    Ok(Some(ActivityFacts { folder: project.spec.folder, worktrees, runs }))
}
