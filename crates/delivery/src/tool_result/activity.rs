//! What `project_activity` tells (7.3): where the project stands, what is new in it, and what its channel's agents did.

use super::UNTRUSTED;
use crate::clean;
use crate::time::Timestamp;

/// Characters of a subject, a path or a branch that are told.
const TEXT_CHARS_MAX: usize = 200;

/// How a channel's project stands. All names, subjects, paths and branches are raw; rendering cleans them (4.7).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// The project's top folder.
    pub folder: String,
    /// The branch that its people are on; `None`: on none.
    pub branch: Option<String>,
    /// Its newest commits, newest first.
    pub commits: Vec<Commit>,
    /// Files that its people have changed and not committed.
    pub changed: Changes,
    /// The worktrees of the channel's agents; that of the agent that asks comes first, if it has one.
    pub worktrees: Vec<AgentWork>,
    /// The channel's newest runs, newest first.
    pub runs: Vec<PastRun>,
    /// Why the project itself cannot be told.
    pub fault: Option<String>,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Short id.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub author: String,
    /// What.
    pub subject: String,
}

/// Files that are changed and not committed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The first of them, each with git's two letters before it.
    pub files: Vec<String>,
    /// How many there are.
    pub count: u64,
}

/// The work of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentWork {
    /// Whose.
    pub whose: Whose,
    /// Its branch.
    pub branch: String,
    /// Commits that are on no other branch, newest first: the first of them.
    pub commits: Vec<Commit>,
    /// How many there are.
    pub ahead: u64,
    /// What is not committed.
    pub changed: Changes,
}

/// Whose a worktree is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The agent's that asks.
    Asking,
    /// That of the agent with this handle.
    Other(String),
}

/// A run of the channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastRun {
    /// Id.
    pub id: String,
    /// When it was made.
    pub at: Timestamp,
    /// The agent's handle.
    pub handle: String,
    /// How it stands.
    pub status: String,
    /// The message that it handles.
    pub message: String,
}

/// The activity as the agent reads it; `None` for a channel without a project.
pub fn activity(activity: Option<&Activity>) -> String {
    let Some(activity) = activity else { return "This channel has no project.".to_owned() };
    let mut out = format!("The project of this channel, times in UTC {UNTRUSTED}");
    let branch = match &activity.branch {
        Some(branch) => format!("branch {}", line(branch)),
        None => "no branch".to_owned(),
    };
    out.push_str(&format!("\nfolder {}, on {branch}", line(&activity.folder)));
    if let Some(fault) = &activity.fault {
        out.push_str(&format!("\nits state cannot be told: {}", line(fault)));
    }
    list(&mut out, "newest commits", activity.commits.iter().map(commit));
    changes(&mut out, "its people have not committed", &activity.changed);
    for work in &activity.worktrees {
        let AgentWork { whose, branch, commits, ahead, changed } = work;
        let whose = match whose {
            Whose::Asking => "your".to_owned(),
            Whose::Other(handle) => format!("@{}'s", clean::name(handle)),
        };
        out.push_str(&format!("\n{whose} branch {}: {ahead} commits of its own", line(branch)));
        list(&mut out, &format!("newest commits of {whose} branch"), commits.iter().map(commit));
        changes(&mut out, &format!("not committed in {whose} worktree"), changed);
    }
    list(&mut out, "newest runs of this channel", activity.runs.iter().map(run));
    out
}

fn list(out: &mut String, head: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if !lines.is_empty() {
        out.push_str(&format!("\n{head}:"));
        lines.iter().for_each(|line| out.push_str(&format!("\n- {line}")));
    }
}

fn changes(out: &mut String, head: &str, changes: &Changes) {
    list(out, head, changes.files.iter().map(|file| line(file)));
    let more = changes.count.saturating_sub(changes.files.len() as u64);
    if more > 0 {
        out.push_str(&format!("\n- (and {more} more)"));
    }
}

fn commit(commit: &Commit) -> String {
    let Commit { id, at, author, subject } = commit;
    format!("{} {} {}: {}", line(id), minute(*at), clean::name(author), line(subject))
}

fn run(run: &PastRun) -> String {
    let PastRun { id, at, handle, status, message } = run;
    format!("{id} {} @{} {status}, for {message}", minute(*at), clean::name(handle))
}

/// Up to the minute: `2026-11-30T10:04`.
fn minute(at: Timestamp) -> String {
    let whole = at.to_string();
    whole.get(..16).unwrap_or(&whole).to_owned()
}

/// A text on one line, cleaned and cut.
fn line(text: &str) -> String {
    let line = clean::text(text).replace('\n', " ");
    match line.char_indices().nth(TEXT_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests;
