//! Opening a data folder: one server, its own files, a database that is whole and not too new.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::*;

/// Why the folder is refused, without the words that stand before it.
#[track_caller]
fn check_unusable<T>(what: &str, folder: &Path, got: Result<T, Error>, why: &str) {
    let got = match got {
        Err(Error::Unusable(why)) => why,
        other => format!("{:?}", other.map(|_| "opened")),
    };
    check(what, got, format!("the data folder {} cannot be used: {why}", folder.display()));
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_folder_and_its_files_are_the_owners_alone() {
    let Fixture { mut store, folder } = Fixture::with_channel();
    post(&mut store, "one").unwrap();
    let modes: std::collections::BTreeMap<String, u32> = fs::read_dir(data(&folder))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), mode(&entry.path())))
        .collect();
    let files = ["highwater.db", "highwater.db-shm", "highwater.db-wal", "lock"];
    check("files", modes, files.map(|file| (file.to_owned(), 0o600)).into());
    check("folder", mode(&data(&folder)), 0o700);
}

#[test]
fn a_laxer_folder_is_closed_if_it_is_ours() {
    let folder = tempfile::tempdir().unwrap();
    let data = data(&folder);
    // (what stands in it, its mode, its mode after opening)
    for (file, before, after) in [
        (None, 0o755, Some(0o700)),
        (Some("highwater.db"), 0o750, Some(0o700)),
        (Some("notes.txt"), 0o700, Some(0o700)),
        (Some("notes.txt"), 0o755, None),
        (Some("notes.txt"), 0o1777, None),
    ] {
        fs::create_dir(&data).unwrap();
        if let Some(file) = file {
            fs::write(data.join(file), "").unwrap();
            fs::set_permissions(data.join(file), Permissions::from_mode(0o644)).unwrap();
        }
        fs::set_permissions(&data, Permissions::from_mode(before)).unwrap();
        let opened = Sqlite::open(&data, at(0));
        check((file, before), opened.is_ok(), after.is_some());
        if let Err(error) = opened {
            let why = "others may read it, and it holds files that are not Highwater's; choose a new folder, or make \
                       it yours alone with `chmod 700`";
            check_unusable("refused", &data, Err::<(), _>(error), why);
        } else {
            check((file, before), mode(&data.join("highwater.db")), 0o600);
        }
        check((file, before), mode(&data), after.unwrap_or(before));
        fs::remove_dir_all(&data).unwrap();
    }
}

#[test]
fn one_server_uses_a_folder() {
    let Fixture { store, folder } = Fixture::with_channel();
    let data = data(&folder);
    let why = "another Highwater server is using it; stop that one, or choose another folder";
    check_unusable("second", &data, Sqlite::open(&data, at(1)), why);
    check("in use", in_use(&data), true);
    drop(store);
    check("in use after it", in_use(&data), false);
    check("no folder", in_use(&data.join("none")), false);
    check("after it", Sqlite::open(&data, at(1)).is_ok(), true);
}

#[test]
fn a_reader_needs_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = Sqlite::open_reader(folder.path());
    check_unusable("none", folder.path(), nothing, "no server has made a database in it yet");
}

#[test]
fn what_is_no_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    check_unusable("file", &file, Sqlite::open(&file, at(0)), "File exists (os error 17)");
}

#[test]
fn a_database_that_is_not_ours_is_refused() {
    let known = schema::MIGRATIONS.len();
    let insert = format!("INSERT INTO migration VALUES ({}, 'x', 0), ({}, 'y', 0)", known + 1, known + 2);
    let newer = format!(
        "the database was made by a newer Highwater (schema {}; this one knows {known}): start that version, or \
         restore a backup",
        known + 2
    );
    let other = "the database had migration 1 in another form than this Highwater has it: start the version that made \
                 it, or restore a backup";
    for (change, why) in [
        (insert.as_str(), newer.as_str()),
        ("UPDATE migration SET sha256 = 'x' WHERE number = 1", other),
        ("DROP TABLE migration", "the database was not made by Highwater: choose another data folder"),
    ] {
        let Fixture { store, folder } = Fixture::with_channel();
        drop(store);
        let data = data(&folder);
        Connection::open(data.join("highwater.db")).unwrap().execute_batch(change).unwrap();
        check_unusable(change, &data, Sqlite::open(&data, at(1)), why);
        check_unusable(change, &data, Sqlite::open_reader(&data), why);
    }
}

/// What is done to a database's bytes.
type Damage = fn(&mut Vec<u8>);

#[test]
fn a_damaged_database_is_refused() {
    let damages: [(&str, Damage); 4] = [
        ("no database at all", |bytes| *bytes = b"these are my notes, not a database".repeat(100)),
        ("header overwritten", |bytes| bytes[..32].fill(0x5A)),
        ("cut in half", |bytes| bytes.truncate(bytes.len() / 2)),
        ("first page overwritten", |bytes| bytes[100..4096].fill(0xA5)),
    ];
    for (what, damage) in damages {
        let Fixture { mut store, folder } = Fixture::with_channel();
        for _ in 0..50 {
            post(&mut store, "one").unwrap();
        }
        drop(store);
        let file = data(&folder).join("highwater.db");
        let mut bytes = fs::read(&file).unwrap();
        damage(&mut bytes);
        fs::write(&file, bytes).unwrap();
        let error = Sqlite::open(&data(&folder), at(1)).map(|_| "it was opened").unwrap_err().to_string();
        let prefix =
            format!("the data folder {} cannot be used: the database is damaged (", data(&folder).display());
        let suffix = "): stop the server and restore a backup";
        assert!(error.starts_with(&prefix) && error.ends_with(suffix), "{what}: {error}");
    }
}
