//! Linux: subreaper, parent-death signal, `/proc`, namespaces.

use std::io;

use rustix::process::{Pid, Signal};

use super::Force;

#[path = "linux/group.rs"]
mod group;
#[path = "linux/hide.rs"]
mod hide;
#[path = "linux/mounts.rs"]
mod mounts;
#[path = "linux/namespace.rs"]
mod namespace;
#[path = "linux/process.rs"]
mod process;

pub(crate) use group::Group;
pub(crate) use namespace::{begin, handle, set_apart};
pub(crate) use process::{boot, kill_marked, kill_named, name_of, signal_tree, sweep_group, weigh};

/// Makes this process the parent of every descendant whose own parent ends.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// In the first process of a process namespace: signals every other process of it, at one instant.
pub(crate) fn signal_namespace(force: Force) {
    let everyone = nix::unistd::Pid::from_raw(-1);
    let signal = match force {
        Force::Ask => nix::sys::signal::Signal::SIGTERM,
        Force::Kill => nix::sys::signal::Signal::SIGKILL,
    };
    // It fails when there is nobody.
    let _ = nix::sys::signal::kill(everyone, signal);
}

/// Keeps other processes of the same user out of this one: out of its memory, and out of the way through
/// `/proc/PID/root` to a folder that is hidden from them.
pub fn shield() -> io::Result<()> {
    Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?)
}

/// Between fork and exec: has the kernel kill this process when the thread that made it ends.
pub(crate) fn die_with(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died just before.
    if rustix::process::getppid() != Some(parent) {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::SRCH.raw_os_error()));
    }
    Ok(())
}
