//! Systems without subreapers and namespaces: the agent's process group stands for its tree.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::process::Pid;

use super::{Force, Name, Refused, Weight};
use crate::message::{Hide, Sight};

/// There is no way to adopt orphans here.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// Nothing is needed: folders cannot be hidden here.
pub fn shield() -> io::Result<()> {
    Ok(())
}

/// There is no way to die with the parent here.
pub(crate) fn die_with(_parent: Pid) -> io::Result<()> {
    Ok(())
}

/// Signals the agent's process group, where the agent is known.
pub(crate) fn signal_tree(_holder: u32, agent: Option<u32>, force: Force) {
    let group = agent.and_then(|agent| i32::try_from(agent).ok()).and_then(Pid::from_raw);
    if let Some(group) = group
        && let Err(error) = rustix::process::kill_process_group(group, force.signal())
    {
        tracing::debug!(%error, ?group, "a process group could not be signalled");
    }
}

/// There is no way to find processes by their environment here.
pub(crate) fn kill_marked(_variable: &str, _is: impl Fn(&[u8]) -> bool) -> usize {
    0
}

/// There is no way to name processes here, so none is recorded.
pub(crate) fn name_of(_pid: u32) -> Option<Name> {
    None
}

/// None: see [`name_of`].
pub(crate) fn boot() -> Option<String> {
    None
}

/// None has a name here.
pub(crate) fn kill_named(_names: &BTreeSet<Name>) -> usize {
    0
}

/// Nothing is measured here.
pub(crate) fn weigh(_holders: &[u32]) -> BTreeMap<u32, Weight> {
    BTreeMap::new()
}

/// There are no control groups here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Group(Infallible);

impl Group {
    /// There are none here.
    pub(crate) fn bound(_max: u64, _process: u32) -> Result<Self, String> {
        Err("this system has no control groups".to_owned())
    }

    /// Of one that cannot be.
    pub(crate) fn folder(&self) -> &Path {
        match self.0 {}
    }

    /// Of one that cannot be.
    pub(crate) fn kills(&self) -> u64 {
        match self.0 {}
    }

    /// Of one that cannot be.
    pub(crate) fn remove(&self) {
        match self.0 {}
    }
}

/// Nothing was left in one.
pub(crate) fn sweep_group(_folder: &Path) -> usize {
    0
}

/// Nothing can be hidden here.
pub(crate) fn set_apart(folder: Option<&Hide>, sight: Sight) -> Result<(), Refused> {
    let reason = || "this system has no namespaces".to_owned();
    match (folder, sight) {
        (Some(_), _) => Err(Refused::Exposed(reason())),
        (None, Sight::Own) => Err(Refused::Together(reason())),
        (None, Sight::All) => Ok(()),
    }
}

/// There are no process namespaces here.
pub(crate) fn handle(_pid: Pid) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

/// There are no process namespaces here.
pub(crate) fn begin(_holder: &OwnedFd, _after: u32) -> Result<(), String> {
    Err("this system has no namespaces".to_owned())
}

/// There are no process namespaces here.
pub(crate) fn signal_namespace(_force: Force) {}
