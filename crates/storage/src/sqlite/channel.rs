//! Channels and the dense sequence of their events (5.5).

use delivery::Timestamp;
use delivery::model::{ChannelId, MessageId};
use rusqlite::{Connection, OptionalExtension, Row};

use super::log;
use super::value::{RowId, Time, Word, limit, not_found};
use crate::log::ChangeKind;
use crate::{Channel, ChannelEvent, ChannelEventKind, Error};

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT id, name, direct, created_at, last_seq FROM channel ", $rest)
    };
}

pub(super) fn by_name(db: &Connection, name: &str) -> Result<Channel, Error> {
    let mut rows = db.prepare_cached(select!("WHERE name = ?1"))?;
    rows.query_row([name], read).optional()?.ok_or_else(|| not_found("channel", name))
}

pub(super) fn by_id(db: &Connection, id: &ChannelId) -> Result<Channel, Error> {
    let mut rows = db.prepare_cached(select!("WHERE id = ?1"))?;
    rows.query_row([id.row()?], read).optional()?.ok_or_else(|| not_found("channel", id.as_str()))
}

pub(super) fn all(db: &Connection) -> Result<Vec<Channel>, Error> {
    let mut rows = db.prepare_cached(select!("ORDER BY name"))?;
    Ok(rows.query_map([], read)?.collect::<Result<_, _>>()?)
}

/// The channel's row number, if it exists.
pub(super) fn existing(db: &Connection, id: &ChannelId) -> Result<i64, Error> {
    let mut rows = db.prepare_cached("SELECT id FROM channel WHERE id = ?1")?;
    let row = rows.query_row([id.row()?], |row| row.get(0)).optional()?;
    row.ok_or_else(|| not_found("channel", id.as_str()))
}

pub(super) fn add(
    db: &Connection,
    name: &str,
    direct: Option<&str>,
    at: Timestamp,
) -> Result<Channel, Error> {
    let mut taken = db.prepare_cached("SELECT 1 FROM channel WHERE name = ?1")?;
    if taken.exists([name])? {
        return Err(Error::Exists { what: "channel", name: name.to_owned() });
    }
    db.prepare_cached("INSERT INTO channel (name, direct, created_at) VALUES (?1, ?2, ?3)")?.execute((
        name,
        direct,
        Time(at),
    ))?;
    let channel = by_name(db, name)?;
    let new = log::New { channel: Some(channel.id.row()?), ..Default::default() };
    log::add(db, at, ChangeKind::ChannelAdded, &new)?;
    Ok(channel)
}

/// The next number of a channel's sequence, and the time of its event: `at`, or one past the newest.
pub(super) fn next_event(
    db: &Connection,
    channel: i64,
    at: Timestamp,
) -> Result<Option<(u64, Timestamp)>, Error> {
    // Not one `UPDATE … RETURNING`: SQLite guards that by a savepoint, at which the search index writes a segment for
    // each message of a transaction instead of one for all.
    let mut next =
        db.prepare_cached("SELECT last_seq + 1, max(?2, last_at + 1) FROM channel WHERE id = ?1")?;
    let next = next.query_row((channel, Time(at)), |row| Ok((row.get(0)?, row.get::<_, Time>(1)?.0)));
    let Some((seq, at)) = next.optional()? else { return Ok(None) };
    db.prepare_cached("UPDATE channel SET last_seq = ?2, last_at = ?3 WHERE id = ?1")?.execute((
        channel,
        seq,
        Time(at),
    ))?;
    Ok(Some((seq, at)))
}

pub(super) fn add_event(
    db: &Connection,
    channel: i64,
    (seq, at): (u64, Timestamp),
    kind: ChannelEventKind,
    message: i64,
) -> Result<(), Error> {
    db.prepare_cached("INSERT INTO event (channel, seq, at, kind, message) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute((channel, seq, Time(at), Word(kind), message))?;
    let change = match kind {
        ChannelEventKind::Message | ChannelEventKind::Notice => ChangeKind::MessageAdded,
        ChannelEventKind::Edit => ChangeKind::MessageEdited,
        ChannelEventKind::Deletion => ChangeKind::MessageDeleted,
    };
    let new = log::New { channel: Some(channel), message: Some(message), ..Default::default() };
    log::add(db, at, change, &new)
}

pub(super) fn events(
    db: &Connection,
    channel: &ChannelId,
    after: u64,
    events_max: usize,
) -> Result<Vec<ChannelEvent>, Error> {
    let row = existing(db, channel)?;
    // A number that no sequence reaches has nothing after it.
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let mut rows = db.prepare_cached(
        "SELECT seq, at, kind, message FROM event WHERE channel = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    )?;
    let events = rows.query_map((row, after, limit(events_max)), |row| {
        Ok(ChannelEvent {
            channel: channel.clone(),
            seq: row.get(0)?,
            at: row.get::<_, Time>(1)?.0,
            kind: row.get::<_, Word<ChannelEventKind>>(2)?.0,
            message: MessageId::of(row.get(3)?),
        })
    })?;
    Ok(events.collect::<Result<_, _>>()?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Channel> {
    Ok(Channel {
        id: ChannelId::of(row.get(0)?),
        name: row.get(1)?,
        direct: row.get(2)?,
        created_at: row.get::<_, Time>(3)?.0,
        last_seq: row.get(4)?,
    })
}
