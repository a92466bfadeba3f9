//! Backups: whole at one moment, private, restored into an empty folder alone, and made before each migration.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::{Present, back_up, restore};

fn quiet(_: u64, _: u64) {}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Every row of every table, as SQL has it.
fn rows(file: &Path) -> BTreeMap<String, Vec<String>> {
    let connection = Connection::open(file).unwrap();
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search%'";
    let mut tables = connection.prepare(tables).unwrap();
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    let rows = |table: &str| {
        let mut rows = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = rows.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let values = (0..columns).map(|column| format!("{:?}", row.get_ref(column).unwrap()));
            Ok(values.collect::<Vec<_>>().join(" "))
        };
        rows.query_map([], row).unwrap().map(Result::unwrap).collect()
    };
    tables.map(|table| (table.clone(), rows(&table))).collect()
}

#[test]
fn a_restored_backup_equals_what_was_there() {
    let Fixture { mut store, folder } = Fixture::with_channel();
    for n in 0..50 {
        post(&mut store, &format!("message {n}")).unwrap();
    }
    let file = folder.path().join("backup.db");
    let made = back_up(&data(&folder), &file, Present::Keep, &mut quiet).unwrap();
    check("what", (made.schema, made.bytes), (schema::MIGRATIONS.len(), fs::metadata(&file).unwrap().len()));
    check("mode", mode(&file), 0o600);
    check("nothing beside it", names(folder.path()), ["backup.db", "data"].map(str::to_owned).to_vec());
    post(&mut store, "later").unwrap();
    let elsewhere = folder.path().join("else where?");
    let back = restore(&file, &elsewhere, &mut quiet).unwrap();
    check("the same", back.schema, made.schema);
    check("files", names(&elsewhere), ["highwater.db", "lock"].map(str::to_owned).to_vec());
    check("mode", mode(&elsewhere.join("highwater.db")), 0o600);
    check("rows", rows(&elsewhere.join("highwater.db")), rows(&file));
    let mut restored = Sqlite::open(&elsewhere, at(3)).unwrap();
    check("texts", texts(&restored).len(), 50);
    check("found", restored.search("message", None, 99).unwrap().len(), 50);
    check("not migrated", restored.migrated(), None);
    let origin = |store: &Sqlite| store.log_span().unwrap().origin;
    check("the log as it was", origin(&restored), origin(&store));
    check("restored", restored.take_restored().unwrap(), true);
    check("the log of another", origin(&restored) == origin(&store), false);
    check("once", restored.take_restored().unwrap(), false);
    check("never restored", store.take_restored().unwrap(), false);
    // The mark is no part of what the old server has.
    check("the old one goes on", texts(&store).len(), 51);
}

#[test]
fn a_backup_has_whole_commits_while_posts_arrive() {
    let Fixture { mut store, folder } = Fixture::with_channel();
    for _ in 0..2_000 {
        post(&mut store, "filling that takes some time to copy").unwrap();
    }
    let done = AtomicBool::new(false);
    let made = std::thread::scope(|scope| {
        let backups = scope.spawn(|| {
            let mut made = Vec::new();
            for n in 0..10 {
                let file = folder.path().join(format!("{n}.db"));
                back_up(&data(&folder), &file, Present::Keep, &mut quiet).unwrap();
                made.push(file);
            }
            done.store(true, Ordering::Relaxed);
            made
        });
        while !done.load(Ordering::Relaxed) {
            let pair = store.atomic(&mut |store| post(store, "a").and_then(|_| post(store, "b")).map(|_| ()));
            pair.unwrap();
        }
        backups.join().unwrap()
    });
    let all = texts(&store);
    let mut before = 0;
    for file in made {
        let elsewhere = file.with_extension("restored");
        restore(&file, &elsewhere, &mut quiet).unwrap();
        let there = texts(&Sqlite::open(&elsewhere, at(3)).unwrap());
        assert!(there.len() >= before && there.len().is_multiple_of(2), "{} after {before}", there.len());
        check("the first so many", &there[..], &all[..there.len()]);
        before = there.len();
    }
}

#[test]
fn a_deleted_text_is_in_no_later_backup() {
    // I12
    let Fixture { mut store, folder } = Fixture::with_channel();
    let secret = "zanzibarquokka";
    let id = post(&mut store, secret).unwrap().as_str().into();
    let file = folder.path().join("backup.db");
    let holds = |file: &Path| {
        let bytes = fs::read(file).unwrap();
        bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
    };
    back_up(&data(&folder), &file, Present::Keep, &mut quiet).unwrap();
    check("it was there", holds(&file), true);
    // Also while a reader keeps it in the log.
    let reader = Connection::open(data(&folder).join("highwater.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM message;").unwrap();
    store.delete(&id, at(3)).unwrap();
    back_up(&data(&folder), &file, Present::Replace, &mut quiet).unwrap();
    check("it is gone", holds(&file), false);
}

#[test]
fn files_are_kept_unless_they_are_to_be_replaced() {
    let Fixture { store, folder } = Fixture::with_channel();
    let file = folder.path().join("backup.db");
    fs::write(&file, "mine").unwrap();
    let refused =
        back_up(&data(&folder), &file, Present::Keep, &mut quiet).map_err(|error| error.to_string());
    check("kept", refused, Err(format!("file {} exists already", file.display())));
    check("as it was", fs::read_to_string(&file).unwrap(), "mine".to_owned());
    drop(store);
    back_up(&data(&folder), &file, Present::Replace, &mut quiet).unwrap();
    check("replaced, without a server", restore(&file, &folder.path().join("new"), &mut quiet).is_ok(), true);
    let nowhere = folder.path().join("no folder").join("file");
    let refused =
        back_up(&data(&folder), &nowhere, Present::Keep, &mut quiet).map_err(|error| error.to_string());
    assert!(refused.as_ref().is_err_and(|why| why.starts_with("cannot write ")), "{refused:?}");
    let none = back_up(folder.path(), &file, Present::Keep, &mut quiet).is_err();
    check("no database", none, true);
    check("nothing left", names(folder.path()), ["backup.db", "data", "new"].map(str::to_owned).to_vec());
}

#[test]
fn a_folder_with_a_database_or_a_server_is_not_restored_into() {
    let Fixture { store, folder } = Fixture::with_channel();
    let file = folder.path().join("backup.db");
    back_up(&data(&folder), &file, Present::Keep, &mut quiet).unwrap();
    let told = |data: &Path| restore(&file, data, &mut quiet).map(|_| ()).map_err(|error| error.to_string());
    let there = data(&folder);
    let shown = there.display().to_string();
    let server =
        format!("a Highwater server uses the data folder {shown}; stop it, and restore into a new folder");
    check("a server", told(&there), Err(server));
    drop(store);
    let database = |name: &str| {
        format!(
            "the data folder {shown} has a database already ({shown}/{name}); restore into a new folder with --data \
             DIR, or move that file and its neighbours away first"
        )
    };
    check("a database", told(&there), Err(database("highwater.db")));
    fs::rename(there.join("highwater.db"), folder.path().join("away")).unwrap();
    fs::write(there.join("highwater.db-wal"), "of the old one").unwrap();
    check("its log", told(&there), Err(database("highwater.db-wal")));
    fs::remove_file(there.join("highwater.db-wal")).unwrap();
    fs::write(there.join("highwater.db.1.new"), "of one that was killed").unwrap();
    fs::write(there.join("owner-token"), "stays").unwrap();
    check("moved away", told(&there), Ok(()));
    check("files", names(&there), ["highwater.db", "lock", "owner-token"].map(str::to_owned).to_vec());
}

#[test]
fn what_has_other_tables_is_not_restored() {
    let Fixture { store, folder } = Fixture::with_channel();
    drop(store);
    for change in [
        "CREATE TRIGGER more AFTER INSERT ON message BEGIN DELETE FROM message; END",
        "ALTER TABLE channel DROP COLUMN topic",
        "DROP TABLE run_event",
        "CREATE VIEW more AS SELECT * FROM message",
    ] {
        let file = folder.path().join("backup.db");
        back_up(&data(&folder), &file, Present::Replace, &mut quiet).unwrap();
        Connection::open(&file).unwrap().execute_batch(change).unwrap();
        let told = restore(&file, &folder.path().join("new"), &mut quiet).unwrap_err().to_string();
        assert!(told.contains("it is damaged (its tables are not those of its version)"), "{change}: {told}");
    }
}

/// What is done to a backup's bytes or rows.
type Damage = fn(&Path);

#[test]
fn what_is_no_whole_backup_of_ours_is_not_restored() {
    let sql = |file: &Path, change: &str| Connection::open(file).unwrap().execute_batch(change).unwrap();
    let known = schema::MIGRATIONS.len();
    let newer = format!(
        "the database was made by a newer Highwater (schema {}; this one knows {known}); take another backup, or the \
         version of Highwater that made it",
        known + 1
    );
    let damages: [(&str, Damage, &str); 7] = [
        ("no database", |file| fs::write(file, "notes ".repeat(99)).unwrap(), "the database is damaged ("),
        ("empty", |file| fs::write(file, "").unwrap(), "it is an empty database"),
        (
            "cut",
            |file| fs::File::options().write(true).open(file).unwrap().set_len(9_000).unwrap(),
            "the database is damaged (",
        ),
        (
            "a page of rubbish",
            |file| {
                let mut bytes = fs::read(file).unwrap();
                let at = bytes.len() - 4_096;
                bytes[at..at + 2_000].fill(0xA5);
                fs::write(file, bytes).unwrap();
            },
            "it is damaged (",
        ),
        ("newer", |_| (), &newer),
        (
            "not ours",
            |file| Connection::open(file).unwrap().execute_batch("DROP TABLE migration").unwrap(),
            "the database was not made by Highwater; ",
        ),
        (
            "a server's own",
            |file| fs::write(file.with_extension("db-wal"), "x").unwrap(),
            "it is a server's own database, and part of it stands in ",
        ),
    ];
    for (what, damage, why) in damages {
        let Fixture { mut store, folder } = Fixture::with_channel();
        (0..200).for_each(|n| drop(post(&mut store, &format!("a message, number {n}")).unwrap()));
        let file = folder.path().join("backup.db");
        back_up(&data(&folder), &file, Present::Keep, &mut quiet).unwrap();
        damage(&file);
        if what == "newer" {
            sql(&file, &format!("INSERT INTO migration VALUES ({}, 'x', 0)", known + 1));
        }
        let elsewhere = folder.path().join("new");
        let told = restore(&file, &elsewhere, &mut quiet).map_err(|error| error.to_string()).unwrap_err();
        let expected = format!("{} cannot be restored: {why}", file.display());
        assert!(told.starts_with(&expected), "{what}: {told}\nexpected {expected}");
        check(what, elsewhere.exists(), false);
    }
    let folder = tempfile::tempdir().unwrap();
    let told = restore(&folder.path().join("none"), &folder.path().join("new"), &mut quiet).unwrap_err();
    assert!(told.to_string().starts_with("cannot read "), "{told}");
}

#[test]
fn a_migration_keeps_what_was_before() {
    let folder = tempfile::tempdir().unwrap();
    let old = data(&folder);
    let from = schema::MIGRATIONS.len() - 1;
    let fresh = Sqlite::open_with(&old, &schema::MIGRATIONS[..from], at(0)).unwrap();
    check("a new one", fresh.migrated(), None);
    drop(fresh);
    fs::write(old.join("backup-schema-1-x.db.new"), "of a server that was killed").unwrap();
    let before = rows(&old.join("highwater.db"));
    let store = Sqlite::open(&old, at(5)).unwrap();
    let migrated = store.migrated().unwrap().clone();
    check("from, to", (migrated.from, migrated.to), (from, from + 1));
    let backup = old.join(format!("backup-schema-{from}-20261130T005325000Z.db"));
    check("where", &migrated.backup, &backup);
    check("mode", mode(&backup), 0o600);
    check("rows", rows(&backup), before);
    drop(store);
    check("again", Sqlite::open(&old, at(6)).unwrap().migrated(), None);
    let left = names(&old).into_iter().filter(|name| name.starts_with("backup-")).count();
    check("one backup, no draft", left, 1);
    // The older version takes it back.
    let elsewhere = folder.path().join("back");
    restore(&backup, &elsewhere, &mut quiet).unwrap();
    check("older", Sqlite::open_with(&elsewhere, &schema::MIGRATIONS[..from], at(7)).is_ok(), true);
}

#[test]
fn a_backup_that_fails_stops_the_migration() {
    let folder = tempfile::tempdir().unwrap();
    let old = data(&folder);
    let from = schema::MIGRATIONS.len() - 1;
    drop(Sqlite::open_with(&old, &schema::MIGRATIONS[..from], at(0)).unwrap());
    let before = rows(&old.join("highwater.db"));
    // Its name is taken by what no file can replace.
    fs::create_dir_all(old.join(format!("backup-schema-{from}-20261130T005325000Z.db")).join("full"))
        .unwrap();
    let error = Sqlite::open(&old, at(5)).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("the backup before that could not be made"), "{error}");
    check("untouched", rows(&old.join("highwater.db")), before);
    check("no draft", names(&old).iter().any(|name| name.ends_with(".new")), false);
    check("later", Sqlite::open(&old, at(6)).is_ok(), true);
}

#[test]
fn a_migration_killed_at_any_commit_resumes() {
    // Of each step: what a server that is killed right before its commit leaves, and right after.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("highwater.db");
    let mut connection = Connection::open(&file).unwrap();
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    // So that much of a step is in the file before its commit.
    connection.pragma_update(None, "cache_size", 1).unwrap();
    let killed = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (into, from) = (std::sync::Arc::clone(&killed), folder.path().to_owned());
    let copy = move || {
        into.lock().unwrap().push(as_if_killed(&from));
        false
    };
    connection.commit_hook(Some(copy)).unwrap();
    schema::migrate(&mut connection, schema::MIGRATIONS, at(0)).unwrap();
    let killed = std::mem::take(&mut *killed.lock().unwrap());
    check("one commit for each", killed.len(), schema::MIGRATIONS.len());
    for (had, copy) in killed.iter().enumerate() {
        let left = Connection::open(data(copy).join("highwater.db")).unwrap();
        check("as before it", schema::known(&left, schema::MIGRATIONS).unwrap(), had);
        drop(left);
        let store = Sqlite::open(&data(copy), at(1)).unwrap();
        check("resumed", store.migrated().map(|migrated| migrated.from), (had > 0).then_some(had));
        check("whole", store.people().unwrap(), Vec::new());
    }
}
