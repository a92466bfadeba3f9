//! Backups for the command line: made and restored on a data folder itself, whether its server runs or not.

use std::path::{Path, PathBuf};

use storage::Error;
pub use storage::{Backup, Present};

use crate::error::{ApiError, Code};
use crate::serve::ServeError;

/// Where a backup is written before it is whole: whoever breaks the work off removes this.
pub fn draft(file: &Path) -> PathBuf {
    storage::draft(file)
}

/// Writes a backup of a data folder's database. `progress` is told bytes done, and about how many there are.
///
/// # Errors
///
/// `Exists` for a file that is to be kept, `NotFound` for a folder without a database, `StorageFull` for the file's disk.
pub fn back_up(
    data: &Path,
    file: &Path,
    present: Present,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Backup, ServeError> {
    storage::back_up(data, file, present, progress).map_err(|error| told(error, file, Code::NotFound))
}

/// Puts a backup into a data folder without a database.
///
/// # Errors
///
/// `Conflict` for a folder with a database or a running server, `Invalid` for a file that is no backup or of a newer
/// version, `StorageFull` for the folder's disk.
pub fn restore(
    file: &Path,
    data: &Path,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Backup, ServeError> {
    storage::restore(file, data, progress).map_err(|error| told(error, data, Code::Invalid))
}

/// The error; one of a folder or file that cannot be used has this code.
fn told(error: Error, at: &Path, unusable: Code) -> ServeError {
    match error {
        Error::DiskFull => {
            let message = format!("the disk that holds {} is full; nothing was changed", at.display());
            ServeError { code: Code::StorageFull, message }
        }
        Error::Unusable(message) => ServeError { code: unusable, message },
        other @ (Error::NotFound { .. } | Error::Exists { .. } | Error::Conflict(_) | Error::Database(_)) => {
            let ApiError { code, message, .. } = other.into();
            ServeError { code, message }
        }
    }
}
