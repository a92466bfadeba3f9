//! What differs between operating systems, behind one interface.

use std::io;
use std::path::Path;

use nix::sys::signal::SigSet;
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
#[path = "platform/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "platform/other.rs"]
mod system;

pub use system::shield;
pub(crate) use system::*;

/// Whether this process, and so each agent that it starts, is root's: nothing keeps such agents apart from each other.
pub fn runs_as_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// What names a process: its number is given to others after its end, but never with the same start. Good for one
/// start of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Name {
    /// Its number.
    pub(crate) pid: u32,
    /// When it was started, in ticks since the system's start.
    pub(crate) started: u64,
}

/// Memory of a tree, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    /// All of it; what several processes share is divided among them.
    pub(crate) all: u64,
    /// What belongs to no file, and so counts for the tree alone.
    pub(crate) own: u64,
}

/// What the system refused when an agent was to be set apart, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The folder could not be hidden.
    Exposed(String),
    /// It could not be given processes of its own.
    Together(String),
}

/// A signal that asks or one that forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Force {
    /// SIGTERM.
    Ask,
    /// SIGKILL.
    Kill,
}

impl Force {
    fn signal(self) -> Signal {
        match self {
            Self::Ask => Signal::TERM,
            Self::Kill => Signal::KILL,
        }
    }
}

/// Keeps signals of a terminal or a service manager from ending the holder before its tree. Programs inherit that.
pub(crate) fn block_signals() -> io::Result<()> {
    Ok(SigSet::all().thread_block()?)
}

/// Between fork and exec: undoes [`block_signals`].
pub(crate) fn unblock_signals() -> io::Result<()> {
    Ok(SigSet::empty().thread_set_mask()?)
}

/// Lets a process that was stopped go on.
pub(crate) fn go_on(pid: u32) {
    signal(pid, Signal::CONT);
}

/// In the server: kills what is left of a holder's tree, without the holder itself.
pub(crate) fn kill_tree(holder: u32) {
    signal_tree(holder, None, Force::Kill);
}

/// Kills every process of a group.
pub(crate) fn kill_group(leader: u32) {
    let group = i32::try_from(leader).ok().and_then(Pid::from_raw);
    if let Some(group) = group
        && let Err(error) = rustix::process::kill_process_group(group, Signal::KILL)
    {
        tracing::debug!(%error, ?group, "a process group could not be killed");
    }
}

fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid
        && let Err(error) = rustix::process::kill_process(pid, signal)
    {
        tracing::debug!(%error, ?pid, "a process could not be signalled");
    }
}

/// An error of the system with what was tried and where.
fn failed(what: &str, path: &Path) -> impl Fn(io::Error) -> String {
    let path = path.display().to_string();
    move |error| format!("{what} {path}: {error}")
}
