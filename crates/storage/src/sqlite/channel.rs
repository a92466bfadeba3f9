//! Channels and the dense sequence of their events (5.5).

use delivery::Timestamp;
use delivery::faults::{Rule, broken};
use delivery::model::{ChannelId, MessageId};
use rusqlite::{Connection, OptionalExtension, Row};

use super::log;
use super::value::{RowId, Time, Word, limit, not_found};
use crate::log::ChangeKind;
use crate::{Access, Channel, ChannelChange, ChannelEvent, ChannelEventKind, ChannelKind, Error};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, direct, created_at, last_seq, access, topic, archived_at, paused_at \
             FROM channel ",
            $rest
        )
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
    kind: ChannelKind<'_>,
    at: Timestamp,
) -> Result<Channel, Error> {
    refuse_taken(db, name)?;
    let (direct, access) = match kind {
        ChannelKind::Public => (None, Access::Public),
        ChannelKind::Private => (None, Access::Private),
        ChannelKind::Direct(handle) => (Some(handle), Access::Private),
    };
    db.prepare_cached("INSERT INTO channel (name, direct, created_at, access) VALUES (?1, ?2, ?3, ?4)")?
        .execute((name, direct, Time(at), Word(access)))?;
    let channel = by_name(db, name)?;
    tell(db, &channel.id, ChangeKind::ChannelAdded, at)?;
    Ok(channel)
}

fn tell(db: &Connection, id: &ChannelId, kind: ChangeKind, at: Timestamp) -> Result<(), Error> {
    log::add(db, at, kind, &log::New { channel: Some(id.row()?), ..Default::default() })
}

pub(super) fn change(
    db: &Connection,
    id: &ChannelId,
    change: &ChannelChange,
    now: Timestamp,
) -> Result<Channel, Error> {
    let old = by_id(db, id)?;
    let row = id.row()?;
    match change {
        ChannelChange::Name(name) if *name == old.name => {}
        ChannelChange::Name(name) => {
            refuse_taken(db, name)?;
            db.prepare_cached("UPDATE channel SET name = ?2 WHERE id = ?1")?.execute((row, name))?;
        }
        ChannelChange::Topic(topic) => {
            db.prepare_cached("UPDATE channel SET topic = ?2 WHERE id = ?1")?.execute((row, topic))?;
        }
        ChannelChange::Access(access) => {
            db.prepare_cached("UPDATE channel SET access = ?2 WHERE id = ?1")?
                .execute((row, Word(access)))?;
        }
        ChannelChange::ArchivedAt(at) => {
            let mut update = db.prepare_cached("UPDATE channel SET archived_at = ?2 WHERE id = ?1")?;
            update.execute((row, at.map(Time)))?;
        }
        ChannelChange::PausedAt(at) => {
            let mut update = db.prepare_cached("UPDATE channel SET paused_at = ?2 WHERE id = ?1")?;
            update.execute((row, at.map(Time)))?;
        }
    }
    let new = by_id(db, id)?;
    match (old.access, new.access) {
        (Access::Public, Access::Private) => tell(db, id, ChangeKind::ChannelClosed, now)?,
        (Access::Public | Access::Private, _) if new == old => {}
        (Access::Public | Access::Private, _) => tell(db, id, ChangeKind::ChannelChanged, now)?,
    }
    Ok(new)
}

fn refuse_taken(db: &Connection, name: &str) -> Result<(), Error> {
    if db.prepare_cached("SELECT 1 FROM channel WHERE name = ?1")?.exists([name])? {
        return Err(Error::Exists { what: "channel", name: name.to_owned() });
    }
    Ok(())
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
    if broken(Rule::TimesGrow) {
        next = db.prepare_cached("SELECT last_seq + 1, ?2 FROM channel WHERE id = ?1")?;
    }
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
        access: row.get::<_, Word<Access>>(5)?.0,
        topic: row.get(6)?,
        archived_at: row.get::<_, Option<Time>>(7)?.map(|at| at.0),
        paused_at: row.get::<_, Option<Time>>(8)?.map(|at| at.0),
    })
}
