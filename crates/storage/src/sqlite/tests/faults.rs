//! A disk that is full: nothing half-written, and all well again once there is space.

use super::*;
use crate::atomically;

/// A store whose database file cannot grow any more.
fn full() -> Fixture {
    let fixture = Fixture::with_channel();
    let pages: i64 = fixture.store.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    set_pages(&fixture.store, pages + 2);
    fixture
}

fn set_pages(store: &Sqlite, pages: i64) {
    store.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
}

fn with_space(store: &Sqlite) {
    set_pages(store, 1 << 30);
}

fn is_full<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::DiskFull))
}

/// Fault experiment 3: a database that cannot grow refuses, half-writes nothing, and goes on with space.
#[test]
fn a_full_disk_refuses_and_recovers() {
    let Fixture { mut store, folder } = full();
    let long = "x".repeat(2_000);
    let mut kept = Vec::new();
    let refused = loop {
        match post(&mut store, &long) {
            Ok(_) => kept.push(long.clone()),
            Err(error) => break Err::<(), _>(error),
        }
    };
    check("refused", is_full(&refused), true);
    check("nothing half-written", texts(&store), kept.clone());
    check("last_seq", store.channel("general").unwrap().last_seq, kept.len() as u64);
    check("refused again", is_full(&post(&mut store, &long)), true);
    with_space(&store);
    post(&mut store, "after").unwrap();
    kept.push("after".to_owned());
    check("recovered", texts(&store), kept.clone());
    drop(store);
    check("on the disk", texts(&Sqlite::open(&data(&folder), at(9)).unwrap()), kept);
}

#[test]
fn a_full_disk_undoes_the_whole_transaction() {
    let Fixture { mut store, folder: _folder } = full();
    let long = "x".repeat(60_000);
    // The caller swallows the failure: what was half done must not be committed all the same.
    let result = store.atomic(&mut |store| {
        post(store, "one")?;
        let failed = post(store, &long);
        assert!(is_full(&failed), "{failed:?}");
        assert!(is_full(&post(store, "two")), "nothing more is taken on");
        Ok(())
    });
    check("refused", is_full(&result), true);
    check("nothing", texts(&store), Vec::new());
    with_space(&store);
    check("recovered", post(&mut store, "three").unwrap(), "m1".to_owned());
}

#[test]
fn a_full_disk_fails_a_group_whole() {
    let Fixture { mut store, folder: _folder } = full();
    let long = "x".repeat(60_000);
    let result = store.atomic(&mut |store| {
        for text in ["one", long.as_str(), "two"] {
            atomically(store, |store| post(store, text))?;
        }
        Ok(())
    });
    check("refused", is_full(&result), true);
    check("nothing", texts(&store), Vec::new());
    with_space(&store);
    check("recovered", post(&mut store, "three").unwrap(), "m1".to_owned());
}

#[test]
fn a_part_that_failed_half_way_can_be_given_up() {
    let Fixture { mut store, folder: _folder } = full();
    let long = "x".repeat(60_000);
    let result = store.atomic(&mut |store| {
        let part = atomically(store, |store| post(store, &long));
        assert!(is_full(&part), "{part:?}");
        Ok(())
    });
    // SQLite may have undone everything, in which case the whole is refused; either way nothing stands.
    check("whole", result.is_ok() || is_full(&result), true);
    check("nothing", texts(&store), Vec::new());
    check("last_seq", store.channel("general").unwrap().last_seq, 0);
}

#[test]
fn an_unreadable_page_is_told_as_damage() {
    let Fixture { mut store, folder } = Fixture::with_channel();
    for n in 0..600 {
        post(&mut store, &format!("message {n} {}", "x".repeat(500))).unwrap();
    }
    drop(store);
    let file = data(&folder).join("highwater.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let from = bytes.len() / 2;
    bytes[from..].fill(0xA5);
    std::fs::write(&file, bytes).unwrap();
    // The head of the file is whole, so it opens; what cannot be read is found when it is read.
    let reader = Sqlite::open_reader(&data(&folder)).unwrap();
    let error = reader.history(&"c1".into(), None, None, 1_000).unwrap_err();
    assert!(
        matches!(&error, Error::Unusable(why) if why.starts_with("the database is damaged (")),
        "{error}"
    );
}

#[test]
fn trying_to_write_writes() {
    let Fixture { mut store, folder } = Fixture::with_channel();
    let wal = data(&folder).join("highwater.db-wal");
    let bytes = || std::fs::read(&wal).unwrap();
    let before = bytes();
    check("tried", store.try_write().is_ok(), true);
    check("something was written", bytes() == before, false);
    store.connection.pragma_update(None, "query_only", true).unwrap();
    check("refused", store.try_write().is_err(), true);
    store.connection.pragma_update(None, "query_only", false).unwrap();
    check("and well again", store.try_write().is_ok(), true);
}
