//! Hides the data folder from an agent: a private mount namespace, and no way to undo it (6.11).

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use nix::sched::CloneFlags;
use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::CapabilitySet;

use super::super::failed;
use crate::message::Hide;

/// Hides a folder from this process and those that it starts: a private mount namespace in which the folder is
/// empty but for its one visible part. The error says what was refused; the process may then be half-way and has
/// to end.
pub(crate) fn hide(hide: &Hide) -> Result<(), String> {
    let here = std::env::current_dir().map_err(failed("find", Path::new(".")))?;
    let folder = fs::canonicalize(&hide.folder).map_err(failed("find", &hide.folder))?;
    let but = fs::canonicalize(&hide.but).map_err(failed("find", &hide.but))?;
    enter_namespace()?;
    let root = Path::new("/");
    rustix::mount::mount_change(root, MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(io::Error::from)
        .map_err(failed("make private", root))?;
    // Held open, since its path leads into the empty folder from the next mount on.
    let kept = rustix::fs::open(&but, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(io::Error::from)
        .map_err(failed("open", &but))?;
    cover(&folder)?;
    if but.starts_with(&folder) {
        fs::create_dir_all(&but).map_err(failed("make", &but))?;
        let kept_path = PathBuf::from(format!("/proc/self/fd/{}", kept.as_raw_fd()));
        rustix::mount::mount_bind_recursive(&kept_path, &but)
            .map_err(io::Error::from)
            .map_err(failed("bind", &but))?;
    }
    rustix::mount::mount_remount(&folder, MountFlags::RDONLY | SAFE, c"")
        .map_err(io::Error::from)
        .map_err(failed("protect", &folder))?;
    // The folder that it stood in until now would lead past the mounts.
    std::env::set_current_dir(&here).map_err(failed("enter", &here))?;
    keep_hidden().map_err(|error| format!("the rights to undo it could not be given up: {error}"))
}

/// What lets a process take mounts away, and look at others' files through `/proc/PID/root`.
const UNHIDING: CapabilitySet = CapabilitySet::SYS_ADMIN.union(CapabilitySet::SYS_PTRACE);

/// Has the programs that this one turns into or starts do without [`UNHIDING`], also as root; this process keeps it.
/// A user namespace of their own gives them no way back: mounts that it inherits are locked in it.
fn keep_hidden() -> io::Result<()> {
    for capability in UNHIDING.iter() {
        if rustix::thread::capability_is_in_bounding_set(capability)? {
            rustix::thread::remove_capability_from_bounding_set(capability)?;
        }
    }
    let mut sets = rustix::thread::capabilities(None)?;
    sets.inheritable -= UNHIDING;
    Ok(rustix::thread::set_capabilities(None, sets)?)
}

const SAFE: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOEXEC);

fn cover(folder: &Path) -> Result<(), String> {
    rustix::mount::mount("none", folder, "tmpfs", SAFE, c"size=64k,mode=0755")
        .map_err(io::Error::from)
        .map_err(failed("cover", folder))
}

/// A mount namespace of its own, in a user namespace where that takes no rights.
fn enter_namespace() -> Result<(), String> {
    let refused = |error: nix::Error| format!("a mount namespace is refused: {error}");
    match nix::sched::unshare(CloneFlags::CLONE_NEWNS) {
        Ok(()) => return Ok(()),
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
    Ok(())
}
