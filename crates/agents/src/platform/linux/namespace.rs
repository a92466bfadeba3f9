//! Sets an agent apart: namespaces in which it sees neither the data folder nor others' processes, and no way out of
//! them (6.8, 6.11).

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use nix::sched::CloneFlags;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::MountPropagationFlags;
use rustix::process::{Pid, PidfdFlags, Signal};
use rustix::thread::CapabilitySet;

use super::super::{Refused, failed};
use super::hide::{SAFE, cover, hide};
use super::mounts::mounts;
use crate::message::{Hide, Sight};

/// Sets this process and those that it starts apart. With [`Sight::Own`] the next process that it starts is the first
/// of a process namespace, and has to call [`begin`]. Refused, this process may be half-way and has to end.
pub(crate) fn set_apart(folder: Option<&Hide>, sight: Sight) -> Result<(), Refused> {
    if folder.is_none() && sight == Sight::All {
        return Ok(());
    }
    let refused = |reason| match folder {
        Some(_) => Refused::Exposed(reason),
        None => Refused::Together(reason),
    };
    enter_namespace().map_err(refused)?;
    if let Some(folder) = folder {
        hide(folder).map_err(Refused::Exposed)?;
    }
    if sight == Sight::Own {
        nix::sched::unshare(CloneFlags::CLONE_NEWPID)
            .map_err(|error| Refused::Together(format!("a process namespace is refused: {error}")))?;
    }
    give_up_rights().map_err(|error| refused(format!("the rights to undo it could not be given up: {error}")))
}

/// A handle of a process, by which its end is seen, also from where it has no number.
pub(crate) fn handle(pid: Pid) -> io::Result<OwnedFd> {
    Ok(rustix::process::pidfd_open(pid, PidfdFlags::empty())?)
}

/// In the first process of a process namespace: dies with the holder, which takes the whole namespace along, and shows
/// its processes alone in `/proc`, and nowhere any others. Numbers of processes go on from `after`, so that agents that write theirs into a
/// folder that others use too are not all the same.
pub(crate) fn begin(holder: &OwnedFd, after: u32) -> Result<(), String> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("its end could not be tied to the holder's: {error}"))?;
    // The holder may have died just before.
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    if poll(&mut [PollFd::new(holder, PollFlags::IN)], Some(&at_once)) != Ok(0) {
        return Err("the holder has ended".to_owned());
    }
    let proc = Path::new("/proc");
    let others = mounts().map_err(failed("read", Path::new("/proc/self/mountinfo")))?;
    for other in others.iter().filter(|mount| mount.kind == "proc" && !mount.at.starts_with(proc)) {
        // One that a later mount covers need not be found.
        if other.at.is_dir() {
            cover(&other.at)?;
        }
    }
    rustix::mount::mount("proc", proc, "proc", SAFE, None)
        .map_err(io::Error::from)
        .map_err(failed("mount", proc))?;
    // A convenience that a system may refuse.
    let _ = fs::write("/proc/sys/kernel/ns_last_pid", after.to_string());
    Ok(())
}

/// What lets a process take mounts away, look at others' files through `/proc/PID/root`, open files by their number
/// instead of their path, or read and change the kernel's memory.
const UNDOING: CapabilitySet = CapabilitySet::SYS_ADMIN
    .union(CapabilitySet::SYS_PTRACE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::SYS_RAWIO)
    .union(CapabilitySet::SYS_MODULE)
    .union(CapabilitySet::BPF)
    .union(CapabilitySet::PERFMON);

/// Has the programs that this one turns into or starts do without [`UNDOING`], also as root; this process keeps it.
/// A user namespace of their own gives them no way back: mounts that it inherits are locked in it.
fn give_up_rights() -> io::Result<()> {
    for capability in UNDOING.iter() {
        if rustix::thread::capability_is_in_bounding_set(capability)? {
            rustix::thread::remove_capability_from_bounding_set(capability)?;
        }
    }
    let mut sets = rustix::thread::capabilities(None)?;
    sets.inheritable -= UNDOING;
    Ok(rustix::thread::set_capabilities(None, sets)?)
}

/// A mount namespace of its own, in a user namespace where that takes no rights, from which nothing gets out.
fn enter_namespace() -> Result<(), String> {
    let refused = |error: nix::Error| format!("a mount namespace is refused: {error}");
    match nix::sched::unshare(CloneFlags::CLONE_NEWNS) {
        Ok(()) => return keep_mounts(),
        Err(nix::Error::EPERM) => {}
        Err(error) => return Err(refused(error)),
    }
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    nix::sched::unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS).map_err(refused)?;
    for (file, text) in [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ] {
        fs::write(file, text).map_err(failed("write", Path::new(file)))?;
    }
    keep_mounts()
}

/// Nothing that is mounted from now on is seen outside.
fn keep_mounts() -> Result<(), String> {
    let root = Path::new("/");
    rustix::mount::mount_change(root, MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(io::Error::from)
        .map_err(failed("make private", root))
}
