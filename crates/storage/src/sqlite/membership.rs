//! Which people are in which channels.

use delivery::Timestamp;
use delivery::model::ChannelId;
use rusqlite::{Connection, OptionalExtension};

use super::value::{RowId, Time, Word};
use super::{channel, log, member};
use crate::log::ChangeKind;
use crate::{ChannelMember, Error, Membership, PersonId, Rank};

pub(super) fn of_person(db: &Connection, person: &PersonId) -> Result<Vec<Membership>, Error> {
    let mut rows =
        db.prepare_cached("SELECT channel, rank FROM membership WHERE person = ?1 ORDER BY channel")?;
    let found = rows.query_map([member::existing(db, person)?], |row| {
        Ok(Membership { channel: ChannelId::of(row.get(0)?), rank: row.get::<_, Word<Rank>>(1)?.0 })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn rank(db: &Connection, channel: &ChannelId, person: &PersonId) -> Result<Option<Rank>, Error> {
    let mut rows = db.prepare_cached("SELECT rank FROM membership WHERE channel = ?1 AND person = ?2")?;
    let rank = rows.query_row((channel.row()?, person.row()?), |row| Ok(row.get::<_, Word<Rank>>(0)?.0));
    Ok(rank.optional()?)
}

pub(super) fn of_channel(db: &Connection, channel: &ChannelId) -> Result<Vec<ChannelMember>, Error> {
    let mut rows = db.prepare_cached(
        "SELECT p.id, m.name, m.role, m.created_at, p.deactivated_at, s.rank, s.since
         FROM membership s JOIN person p ON p.id = s.person JOIN member m ON m.folded = p.folded
         WHERE s.channel = ?1 ORDER BY m.name",
    )?;
    let found = rows.query_map([channel::existing(db, channel)?], |row| {
        Ok(ChannelMember {
            person: member::read(row)?,
            rank: row.get::<_, Word<Rank>>(5)?.0,
            since: row.get::<_, Time>(6)?.0,
        })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn add(
    db: &Connection,
    channel: &ChannelId,
    person: &PersonId,
    rank: Rank,
    at: Timestamp,
) -> Result<(), Error> {
    let (channel, person) = (channel::existing(db, channel)?, member::existing(db, person)?);
    let mut insert = db.prepare_cached(
        "INSERT INTO membership (channel, person, rank, since) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
    )?;
    if insert.execute((channel, person, Word(rank), Time(at)))? == 0 {
        return Ok(());
    }
    tell(db, channel, person, ChangeKind::MemberAdded, at)
}

/// Makes a person a member with this rank and since then, whatever they were before.
pub(super) fn put(
    db: &Connection,
    channel: &ChannelId,
    person: &PersonId,
    (rank, since): (Rank, Timestamp),
    at: Timestamp,
) -> Result<(), Error> {
    let (channel, person) = (channel::existing(db, channel)?, member::existing(db, person)?);
    let mut put = db.prepare_cached(
        "INSERT OR REPLACE INTO membership (channel, person, rank, since) VALUES (?1, ?2, ?3, ?4)",
    )?;
    put.execute((channel, person, Word(rank), Time(since)))?;
    tell(db, channel, person, ChangeKind::MemberAdded, at)
}

fn tell(db: &Connection, channel: i64, person: i64, kind: ChangeKind, at: Timestamp) -> Result<(), Error> {
    log::add(db, at, kind, &log::New { channel: Some(channel), person: Some(person), ..Default::default() })
}

pub(super) fn remove(
    db: &Connection,
    channel: &ChannelId,
    person: &PersonId,
    at: Timestamp,
) -> Result<(), Error> {
    let (channel, person) = (channel::existing(db, channel)?, member::existing(db, person)?);
    let mut delete = db.prepare_cached("DELETE FROM membership WHERE channel = ?1 AND person = ?2")?;
    if delete.execute((channel, person))? == 0 {
        return Ok(());
    }
    tell(db, channel, person, ChangeKind::MemberRemoved, at)
}
