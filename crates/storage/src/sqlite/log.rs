//! The log of the workspace: each change adds its entry here, in its own transaction.

use delivery::Timestamp;
use delivery::model::{BindingId, ChannelId, MessageId, RunId};
use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension, Row};

use super::value::{RowId, Time, Word, limit};
use crate::log::ChangeKind;
use crate::{Change, Error, LogEntry, LogSpan, PermissionId, PersonId};

/// Entries given up by one call at most, so that a limit that was lowered delays nobody for long.
const PRUNED_MAX: i64 = 10_000;

/// An entry by row numbers; what a kind has no use for stays empty.
#[derive(Default)]
pub(super) struct New {
    pub(super) channel: Option<i64>,
    pub(super) message: Option<i64>,
    pub(super) run: Option<i64>,
    pub(super) step: Option<u64>,
    pub(super) binding: Option<i64>,
    pub(super) person: Option<i64>,
    pub(super) permission: Option<i64>,
}

pub(super) fn add(db: &Connection, at: Timestamp, kind: ChangeKind, new: &New) -> Result<(), Error> {
    // SQLite gives the next number: the newest entry is never given up.
    let mut insert = db.prepare_cached(
        "INSERT INTO log (at, kind, channel, message, run, step, binding, person, permission)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    insert.execute((
        Time(at),
        Word(kind),
        new.channel,
        new.message,
        new.run,
        new.step,
        new.binding,
        new.person,
        new.permission,
    ))?;
    Ok(())
}

pub(super) fn span(db: &Connection) -> Result<LogSpan, Error> {
    // Two queries: SQLite finds the lowest or the highest at once, but not both.
    let mut ends =
        db.prepare_cached("SELECT id, (SELECT min(n) FROM log), (SELECT max(n) FROM log) FROM origin")?;
    Ok(ends.query_row([], |row| {
        let lowest: Option<u64> = row.get(1)?;
        let head: Option<u64> = row.get(2)?;
        Ok(LogSpan {
            origin: row.get(0)?,
            floor: lowest.map_or(0, |lowest| lowest.saturating_sub(1)),
            head: head.unwrap_or(0),
        })
    })?)
}

pub(super) fn after(db: &Connection, after: u64, entries_max: usize) -> Result<Vec<LogEntry>, Error> {
    // A number that no sequence reaches has nothing after it.
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let mut rows = db.prepare_cached(
        "SELECT l.n, l.at, l.kind, l.channel, l.message, l.run, l.step, b.name, l.person, l.permission
         FROM log l LEFT JOIN binding b ON b.id = l.binding WHERE l.n > ?1 ORDER BY l.n LIMIT ?2",
    )?;
    Ok(rows.query_map((after, limit(entries_max)), read)?.collect::<Result<_, _>>()?)
}

/// Gives up the oldest entries but the newest `keep`, one at the least.
pub(super) fn prune(db: &Connection, keep: u64) -> Result<(), Error> {
    let keep = i64::try_from(keep.max(1)).unwrap_or(i64::MAX);
    let mut oldest = db.prepare_cached(
        "SELECT min(lowest + ?2 - 1, newest - ?1)
         FROM (SELECT (SELECT min(n) FROM log) AS lowest, (SELECT max(n) FROM log) AS newest)
         WHERE newest - lowest >= ?1",
    )?;
    let Some(last) = oldest.query_row((keep, PRUNED_MAX), |row| row.get::<_, i64>(0)).optional()? else {
        return Ok(());
    };
    db.prepare_cached("DELETE FROM log WHERE n <= ?1")?.execute([last])?;
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<LogEntry> {
    fn id<T: RowId>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
        row.get(column).map(T::of)
    }
    fn value<T: FromSql>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
        row.get(column)
    }
    let change = match row.get::<_, Word<ChangeKind>>(2)?.0 {
        ChangeKind::ChannelAdded => Change::ChannelAdded,
        ChangeKind::ChannelChanged => Change::ChannelChanged,
        ChangeKind::ChannelClosed => Change::ChannelClosed,
        ChangeKind::PersonAdded => Change::PersonAdded(id::<PersonId>(row, 8)?),
        ChangeKind::PersonChanged => Change::PersonChanged(id::<PersonId>(row, 8)?),
        ChangeKind::AccessEnded => Change::AccessEnded(id::<PersonId>(row, 8)?),
        ChangeKind::MemberAdded => Change::MemberAdded(id::<PersonId>(row, 8)?),
        ChangeKind::MemberRemoved => Change::MemberRemoved(id::<PersonId>(row, 8)?),
        ChangeKind::AgentAdded => Change::AgentAdded(BindingId(value(row, 7)?)),
        ChangeKind::AgentChanged => Change::AgentChanged(BindingId(value(row, 7)?)),
        ChangeKind::AgentRemoved => Change::AgentRemoved(BindingId(value(row, 7)?)),
        ChangeKind::MessageAdded => Change::MessageAdded(id::<MessageId>(row, 4)?),
        ChangeKind::MessageEdited => Change::MessageEdited(id::<MessageId>(row, 4)?),
        ChangeKind::MessageDeleted => Change::MessageDeleted(id::<MessageId>(row, 4)?),
        ChangeKind::RunQueued => Change::RunQueued(id::<RunId>(row, 5)?),
        ChangeKind::RunStarted => Change::RunStarted(id::<RunId>(row, 5)?),
        ChangeKind::RunEnded => Change::RunEnded(id::<RunId>(row, 5)?),
        ChangeKind::RunUsage => Change::RunUsage(id::<RunId>(row, 5)?),
        ChangeKind::RunStep => Change::RunStep(id::<RunId>(row, 5)?, value(row, 6)?),
        ChangeKind::Permission => Change::Permission(id::<RunId>(row, 5)?, value(row, 6)?),
        ChangeKind::PermissionAsked => Change::PermissionAsked(id::<PermissionId>(row, 9)?),
        ChangeKind::PermissionDecided => Change::PermissionDecided(id::<PermissionId>(row, 9)?),
        ChangeKind::PauseChanged => Change::PauseChanged,
    };
    Ok(LogEntry {
        n: row.get(0)?,
        at: row.get::<_, Time>(1)?.0,
        channel: row.get::<_, Option<i64>>(3)?.map(ChannelId::of),
        change,
    })
}
