//! The store on SQLite: one writer with write-ahead logging and full durability, readers beside it.

mod backup;
mod binding;
mod channel;
mod credential;
mod delivery_rows;
mod folder;
mod identity;
mod life;
mod log;
mod member;
mod membership;
mod message;
mod permission;
mod project;
mod reader;
mod run;
mod schema;
mod scrub;
mod search;
mod session;
mod showing;
mod staged;
mod thread;
mod transfer;
mod usage;
mod value;
mod watermark;
mod write;

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use delivery::Timestamp;
use delivery::faults::{Rule, broken};
use rusqlite::{Connection, ErrorCode, OpenFlags};

pub use self::backup::{Backup, Migrated, Present, Progress, back_up, draft, restore};
pub use self::folder::{database_bytes, in_use};
pub use self::reader::Reader;
use crate::{Error, Store};

/// How long a statement waits for another connection's lock. Readers never hold one for long.
const BUSY_WAIT: Duration = Duration::from_secs(5);
/// All statements of this crate fit: none is prepared twice.
const STATEMENTS_MAX: usize = 200;
/// After a burst the write-ahead log is cut back to this size.
const LOG_BYTES_MAX: i64 = 64 * 1024 * 1024;

/// The store of one data folder, for as long as the value lives.
///
/// Every write is one `BEGIN IMMEDIATE` transaction under `synchronous=FULL`: when it has returned `Ok`, it is on
/// the disk. Calls inside [`Store::atomic`] join its transaction.
pub struct Sqlite {
    connection: Connection,
    folder: PathBuf,
    /// How many [`Store::atomic`] are open; the outermost is the transaction, the others are savepoints.
    depth: u32,
    /// Why the open transaction, or the innermost savepoint that can still be undone, must be rolled back: a call
    /// failed half-way. While it is set, no call does anything.
    lost: Option<Error>,
    /// Whether text was deleted whose old bytes may still stand in the write-ahead log.
    scrub_due: bool,
    migrated: Option<Migrated>,
    /// Held after the connection is closed: fields are dropped in order.
    _lock: File,
}

/// An orderly end leaves one whole file: whoever copies the database then has everything.
impl Drop for Sqlite {
    fn drop(&mut self) {
        self.scrub_log();
    }
}

impl Sqlite {
    /// Opens the store of a data folder, which is made if it does not exist, and brings it up to date.
    ///
    /// # Errors
    ///
    /// [`Error::Unusable`], in words for people, if another server uses the folder, if it is not ours alone and
    /// cannot safely be made so, or if its database is damaged, foreign, or made by a newer version.
    pub fn open(folder: &Path, now: Timestamp) -> Result<Self, Error> {
        Self::open_with(folder, schema::MIGRATIONS, now)
    }

    fn open_with(folder: &Path, migrations: &[&str], now: Timestamp) -> Result<Self, Error> {
        let lock = folder::take(folder)?;
        let (connection, migrated) =
            connect(folder, migrations, now).map_err(|error| at_open(folder, error))?;
        let folder = folder.to_owned();
        let mut store =
            Self { connection, folder, depth: 0, lost: None, scrub_due: true, migrated, _lock: lock };
        // The server before this one may have been killed between a deletion and its scrubbing of the log.
        store.scrub_log();
        Ok(store)
    }

    /// What the opening changed of a database of an older version, if it was one.
    pub fn migrated(&self) -> Option<&Migrated> {
        self.migrated.as_ref()
    }

    /// A connection that reads the database of a data folder, whether its server runs or not.
    ///
    /// # Errors
    ///
    /// [`Error::Unusable`] if there is no database, if it is damaged, or if it is not exactly of this version.
    pub fn open_reader(folder: &Path) -> Result<Reader, Error> {
        Reader::open(folder)
    }

    /// Runs one write: a transaction of its own, or a part of the open one.
    ///
    /// `work` refuses what it must refuse before it writes anything (see [`Error::refusal`]), so that a refusal
    /// leaves no half of it in an open transaction.
    fn write<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth == 0 {
            self.begin()?;
            let result = work(&self.connection);
            return self.finish(result);
        }
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        work(&self.connection).map_err(|error| {
            let error = self.explained(error);
            if !error.refusal() {
                self.lost = Some(error.clone());
            }
            error
        })
    }

    fn begin(&self) -> Result<(), Error> {
        self.run("BEGIN IMMEDIATE").map_err(|error| self.explained(error))
    }

    /// Ends the outermost transaction: commits what went well, undoes everything otherwise.
    fn finish<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        let result = match (result, self.lost.take()) {
            (Ok(_), Some(lost)) => Err(lost),
            (Ok(value), None) => self.run("COMMIT").map(|()| value),
            (Err(error), _) => Err(error),
        };
        if result.is_err() && !self.connection.is_autocommit() {
            // The first error is the one to tell; SQLite undoes the rest when it is next opened.
            let _ = self.run(if broken(Rule::AllOrNothing) { "COMMIT" } else { "ROLLBACK" });
        }
        if result.is_ok() && self.scrub_due {
            self.scrub_log();
        }
        result.map_err(|error| self.explained(error))
    }

    /// Ends a savepoint: keeps what went well, undoes its part alone otherwise.
    fn finish_part(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        let result = match (result, self.lost.take()) {
            (Ok(()), Some(lost)) => Err(lost),
            (Ok(()), None) => self.run("RELEASE part"),
            (Err(error), _) => Err(error),
        };
        let Err(error) = result else { return Ok(()) };
        let error = self.explained(error);
        // After some failures SQLite has undone the whole transaction already: then nothing else may run in it.
        let undone = self.run("ROLLBACK TO part").and_then(|()| self.run("RELEASE part"));
        if undone.is_err() || self.connection.is_autocommit() {
            self.lost = Some(error.clone());
        }
        Err(error)
    }

    /// Takes text that was deleted out of the write-ahead log, unless a reader still needs it: then the next
    /// commit tries again.
    fn scrub_log(&mut self) {
        // Waiting for a reader would hold up every writer.
        let patient = |wait| self.connection.busy_timeout(wait);
        let done = patient(Duration::ZERO)
            .and_then(|()| {
                let row = "PRAGMA wal_checkpoint(TRUNCATE)";
                self.connection.query_row(row, [], |row| row.get::<_, i64>(0))
            })
            .is_ok_and(|busy| busy == 0);
        let restored = patient(BUSY_WAIT).is_ok();
        self.scrub_due = !(done && restored);
    }

    fn run(&self, statement: &str) -> Result<(), Error> {
        self.connection.prepare_cached(statement)?.execute([])?;
        Ok(())
    }

    /// The error, or what is behind it: a full disk shows as a failed input or output in places.
    fn explained(&self, error: Error) -> Error {
        let Error::Database(cause) = &error else { return error };
        let code = cause.sqlite_error_code();
        let disk = matches!(code, Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen));
        if disk && folder::full(&self.folder) { Error::DiskFull } else { error }
    }

    fn atomic_work(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Store) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        if self.depth == 0 {
            self.begin()?
        } else {
            self.run("SAVEPOINT part")?
        }
        self.depth += 1;
        let outcome = catch_unwind(AssertUnwindSafe(|| work(self)));
        self.depth -= 1;
        let (result, panic) = match outcome {
            Ok(result) => (result, None),
            Err(panic) => (Err(Error::Conflict("the work was abandoned".to_owned())), Some(panic)),
        };
        let result = if self.depth == 0 { self.finish(result) } else { self.finish_part(result) };
        match panic {
            Some(panic) => resume_unwind(panic),
            None => result,
        }
    }
}

/// Opens the writer's connection and migrates; what a database of an older version was before is kept as a backup.
fn connect(
    folder: &Path,
    migrations: &[&str],
    now: Timestamp,
) -> Result<(Connection, Option<Migrated>), Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(folder::database(folder), flags)?;
    configure(&connection)?;
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(Error::Unusable(format!("its file system allows no write-ahead log (only {mode})")));
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Freed bytes are zeroed, so that a deletion leaves no text in the file.
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES_MAX, |_| Ok(()))?;
    backup::sweep(folder);
    let (from, to) = (schema::known(&connection, migrations)?, migrations.len());
    let migrated = match from {
        from if from == 0 || from == to => None,
        from => {
            let backup = backup::before_migration(&connection, folder, from, now)
                .map_err(|error| no_backup(from, to, &error))?;
            Some(Migrated { from, to, backup })
        }
    };
    schema::migrate(&mut connection, migrations, now)?;
    Ok((connection, migrated))
}

fn no_backup(from: usize, to: usize, error: &Error) -> Error {
    Error::Unusable(format!(
        "its database has schema {from} and is to be brought to {to}, but the backup before that could not be made \
         ({error}); nothing was changed. Make room in the folder and start again"
    ))
}

/// What every connection has.
fn configure(connection: &Connection) -> Result<(), Error> {
    connection.busy_timeout(BUSY_WAIT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // No text of messages in the system's folder for temporary files.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(())
}

/// An error at opening, with the folder's name.
fn at_open(folder: &Path, error: Error) -> Error {
    match error {
        Error::Unusable(why) => folder::unusable(folder, &why),
        Error::Database(_) if folder::full(folder) => Error::DiskFull,
        Error::Database(cause) => folder::unusable(folder, &cause.to_string()),
        other @ (Error::NotFound { .. } | Error::Exists { .. } | Error::Conflict(_) | Error::DiskFull) => {
            other
        }
    }
}

#[cfg(test)]
mod tests;
