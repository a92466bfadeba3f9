//! What `project_activity` finds on the disk (7.3): branches, commits, changed files; never of other channels.

use std::path::Path;

use agents::program::End;
use delivery::Timestamp;
use delivery::tool_result::{Activity, AgentWork, Changes, Commit};

use super::git::{Fault, Git};
use super::{Projects, worktree};
use crate::engine::{ActivityFacts, WorktreeOf};

/// Commits of the project that are told: what an agent needs to know where it is.
const COMMITS_MAX: usize = 10;
/// Commits of each agent's own that are told.
const OWN_COMMITS_MAX: usize = 5;
/// Changed files that are told, each time.
const FILES_MAX: usize = 20;
/// Worktrees that are told.
const WORKTREES_MAX: usize = 10;
/// Bytes of a list that are read: what is beyond is told as more than there is room for.
const LIST_BYTES_MAX: usize = 256 * 1024;

/// What is asked of each commit, each part ended by NUL.
const FORMAT: &str = "--format=%h%x00%ct%x00%an%x00%s";

impl Projects {
    /// How the project of a channel stands, with what the engine knows of its agents.
    pub(crate) async fn activity(&self, facts: ActivityFacts) -> Activity {
        let ActivityFacts { folder, mut worktrees, runs } = facts;
        worktrees.truncate(WORKTREES_MAX);
        let mut activity = Activity { folder, runs, ..Activity::default() };
        if let Err(Fault(why)) = self.look_around(&mut activity, &worktrees).await {
            activity.fault = Some(why);
        }
        activity
    }

    async fn look_around(&self, activity: &mut Activity, worktrees: &[WorktreeOf]) -> Result<(), Fault> {
        let top = activity.folder.clone();
        let repository = self.repository(Path::new(&top)).await?;
        let git = repository.git().with("GIT_WORK_TREE", &repository.top);
        let git = Git { cwd: repository.top.clone(), ..git };
        activity.branch = branch(&git).await?;
        activity.commits = commits(&git, &["HEAD"], COMMITS_MAX).await?;
        activity.changed = changes(&git).await?;
        for WorktreeOf { whose, worktree } in worktrees {
            // One of a project before is none of this one's.
            let Some(made) = worktree.made.as_ref().filter(|_| worktree.project == top) else { continue };
            if !worktree::is_there(&repository, made) {
                continue;
            }
            let git = repository.git_in(&made.name, Path::new(&made.path));
            let own = format!("--exclude={}", made.branch);
            let ahead = ["HEAD", "--not", &own, "--branches", "--remotes"];
            activity.worktrees.push(AgentWork {
                whose: whose.clone(),
                branch: branch(&git).await?.unwrap_or_else(|| "(none)".to_owned()),
                commits: commits(&git, &ahead, OWN_COMMITS_MAX).await?,
                ahead: worktree::count_ahead(&git, made).await?,
                changed: changes(&git).await?,
            });
        }
        Ok(())
    }
}

async fn branch(git: &Git) -> Result<Option<String>, Fault> {
    let said = git.say(&["symbolic-ref", "--short", "--quiet", "HEAD"], Vec::new()).await?;
    let branch = String::from_utf8_lossy(&said).trim_end().to_owned();
    Ok(Some(branch).filter(|branch| !branch.is_empty()))
}

async fn commits(git: &Git, of: &[&str], commits_max: usize) -> Result<Vec<Commit>, Fault> {
    let number = format!("--max-count={commits_max}");
    let plain = ["log", "-z", "--no-show-signature", "--no-mailmap", "--no-color", FORMAT, &number];
    let said = git.begin(&[&plain[..], of].concat(), LIST_BYTES_MAX).await?;
    if !matches!(said.end, End::Exited(0) | End::TooMuch) {
        return Err(Fault::new("git does not tell the newest commits"));
    }
    let text = String::from_utf8_lossy(&said.out).into_owned();
    let parts: Vec<&str> = text.split('\0').collect();
    let commits = parts.chunks_exact(4).map(|parts| Commit {
        id: parts[0].to_owned(),
        at: Timestamp { ms: parts[1].parse::<i64>().unwrap_or_default().saturating_mul(1_000) },
        author: parts[2].to_owned(),
        subject: parts[3].to_owned(),
    });
    Ok(commits.collect())
}

async fn changes(git: &Git) -> Result<Changes, Fault> {
    let listed = git.begin(&worktree::STATUS, LIST_BYTES_MAX).await?;
    let files = worktree::changed(&listed).ok_or_else(|| Fault::new("git does not tell what is changed"))?;
    let count = files.len() as u64;
    Ok(Changes { files: files.into_iter().take(FILES_MAX).collect(), count })
}
