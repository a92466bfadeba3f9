//! Hides the data folder from an agent (6.11).

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::mount::MountFlags;

use super::super::failed;
use super::mounts;
use crate::message::Hide;

/// Hides a folder from this process and those that it starts, in a mount namespace of its own: the folder is empty but
/// for its one visible part. The error says what was refused; the process may then be half-way and has to end.
pub(super) fn hide(hide: &Hide) -> Result<(), String> {
    let here = std::env::current_dir().map_err(failed("find", Path::new(".")))?;
    let folder = fs::canonicalize(&hide.folder).map_err(failed("find", &hide.folder))?;
    let but = fs::canonicalize(&hide.but).map_err(failed("find", &hide.but))?;
    // Held open, since its path leads into the empty folder from the next mount on.
    let kept = rustix::fs::open(&but, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(io::Error::from)
        .map_err(failed("open", &but))?;
    cover_ways(&folder, &but)?;
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
    std::env::set_current_dir(&here).map_err(failed("enter", &here))
}

/// Covers every other path to the folder: of disks and folders that are mounted twice.
fn cover_ways(folder: &Path, but: &Path) -> Result<(), String> {
    let mounts = mounts::mounts().map_err(failed("read", Path::new("/proc/self/mountinfo")))?;
    for way in mounts::ways(&mounts, folder, but) {
        let (Ok(at), Ok(to)) = (fs::metadata(&way.at), fs::metadata(&way.to)) else { continue };
        // A later mount may stand in the way.
        if (at.dev(), at.ino()) != (to.dev(), to.ino()) {
            continue;
        }
        if at.is_dir() {
            cover(&way.at)?;
        } else {
            rustix::mount::mount_bind("/dev/null", &way.at)
                .map_err(io::Error::from)
                .map_err(failed("cover", &way.at))?;
        }
    }
    Ok(())
}

/// Flags of a mount that programs need nothing of.
pub(super) const SAFE: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOEXEC);

/// Mounts an empty folder over one.
pub(super) fn cover(folder: &Path) -> Result<(), String> {
    rustix::mount::mount("none", folder, "tmpfs", SAFE, c"size=64k,mode=0755")
        .map_err(io::Error::from)
        .map_err(failed("cover", folder))
}
