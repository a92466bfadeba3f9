//! Projects of channels and worktrees of bindings (8), as the engine keeps them. What is done on the disk is the shell's.

use std::collections::BTreeSet;
use std::time::Duration;

use delivery::clean;
use delivery::model::{ChannelId, Key};
use serde_json::json;
use storage::{Access, AgentFile, Binding, MadeWorktree, NewProject, Project, Store, Worktree, WorktreeId};

use super::request::key_of;
use super::run::say;
use super::{Command, Engine, Now, Reply, host};
use crate::error::ApiError;
use crate::preset::GUIDE;

/// Files that a question or a step names; `project show` has them all.
const NAMED_MAX: usize = 20;
/// Why sessions end whose channel has another project.
const OTHER_PROJECT: &str = "its channel has another project";
/// Why sessions end whose project is trusted otherwise.
const OTHER_TRUST: &str = "what it may load of its project has changed";
/// Bytes of a set-up line at most.
const SETUP_BYTES_MAX: usize = 4_096;
/// Patterns of files to copy at most, and bytes of each.
const COPIES_MAX: usize = 50;
const COPY_BYTES_MAX: usize = 256;

/// Something about projects and worktrees.
#[derive(Clone, Debug)]
pub enum ProjectAct {
    /// Give a channel a project, whose folder was looked at.
    Set {
        /// Channel name.
        channel: String,
        /// What.
        new: NewProject,
    },
    /// Take a channel's project away.
    Unset {
        /// Channel name.
        channel: String,
    },
    /// Trust a channel's project with these files.
    Trust {
        /// Channel name.
        channel: String,
        /// The files, in the form that somebody looked at.
        files: Vec<AgentFile>,
    },
    /// Take trust back.
    Distrust {
        /// Channel name.
        channel: String,
    },
    /// Let a worktree be used no more, so that it can be removed from the disk.
    Retire {
        /// Which.
        id: WorktreeId,
    },
    /// A worktree is not on the disk any more.
    Removed {
        /// Which.
        id: WorktreeId,
    },
    /// A worktree is on the disk.
    Made {
        /// Which.
        id: WorktreeId,
        /// What it is.
        made: MadeWorktree,
    },
    /// Files that an owner named were copied into a worktree: agents get them in this form.
    Copied {
        /// Channel.
        channel: ChannelId,
        /// The files.
        files: Vec<AgentFile>,
    },
    /// A workplace is ready for its agent.
    Prepared(Box<Prepared>),
}

/// Where an agent is to work: what has to be got ready before its process starts.
#[derive(Clone, Debug)]
pub struct Workplace {
    /// Whose.
    pub key: Key,
    /// The project.
    pub project: Project,
    /// The worktree, made or planned.
    pub worktree: Worktree,
    /// How its branch is to be called, if it is made now.
    pub branch: String,
}

/// How a worktree came to be where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was there.
    There,
    /// It is new.
    Made,
    /// It was gone from the disk, and was made again.
    MadeAgain,
}

/// A workplace that is ready.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Whose.
    pub key: Key,
    /// Id of the worktree.
    pub id: WorktreeId,
    /// The worktree.
    pub made: MadeWorktree,
    /// How it came to be there.
    pub origin: Origin,
    /// Ignored files that were copied into it.
    pub copied: Vec<String>,
    /// Files that were withheld, since nobody trusts them in the form that they have.
    pub withheld: Vec<AgentFile>,
    /// How its set-up went, if it had to be set up.
    pub set_up: Option<SetUp>,
}

/// How the set-up of a worktree went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetUp {
    /// The line.
    pub line: String,
    /// How it ended.
    pub end: SetUpEnd,
    /// The end of its output.
    pub output: String,
}

/// How a set-up line ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetUpEnd {
    /// By itself, with this status.
    Exited(i32),
    /// It took longer than this, and was ended.
    TooLong(Duration),
    /// It was not started.
    NotStarted(String),
}

impl SetUpEnd {
    /// Why it did not work; `None` if it did.
    fn failure(&self) -> Option<String> {
        match self {
            Self::Exited(0) => None,
            Self::Exited(status) => Some(format!("it ended with status {status}")),
            Self::TooLong(limit) => Some(format!("it took longer than {} s and was ended", limit.as_secs())),
            Self::NotStarted(why) => Some(format!("it was not started: {why}")),
        }
    }
}

impl ProjectAct {
    /// Whether it begins something; what was done already is always taken in.
    pub(super) fn makes_work(&self) -> bool {
        match self {
            Self::Set { .. }
            | Self::Unset { .. }
            | Self::Trust { .. }
            | Self::Distrust { .. }
            | Self::Retire { .. } => true,
            Self::Removed { .. } | Self::Made { .. } | Self::Copied { .. } | Self::Prepared(_) => false,
        }
    }
}

impl Engine {
    pub(super) fn project(
        &mut self,
        store: &mut dyn Store,
        act: ProjectAct,
        now: Now,
    ) -> Result<Reply, ApiError> {
        match act {
            ProjectAct::Set { channel, new } => self.set_project(store, &channel, &new, now)?,
            ProjectAct::Unset { channel } => {
                let channel = store.channel(&channel)?;
                store.remove_project(&channel.id)?;
                self.all_begin_anew(store, &channel.name, OTHER_PROJECT, now)?;
            }
            ProjectAct::Trust { channel, files } => {
                let id = store.channel(&channel)?.id;
                store.trust_project(&id, &files, now.wall)?;
                self.all_begin_anew(store, &channel, OTHER_TRUST, now)?;
            }
            ProjectAct::Distrust { channel } => {
                let id = store.channel(&channel)?.id;
                store.distrust_project(&id)?;
                self.all_begin_anew(store, &channel, OTHER_TRUST, now)?;
            }
            ProjectAct::Retire { id } => {
                let worktree = store.worktree(&id)?;
                let binding = store.binding(&worktree.binding)?;
                if self.live.contains_key(&key_of(&binding)) {
                    return Err(ApiError::conflict(format!(
                        "@{} has a process that may work in it: try again when that has ended, or remove the agent first",
                        binding.spec.handle
                    )));
                }
                store.retire_worktree(&id, now.wall)?;
                if worktree.retired_at.is_none() {
                    self.begin_anew(store, key_of(&binding), "its worktree was removed", now)?;
                }
            }
            ProjectAct::Removed { id } => store.remove_worktree(&id, now.wall)?,
            ProjectAct::Made { id, made } => store.worktree_made(&id, &made)?,
            ProjectAct::Copied { channel, files } => store.trust_files(&channel, &files)?,
            ProjectAct::Prepared(prepared) => self.prepared(store, &prepared, now)?,
        }
        Ok(Reply::Done)
    }

    fn set_project(
        &mut self,
        store: &mut dyn Store,
        channel: &str,
        new: &NewProject,
        now: Now,
    ) -> Result<(), ApiError> {
        check_project(new)?;
        let channel = store.channel(channel)?;
        let before = store.project(&channel.id)?;
        store.set_project(&channel.id, new, now.wall)?;
        if before.is_none_or(|before| before.spec.folder != new.folder) {
            self.all_begin_anew(store, &channel.name, OTHER_PROJECT, now)?;
        }
        Ok(())
    }

    /// Sessions that stand in another folder than the next, or have read other files, do not go on.
    fn all_begin_anew(
        &mut self,
        store: &mut dyn Store,
        channel: &str,
        why: &str,
        now: Now,
    ) -> Result<(), ApiError> {
        let id = store.channel(channel)?.id;
        for binding in store.bindings(Some(&id))?.iter().filter(|binding| can_work_on_projects(binding)) {
            self.begin_anew(store, key_of(binding), why, now)?;
        }
        Ok(())
    }

    /// Where a binding's next process is to work, if its channel has a project: the worktree is planned by that.
    pub(super) fn workplace(
        store: &mut dyn Store,
        binding: &Binding,
        now: Now,
    ) -> Result<Option<Workplace>, ApiError> {
        let project = store.project(&binding.spec.channel)?.filter(|_| can_work_on_projects(binding));
        let used = store.worktree_of(&binding.id)?;
        let fits = |worktree: &Worktree| {
            project.as_ref().is_some_and(|project| project.spec.folder == worktree.project)
        };
        if let Some(other) = used.as_ref().filter(|worktree| !fits(worktree)) {
            store.retire_worktree(&other.id, now.wall)?;
        }
        let used = used.filter(fits);
        let Some(project) = project else { return Ok(None) };
        let worktree = match used {
            Some(worktree) => worktree,
            None => store.add_worktree(&binding.id, &project.spec.folder, now.wall)?,
        };
        let channel = store.channel_by_id(&binding.spec.channel)?;
        // Who can read the repository sees its branches: the name of a private channel is not theirs to know.
        let place = match channel.access {
            Access::Public => channel.name,
            Access::Private => channel.id.0,
        };
        let branch = format!("highwater/{place}/{}", binding.spec.handle);
        Ok(Some(Workplace { key: key_of(binding), project, worktree, branch }))
    }

    /// Where the worktree of a binding is, as its agent is told (3.6).
    pub(super) fn worktree_path(store: &dyn Store, binding: &Binding) -> Result<Option<String>, ApiError> {
        let used = store.worktree_of(&binding.id)?;
        Ok(used.and_then(|worktree| worktree.made).map(|made| made.path))
    }

    /// A binding with the folder that its agent works in: its worktree, if it has one.
    pub(super) fn where_it_works(store: &dyn Store, mut binding: Binding) -> Result<Binding, ApiError> {
        if let Some(path) = Self::worktree_path(store, &binding)? {
            binding.spec.cwd = Some(path);
        }
        Ok(binding)
    }

    /// A binding is gone: its worktree goes too, if nothing is lost with it and nothing works in it.
    pub(super) fn let_worktree_go(
        &mut self,
        store: &mut dyn Store,
        binding: &Binding,
        now: Now,
    ) -> Result<(), ApiError> {
        for worktree in store.worktrees()?.into_iter().filter(|worktree| worktree.binding == binding.id) {
            store.retire_worktree(&worktree.id, now.wall)?;
            if worktree.made.is_some() && !self.live.contains_key(&key_of(binding)) {
                self.touched = true;
                self.out.push_back(Command::Tidy(Box::new(worktree)));
            }
        }
        Ok(())
    }

    /// Tells with the run what its agent works in, and asks about what was withheld, once.
    fn prepared(&mut self, store: &mut dyn Store, prepared: &Prepared, now: Now) -> Result<(), ApiError> {
        let Prepared { key, id, withheld, set_up, .. } = prepared;
        let worked = set_up.as_ref().is_some_and(|set_up| set_up.end.failure().is_none());
        if worked {
            store.worktree_set_up(id, now.wall)?;
        }
        let Some(run) = self.queue.current(key).cloned() else { return Ok(()) };
        let run = store.run(&run)?;
        for text in steps(prepared) {
            store.add_run_event(&run.id, "notice", &json!({ "text": text }).to_string(), now.wall)?;
        }
        let handle = store.binding(&key.binding)?.spec.handle;
        if let Some(why) = set_up.as_ref().and_then(|set_up| set_up.end.failure()) {
            let text = format!(
                "the project's set-up line failed for @{handle}: {why}; its output is told by: highwater run show {}. It is \
                 tried again before the agent's next process",
                run.id
            );
            say(store, &run, host(), text, now)?;
        }
        if is_news(store, key, withheld)? {
            let channel = store.channel_by_id(&key.channel)?.name;
            say(store, &run, host(), question(&channel, &handle, withheld), now)?;
        }
        Ok(())
    }
}

/// What is told with the run of how its workplace was got ready.
fn steps(prepared: &Prepared) -> Vec<String> {
    let Prepared { made, origin, copied, withheld, set_up, .. } = prepared;
    let what = match origin {
        Origin::There => None,
        Origin::Made => Some("a new worktree"),
        Origin::MadeAgain => Some("a worktree that was gone and was made again"),
    };
    let mut steps = Vec::new();
    steps.extend(what.map(|what| format!("it works in {what}: {}, on branch {}", made.path, made.branch)));
    let mut list = |what: &str, paths: Vec<&str>| {
        if !paths.is_empty() {
            steps.push(format!("{what}: {}", shown(&paths).join(", ")));
        }
    };
    list("copied into it", copied.iter().map(String::as_str).collect());
    list("withheld, since nobody trusts them", paths_of(withheld));
    steps.extend(set_up.as_ref().map(|SetUp { line, end, output }| {
        let how = end.failure().unwrap_or_else(|| "it worked".to_owned());
        let output = if output.is_empty() { String::new() } else { format!("\n{output}") };
        format!("set-up `{line}`: {how}{output}")
    }));
    steps
}

/// Whether some of these files have not been asked about in the form that they have; from now on they have.
fn is_news(store: &mut dyn Store, key: &Key, withheld: &[AgentFile]) -> Result<bool, ApiError> {
    let Some(project) = store.project(&key.channel)? else { return Ok(false) };
    let line = |file: &AgentFile| format!("{} {}", file.hash, file.path.escape_default());
    let mut asked: BTreeSet<String> = project.asked.unwrap_or_default().lines().map(str::to_owned).collect();
    let new = withheld.iter().filter(|file| asked.insert(line(file))).count();
    if new > 0 {
        store.asked_trust(&key.channel, &Vec::from_iter(asked).join("\n"))?;
    }
    Ok(new > 0)
}

/// Whether a binding works in a worktree when its channel has a project: not in a folder that was given to it.
fn can_work_on_projects(binding: &Binding) -> bool {
    binding.spec.cwd.is_none() && binding.spec.preset != GUIDE
}

/// Asks for trust, and says of what.
fn question(channel: &str, handle: &str, withheld: &[AgentFile]) -> String {
    let mut text = format!(
        "@{handle} works without these files of the project, from which agents load settings, commands or instructions, \
         until an owner trusts them:"
    );
    for path in shown(&paths_of(withheld)) {
        text.push_str(&format!("\n- {path}"));
    }
    text.push_str(&format!(
        "\nLook at them with: highwater project show {channel}; trust them with: highwater project trust {channel}"
    ));
    text
}

fn paths_of(files: &[AgentFile]) -> Vec<&str> {
    files.iter().map(|file| file.path.as_str()).collect()
}

/// The first paths, each on one line, as names are shown (4.7), and how many there are beside them.
fn shown(paths: &[&str]) -> Vec<String> {
    let mut shown: Vec<String> =
        paths.iter().take(NAMED_MAX).map(|path| clean::text(path).replace('\n', " ")).collect();
    if paths.len() > NAMED_MAX {
        shown.push(format!("and {} more", paths.len() - NAMED_MAX));
    }
    shown
}

fn check_project(new: &NewProject) -> Result<(), ApiError> {
    if new
        .setup
        .as_ref()
        .is_some_and(|line| line.trim().is_empty() || line.len() > SETUP_BYTES_MAX || line.contains('\0'))
    {
        return Err(ApiError::invalid(format!(
            "a set-up line has 1 to {SETUP_BYTES_MAX} bytes and no NUL characters"
        )));
    }
    if new.copies.len() > COPIES_MAX {
        return Err(ApiError::invalid(format!(
            "a project has {COPIES_MAX} patterns of files to copy at most"
        )));
    }
    for pattern in &new.copies {
        let leads_out = pattern.starts_with('/') || pattern.split('/').any(|part| part == "..");
        if pattern.is_empty() || pattern.len() > COPY_BYTES_MAX || leads_out || pattern.contains('\0') {
            return Err(ApiError::invalid(format!(
                "{pattern:?} is no pattern of files within the project: it has 1 to {COPY_BYTES_MAX} bytes, does not \
                 begin with / and has no .."
            )));
        }
    }
    Ok(())
}
