//! Showings: what a session was told of which message, and whether the run's success counted it (5.6).

use delivery::model::{MessageId, NativeId, RunId};
use rusqlite::Connection;

use super::value::RowId;
use crate::{Error, Showing};

/// Adds what a staged run shows: the addressed message in its present revision, then the lines.
pub(super) fn add(
    db: &Connection,
    run: i64,
    native: &NativeId,
    addressed: i64,
    lines: &[(i64, u32)],
) -> Result<(), Error> {
    db.prepare_cached(
        "INSERT INTO showing (run, place, native, message, revision)
         SELECT ?1, 0, ?2, id, revision FROM message WHERE id = ?3",
    )?
    .execute((run, native.as_str(), addressed))?;
    let mut insert = db.prepare_cached(
        "INSERT INTO showing (run, place, native, message, revision) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (place, (message, revision)) in (1_i64..).zip(lines) {
        insert.execute((run, place, native.as_str(), message, revision))?;
    }
    Ok(())
}

/// Adds what the session of a staged run fetched itself, behind the rest; not what it was told before in that revision,
/// or wrote.
pub(super) fn add_fetched(
    db: &Connection,
    run: i64,
    native: &NativeId,
    fetched: &[(i64, u32)],
) -> Result<(), Error> {
    let mut insert = db.prepare_cached(
        "INSERT INTO showing (run, place, native, message, revision, fetched)
         SELECT ?1, (SELECT coalesce(max(place), 0) + 1 FROM showing WHERE run = ?1), ?2, m.id, ?4, 1
         FROM message m WHERE m.id = ?3 AND m.native IS NOT ?2 AND NOT EXISTS (
             SELECT 1 FROM showing told WHERE told.native = ?2 AND told.message = ?3 AND told.revision = ?4
                 AND (told.committed = 1 OR told.run = ?1)
         )",
    )?;
    for (message, revision) in fetched {
        insert.execute((run, native.as_str(), message, revision))?;
    }
    Ok(())
}

/// The newest run that tells a session something.
pub(super) fn newest_run(db: &Connection, native: &NativeId) -> Result<Option<RunId>, Error> {
    let mut rows = db.prepare_cached("SELECT max(run) FROM showing WHERE native = ?1")?;
    let run: Option<i64> = rows.query_row([native.as_str()], |row| row.get(0))?;
    Ok(run.map(RunId::of))
}

/// The lines of a run, in order, each with the revision that was shown.
pub(super) fn lines(db: &Connection, run: i64) -> Result<Vec<(MessageId, u32)>, Error> {
    let mut rows = db.prepare_cached(
        "SELECT message, revision FROM showing WHERE run = ?1 AND place > 0 AND fetched = 0 ORDER BY place",
    )?;
    let lines = rows.query_map([run], |row| Ok((MessageId::of(row.get(0)?), row.get(1)?)))?;
    Ok(lines.collect::<Result<_, _>>()?)
}

pub(super) fn commit(db: &Connection, run: i64) -> Result<(), Error> {
    db.prepare_cached("UPDATE showing SET committed = 1 WHERE run = ?1")?.execute([run])?;
    Ok(())
}

pub(super) fn of_session(db: &Connection, native: &NativeId) -> Result<Vec<Showing>, Error> {
    let mut rows = db.prepare_cached(
        "SELECT message, revision, run, committed FROM showing WHERE native = ?1 ORDER BY run, place",
    )?;
    let showings = rows.query_map([native.as_str()], |row| {
        Ok(Showing {
            native: native.clone(),
            message: MessageId::of(row.get(0)?),
            revision: row.get(1)?,
            run: RunId::of(row.get(2)?),
            committed: row.get(3)?,
        })
    })?;
    Ok(showings.collect::<Result<_, _>>()?)
}

/// Whether the session was told a message in a committed turn, or wrote it.
pub(super) fn given(db: &Connection, native: &NativeId, message: &MessageId) -> Result<bool, Error> {
    let mut rows = db.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM showing WHERE native = ?1 AND message = ?2 AND committed = 1)
             OR EXISTS (SELECT 1 FROM message WHERE id = ?2 AND native = ?1)",
    )?;
    Ok(rows.query_row((native.as_str(), message.row()?), |row| row.get(0))?)
}
