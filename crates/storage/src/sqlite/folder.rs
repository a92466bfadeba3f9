//! The data folder: readable by its owner alone, and used by one server at a time.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::Error;

/// The database's file in the data folder.
pub(super) const DATABASE: &str = "highwater.db";
/// The file whose lock says that a server uses the folder.
const LOCK: &str = "lock";
/// How often the lock is asked for, and how long between: a client has it for microseconds, another server for good.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(10);
/// Less than this is no space: SQLite's shared-memory file alone grows by half of it.
const SPACE_MIN: u64 = 64 * 1024;

/// Whether a server uses a data folder. Holds its lock for a moment if none does; a server that starts meanwhile
/// tries again.
pub fn in_use(folder: &Path) -> bool {
    let Ok(lock) = File::open(folder.join(LOCK)) else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Path of the database in a data folder.
pub(super) fn database(folder: &Path) -> PathBuf {
    folder.join(DATABASE)
}

/// Bytes of a data folder's database with its log; 0 without one.
pub fn database_bytes(folder: &Path) -> u64 {
    let bytes = |path: PathBuf| std::fs::metadata(path).map_or(0, |file| file.len());
    bytes(database(folder)) + bytes(folder.join(format!("{DATABASE}-wal")))
}

/// [`lock`], and makes the database's file if there is none.
pub(super) fn take(folder: &Path) -> Result<File, Error> {
    let lock = lock(folder)?;
    // SQLite gives its side files the mode of the database.
    private(&database(folder)).map_err(|error| unusable(folder, &error.to_string()))?;
    Ok(lock)
}

/// Makes the data folder, or checks that it can be used, and takes its lock: held until the file is dropped.
pub(super) fn lock(folder: &Path) -> Result<File, Error> {
    let failed = |error: io::Error| unusable(folder, &error.to_string());
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    close_to_others(folder)?;
    let lock = private(&folder.join(LOCK)).map_err(failed)?;
    lock_alone(folder, &lock)?;
    Ok(lock)
}

/// Takes the lock. A client that looks whether a server runs may have it for a moment.
fn lock_alone(folder: &Path, lock: &File) -> Result<(), Error> {
    let mut tries = 0;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if tries < LOCK_TRIES => thread::sleep(LOCK_PAUSE),
            Err(TryLockError::WouldBlock) => {
                let why = "another Highwater server is using it; stop that one, or choose another folder";
                return Err(unusable(folder, why));
            }
            Err(TryLockError::Error(error)) => return Err(unusable(folder, &error.to_string())),
        }
        tries += 1;
    }
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
