//! Backups: the whole database as it is at one moment, in one file, made beside whatever is written meanwhile.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use delivery::Timestamp;
use rusqlite::{Connection, OpenFlags};

use super::{configure, folder, schema};
use crate::Error;

/// What stands as `user_version` in a database that came out of a backup and was not started since; 0 in any other.
const CAME_FROM_BACKUP: u32 = 1;
/// How often progress is told.
const TICK: Duration = Duration::from_millis(100);
/// Bytes that are copied at once.
const CHUNK: usize = 1024 * 1024;
/// What the name of a database is followed by in those of SQLite's files beside it.
const SIDE_FILES: [&str; 4] = ["", "-wal", "-shm", "-journal"];
/// How the file begins that is made of a database before a migration changes it.
const BEFORE_MIGRATION: &str = "backup-schema-";
/// How files end that are not whole yet.
const DRAFT: &str = ".new";

/// What is told while a backup is made or restored: bytes done, and about how many there are.
pub type Progress<'a> = &'a mut (dyn FnMut(u64, u64) + Send);

/// What becomes of a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Present {
    /// It stays, and the call fails.
    Keep,
    /// The new one takes its place.
    Replace,
}

/// A backup that was made or restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backup {
    /// How many migrations its database has had.
    pub schema: usize,
    /// Size.
    pub bytes: u64,
}

/// What an opening changed of a database of an older version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// How many migrations it had had.
    pub from: usize,
    /// How many it has had now.
    pub to: usize,
    /// The backup of what it was before.
    pub backup: PathBuf,
}

/// Where a backup is written before it is whole and gets its name: whoever breaks the work off removes this.
pub fn draft(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}{DRAFT}", std::process::id()));
    PathBuf::from(name)
}

/// Writes a backup of a data folder's database to a file that its owner alone can read, whether its server runs or not.
/// What is committed when it begins is in it, nothing later. The file gets its name when it is whole and on the disk.
///
/// # Errors
///
/// [`Error::Exists`] for a file that is to be kept, [`Error::Unusable`] if the folder has no database of a version that
/// is known, [`Error::DiskFull`] for the disk of the file.
pub fn back_up(data: &Path, file: &Path, present: Present, progress: Progress<'_>) -> Result<Backup, Error> {
    refuse_present(file, present)?;
    let database = folder::database(data);
    if !database.exists() {
        return Err(folder::unusable(data, "no server has made a database in it yet"));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&database, flags)?;
    configure(&connection)?;
    let draft = draft(file);
    let made = write(&connection, &draft, progress).and_then(|backup| {
        refuse_present(file, present)?;
        std::fs::rename(&draft, file).map_err(|error| cannot("write", file, &error))?;
        sync_folder_of(file)?;
        Ok(backup)
    });
    if made.is_err() {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(&draft);
    }
    made
}

/// Writes the database of a connection to a new file, and leaves it there, whole and on the disk.
pub(super) fn write(connection: &Connection, to: &Path, progress: Progress<'_>) -> Result<Backup, Error> {
    let schema = schema::known(connection, schema::MIGRATIONS)?;
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)
        .map_err(|error| cannot("write", to, &error))?;
    vacuum_into(connection, to, progress)?;
    mark(to)?;
    let bytes = File::open(to)
        .and_then(|file| file.sync_all().and_then(|()| file.metadata()))
        .map_err(|error| cannot("write", to, &error))?
        .len();
    Ok(Backup { schema, bytes })
}

/// Makes a backup before a migration changes a database; the path of the file, which is in the data folder.
pub(super) fn before_migration(
    connection: &Connection,
    data: &Path,
    from: usize,
    now: Timestamp,
) -> Result<PathBuf, Error> {
    let when: String = now.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    let file = data.join(format!("{BEFORE_MIGRATION}{from}-{when}.db"));
    let draft = data.join(format!("{BEFORE_MIGRATION}{from}-{when}.db{DRAFT}"));
    let made = write(connection, &draft, &mut |_, _| ()).and_then(|_| {
        std::fs::rename(&draft, &file).map_err(|error| cannot("write", &file, &error))?;
        sync_folder_of(&file)
    });
    match made {
        Ok(()) => Ok(file),
        Err(error) => {
            let _ = std::fs::remove_file(&draft);
            Err(error)
        }
    }
}

/// Removes what was left of such a backup, or of a restored database, by whoever was killed while making it. For the one
/// who has the folder's lock.
pub(super) fn sweep(data: &Path) {
    let begins = [BEFORE_MIGRATION, folder::DATABASE];
    for entry in data.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_bytes();
        let ours = begins.iter().any(|begin| name.starts_with(begin.as_bytes()));
        if ours && name.ends_with(DRAFT.as_bytes()) {
            // It only takes space.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Puts a backup into a data folder that has no database, and is made if need be. The folder's server does with the
/// runs in it what [`crate::Store::take_restored`] says.
///
/// # Errors
///
/// [`Error::Conflict`] if the folder has a database or a running server, [`Error::Unusable`] if the file is no whole
/// database of a version that is known, or the folder is not ours alone.
pub fn restore(file: &Path, data: &Path, progress: Progress<'_>) -> Result<Backup, Error> {
    refuse_occupied(data)?;
    let schema = check(file)?;
    let _lock = folder::lock(data)?;
    // A server may have been here between the look and the lock.
    refuse_occupied_by_database(data)?;
    sweep(data);
    let database = folder::database(data);
    let draft = draft(&database);
    let copied = copy(file, &draft, progress).and_then(|bytes| {
        mark(&draft)?;
        File::open(&draft)
            .and_then(|copy| copy.sync_all())
            .and_then(|()| std::fs::rename(&draft, &database))
            .map_err(|error| cannot("write", &database, &error))?;
        sync_folder_of(&database)?;
        Ok(Backup { schema, bytes })
    });
    if copied.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    copied
}

/// Whether a database came out of a backup and was not started since; from now on it was.
pub(super) fn take_mark(connection: &Connection) -> Result<bool, Error> {
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found == CAME_FROM_BACKUP {
        connection.pragma_update(None, "user_version", 0)?;
        // The log goes on otherwise than that of the server before: places in that one mean nothing here.
        connection.prepare_cached("UPDATE origin SET id = randomblob(8)")?.execute([])?;
    }
    Ok(found == CAME_FROM_BACKUP)
}

fn vacuum_into(connection: &Connection, to: &Path, progress: Progress<'_>) -> Result<(), Error> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
    let pages = number("page_count")?.saturating_sub(number("freelist_count")?);
    let total = pages.saturating_mul(number("page_size")?);
    let size = || to.metadata().map_or(0, |file| file.len());
    // SQLite has one statement for it, which ends when all is done; the file tells how far it is.
    let (stop, stopped) = channel::<()>();
    thread::scope(|scope| {
        let watch = scope.spawn(move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                progress(size().min(total), total);
            }
        });
        let done = connection.execute("VACUUM INTO CAST(?1 AS TEXT)", [to.as_os_str().as_bytes()]);
        drop(stop);
        // A panic of the watcher is the caller's own.
        if let Err(panic) = watch.join() {
            std::panic::resume_unwind(panic);
        }
        done.map(|_| ())
    })?;
    Ok(())
}

/// Marks a file as a backup; it has SQLite's older journal from then on, and no files beside it.
fn mark(file: &Path) -> Result<(), Error> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let mode = |mode| connection.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(()));
    mode("DELETE")?;
    mode("MEMORY")?;
    connection.pragma_update(None, "user_version", CAME_FROM_BACKUP)?;
    Ok(())
}

/// That a file is a whole database of a version that is known: how many migrations it has had.
fn check(file: &Path) -> Result<usize, Error> {
    let name = file.display();
    let not = |why: &str| Error::Unusable(format!("{name} cannot be restored: {why}"));
    let metadata = std::fs::metadata(file).map_err(|error| cannot("read", file, &error))?;
    if !metadata.is_file() {
        return Err(not("it is no file"));
    }
    let log = beside(file, "-wal");
    if log.metadata().is_ok_and(|log| log.len() > 0) {
        return Err(not(&format!(
            "it is a server's own database, and part of it stands in {}; make a backup of it with: highwater backup \
             FILE --data DIR",
            log.display()
        )));
    }
    let checked = || -> Result<(usize, Option<String>), Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        // Nothing is made beside the file, whose folder may be read-only.
        let connection = Connection::open_with_flags(uri(file), flags)?;
        let schema = schema::known(&connection, schema::MIGRATIONS)?;
        let damage: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if damage != "ok" {
            return Ok((schema, Some(damage)));
        }
        if schema > 0 && schema::shape(&connection)? != schema::shape_after(schema)? {
            return Ok((schema, Some("its tables are not those of its version".to_owned())));
        }
        let dangling = connection.prepare("PRAGMA foreign_key_check")?.exists([])?;
        Ok((schema, dangling.then(|| "rows are missing that others refer to".to_owned())))
    };
    match checked() {
        Ok((0, _)) => Err(not("it is an empty database")),
        Ok((schema, None)) => Ok(schema),
        Ok((_, Some(damage))) => Err(not(&format!("it is damaged ({damage}); take an older backup"))),
        Err(Error::Unusable(why)) => {
            let what = why.rsplit_once(": ").map_or(why.as_str(), |(what, _)| what);
            Err(not(&format!("{what}; take another backup, or the version of Highwater that made it")))
        }
        Err(other) => Err(other),
    }
}

/// The address of a file that nobody changes meanwhile.
fn uri(file: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in file.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'_' | b'-' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                uri.push(char::from(*byte))
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

fn copy(from: &Path, to: &Path, progress: Progress<'_>) -> Result<u64, Error> {
    let mut copied = || -> io::Result<u64> {
        let mut source = File::open(from)?;
        let total = source.metadata()?.len();
        let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
        let mut chunk = vec![0; CHUNK];
        let mut done = 0;
        loop {
            let read = source.read(&mut chunk)?;
            if read == 0 {
                return Ok(done);
            }
            copy.write_all(&chunk[..read])?;
            done += read as u64;
            progress(done, total);
        }
    };
    copied().map_err(|error| cannot("write", to, &error))
}

fn refuse_present(file: &Path, present: Present) -> Result<(), Error> {
    match present {
        Present::Keep if file.symlink_metadata().is_ok() => {
            Err(Error::Exists { what: "file", name: file.display().to_string() })
        }
        Present::Keep | Present::Replace => Ok(()),
    }
}

fn refuse_occupied(data: &Path) -> Result<(), Error> {
    if folder::in_use(data) {
        return Err(Error::Conflict(format!(
            "a Highwater server uses the data folder {}; stop it, and restore into a new folder",
            data.display()
        )));
    }
    refuse_occupied_by_database(data)
}

fn refuse_occupied_by_database(data: &Path) -> Result<(), Error> {
    let database = folder::database(data);
    let there = SIDE_FILES.iter().map(|end| beside(&database, end)).find(|file| file.exists());
    there.map_or(Ok(()), |file| {
        Err(Error::Conflict(format!(
            "the data folder {} has a database already ({}); restore into a new folder with --data DIR, or move that \
             file and its neighbours away first",
            data.display(),
            file.display()
        )))
    })
}

fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// A new name is on the disk when its folder is.
fn sync_folder_of(file: &Path) -> Result<(), Error> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent).and_then(|folder| folder.sync_all()).map_err(|error| cannot("write", file, &error))
}

fn cannot(what: &str, file: &Path, error: &io::Error) -> Error {
    if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
        return Error::DiskFull;
    }
    Error::Unusable(format!("cannot {what} {}: {error}", file.display()))
}
