//! The data folder: readable by its owner alone, and used by one server at a time.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::Error;

/// The database's file in the data folder.
pub(super) const DATABASE: &str = "highwater.db";
/// The file whose lock says that a server uses the folder.
const LOCK: &str = "lock";
/// Less than this is no space: SQLite's shared-memory file alone grows by half of it.
const SPACE_MIN: u64 = 64 * 1024;

/// Path of the database in a data folder.
pub(super) fn database(folder: &Path) -> PathBuf {
    folder.join(DATABASE)
}

/// Makes the data folder, or checks that it can be used, and takes its lock: held until the file is dropped.
pub(super) fn take(folder: &Path) -> Result<File, Error> {
    let failed = |error: io::Error| unusable(folder, &error.to_string());
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    close_to_others(folder)?;
    let lock = private(&folder.join(LOCK)).map_err(failed)?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => {
            return Err(unusable(
                folder,
                "another Highwater server is using it; stop that one, or choose another folder",
            ));
        }
        Err(error) => return Err(failed(error.into())),
    }
    // SQLite gives its side files the mode of the database.
    private(&database(folder)).map_err(failed)?;
    Ok(lock)
}

/// Whether the disk that holds the folder has no space left, as far as can be told.
pub(super) fn full(folder: &Path) -> bool {
    rustix::fs::statvfs(folder).is_ok_and(|space| space.f_bavail.saturating_mul(space.f_frsize) < SPACE_MIN)
}

/// An error that names the folder.
pub(super) fn unusable(folder: &Path, why: &str) -> Error {
    Error::Unusable(format!("the data folder {} cannot be used: {why}", folder.display()))
}

/// Takes from everyone else what an existing folder lets them do.
fn close_to_others(folder: &Path) -> Result<(), Error> {
    let failed = |error: io::Error| unusable(folder, &error.to_string());
    let metadata = folder.metadata().map_err(failed)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(unusable(folder, "it belongs to another user"));
    }
    if metadata.mode() & 0o7777 == 0o700 {
        return Ok(());
    }
    // A folder that holds other things (a home, /tmp) is not ours to close.
    let ours = database(folder).exists();
    if !ours && folder.read_dir().map_err(failed)?.next().is_some() {
        return Err(unusable(
            folder,
            "others may read it, and it holds files that are not Highwater's; choose a new folder, or make it yours \
             alone with `chmod 700`",
        ));
    }
    std::fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(failed)
}

/// Opens a file, made if need be, that its owner alone can read.
fn private(path: &Path) -> io::Result<File> {
    let file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    if file.metadata()?.mode() & 0o7777 != 0o600 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}
