//! The contract on SQLite, and what only SQLite promises: durability, one server, refusals at opening.

mod backups;
mod costs;
mod damage;
mod disk;
mod faults;
mod opening;

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::contract::{self, at, check, message_of, new_message};
use crate::{ChannelKind, NewMessage, Read};

/// A store in a folder that goes with it.
struct Fixture {
    store: Sqlite,
    folder: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::open(&data(&folder), at(0)).unwrap();
        Self { store, folder }
    }

    /// With a channel in it.
    fn with_channel() -> Self {
        let mut fixture = Self::new();
        fixture.store.add_channel("general", ChannelKind::Public, at(0)).unwrap();
        fixture
    }
}

fn data(folder: &TempDir) -> PathBuf {
    folder.path().join("data")
}

fn message(text: &str) -> NewMessage {
    new_message(&"c1".into(), "aiko", text)
}

fn post(store: &mut dyn Store, text: &str) -> Result<String, Error> {
    store.append(&message(text), at(1)).map(|appended| message_of(appended).row.id.to_string())
}

fn texts(store: &dyn Read) -> Vec<String> {
    let history = store.history(&"c1".into(), None, None, usize::MAX).unwrap();
    history.into_iter().map(|message| message.row.text).collect()
}

/// What a killed server leaves: its files as they are, without its lock. The disk has all that was acknowledged.
fn as_if_killed(folder: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    std::fs::create_dir(data(&copy)).unwrap();
    for file in ["highwater.db", "highwater.db-wal"] {
        std::fs::copy(folder.join(file), data(&copy).join(file)).unwrap();
    }
    copy
}

/// Takes a new store through each story of these modules.
macro_rules! contract {
    ($($module:ident),* $(,)?) => {$(
        #[test]
        fn $module() {
            for (name, story) in contract::$module::STORIES {
                // The name of a story that fails stands above its message.
                println!("{name}");
                story(&mut Fixture::new().store);
            }
        }
    )*};
}

contract![
    channels,
    identity,
    life,
    messages,
    permissions,
    projects,
    deletions,
    fetched,
    searches,
    runs,
    sessions,
    saved,
    watermarks,
    deliveries,
    transactions,
    transfers,
    usage,
    sequence,
    logs,
];

#[test]
fn a_killed_server_keeps_what_it_acknowledged_and_nothing_else() {
    let Fixture { mut store, folder } = Fixture::with_channel();
    for n in 0..50 {
        post(&mut store, &format!("message {n}")).unwrap();
        let copy = as_if_killed(&data(&folder));
        let reopened = Sqlite::open(&data(&copy), at(2)).unwrap();
        check(n, texts(&reopened), (0..=n).map(|n| format!("message {n}")).collect());
    }
    // In the middle of a transaction, large enough that parts of it are in the file already.
    let long = "x".repeat(60_000);
    let mut killed = None;
    let result = store.atomic(&mut |store| {
        (0..300).try_for_each(|_| post(store, &long).map(|_| ()))?;
        killed = Some(as_if_killed(&data(&folder)));
        Ok(())
    });
    check("committed later", result.is_ok(), true);
    let reopened = Sqlite::open(&data(&killed.unwrap()), at(2)).unwrap();
    check("not committed", texts(&reopened).len(), 50);
    check("committed", texts(&store).len(), 350);
}

#[test]
fn readers_see_whole_commits_while_the_writer_writes() {
    let Fixture { mut store, folder } = Fixture::with_channel();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let relaxed = std::sync::atomic::Ordering::Relaxed;
    std::thread::scope(|scope| {
        let read = || {
            let reader = Sqlite::open_reader(&data(&folder)).unwrap();
            let mut seen = 0;
            while !stop.load(relaxed) || seen < 400 {
                let texts = texts(&reader);
                assert!(texts.len() >= seen && texts.len().is_multiple_of(2), "{} after {seen}", texts.len());
                seen = texts.len();
            }
            seen
        };
        let readers = [scope.spawn(read), scope.spawn(read)];
        for _ in 0..200 {
            let pair =
                store.atomic(&mut |store| post(store, "one").and_then(|_| post(store, "two")).map(|_| ()));
            pair.unwrap();
        }
        stop.store(true, relaxed);
        for reader in readers {
            check("all in the end", reader.join().unwrap(), 400);
        }
    });
}

#[test]
fn a_deleted_text_is_in_no_file() {
    let Fixture { mut store, folder } = Fixture::with_channel();
    let secret = "zanzibarquokka";
    post(&mut store, "before").unwrap();
    let id = post(&mut store, &format!("the {secret} is here, {secret}")).unwrap().as_str().into();
    let long = post(&mut store, &secret.repeat(1_000)).unwrap().as_str().into();
    for n in 0..20 {
        post(&mut store, &format!("zanzibar{n} and others")).unwrap();
    }
    check("it was there", holds(&data(&folder), secret), true);
    store.edit(&id, &format!("{secret} {secret}"), at(2)).unwrap();
    let reader = Sqlite::open_reader(&data(&folder)).unwrap();
    store.delete(&id, at(3)).unwrap();
    store.delete(&long, at(3)).unwrap();
    check("it is gone", holds(&data(&folder), secret), false);
    check("the rest is found", reader.search("zanzibar7", None, 9).unwrap().len(), 1);
}

#[test]
fn a_reader_delays_scrubbing_the_log_only_until_the_next_commit() {
    let Fixture { mut store, folder } = Fixture::with_channel();
    let secret = "zanzibarquokka";
    let id = post(&mut store, secret).unwrap().as_str().into();
    let reader = Connection::open(data(&folder).join("highwater.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM message;").unwrap();
    store.delete(&id, at(3)).unwrap();
    check("still read", (store.is_scrub_due(), holds(&data(&folder), secret)), (true, true));
    reader.execute_batch("COMMIT").unwrap();
    store.atomic(&mut |_| Ok(())).unwrap();
    check("nothing is due", store.is_scrub_due(), false);
    check("it is gone", holds(&data(&folder), secret), false);
}

/// Whether any file of the folder holds the text.
fn holds(folder: &Path, text: &str) -> bool {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    files.into_iter().any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}
