//! Bindings: an agent's membership of one channel.

use delivery::model::{BindingId, ChannelId, Key, SessionPolicy};
use delivery::{Policy, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row};

use super::member::{self, HolderKind};
use super::value::{Json, RowId, Time, Word, folded, key_text, not_found};
use super::{channel, log};
use crate::log::ChangeKind;
use crate::{AddressedBy, Binding, Error, NewBinding, OwnLimits, PermissionRules};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT name, channel, handle, preset, command, delivery, session, supervised, env, model, cwd, \
             instructions, created_at, removed_at, addressed_by, when_cold, permissions, inactivity_ms, \
             turn_ms, memory_max, profile FROM binding ",
            $rest
        )
    };
}

pub(super) fn by_id(db: &Connection, id: &BindingId) -> Result<Binding, Error> {
    let mut rows = db.prepare_cached(select!("WHERE name = ?1"))?;
    let binding = rows.query_row([id.as_str()], read).optional()?;
    binding.ok_or_else(|| not_found("binding", id.as_str()))
}

/// Those of a channel, or all, that were not removed, by handle.
pub(super) fn bound(db: &Connection, channel: Option<&ChannelId>) -> Result<Vec<Binding>, Error> {
    let Some(channel) = channel else {
        let mut rows = db.prepare_cached(select!("WHERE removed_at IS NULL ORDER BY folded, id"))?;
        return Ok(rows.query_map([], read)?.collect::<Result<_, _>>()?);
    };
    let mut rows = db.prepare_cached(select!("WHERE channel = ?1 AND removed_at IS NULL ORDER BY folded"))?;
    Ok(rows.query_map([channel::existing(db, channel)?], read)?.collect::<Result<_, _>>()?)
}

/// All that a channel ever had, oldest first.
pub(super) fn ever(db: &Connection, channel: &ChannelId) -> Result<Vec<Binding>, Error> {
    let mut rows = db.prepare_cached(select!("WHERE channel = ?1 ORDER BY id"))?;
    Ok(rows.query_map([channel::existing(db, channel)?], read)?.collect::<Result<_, _>>()?)
}

/// Row numbers of a key's channel and binding; the binding must be one of that channel.
pub(super) fn of_key(db: &Connection, key: &Key) -> Result<(i64, i64), Error> {
    let missing = || not_found("binding", &key_text(key));
    let channel = key.channel.row().map_err(|_| missing())?;
    let mut rows = db.prepare_cached("SELECT id FROM binding WHERE name = ?1 AND channel = ?2")?;
    let binding = rows.query_row((key.binding.as_str(), channel), |row| row.get(0)).optional()?;
    binding.map(|binding| (channel, binding)).ok_or_else(missing)
}

/// The binding's row number, if it exists.
pub(super) fn existing(db: &Connection, id: &BindingId) -> Result<i64, Error> {
    let mut rows = db.prepare_cached("SELECT id FROM binding WHERE name = ?1")?;
    let row = rows.query_row([id.as_str()], |row| row.get(0)).optional()?;
    row.ok_or_else(|| not_found("binding", id.as_str()))
}

pub(super) fn add(db: &Connection, new: &NewBinding, at: Timestamp) -> Result<Binding, Error> {
    let channel = channel::existing(db, &new.channel)?;
    let mut taken =
        db.prepare_cached("SELECT 1 FROM binding WHERE channel = ?1 AND folded = ?2 AND removed_at IS NULL")?;
    if taken.exists((channel, folded(&new.handle)))? {
        return Err(Error::Exists { what: "handle", name: new.handle.clone() });
    }
    match member::holder(db, &new.handle)? {
        None => member::add_agent(db, &new.handle, at)?,
        Some(holder) => match holder.kind {
            HolderKind::Agent => {}
            HolderKind::Person => return Err(holder.exists()),
        },
    }
    let id = free_id(db, &new.handle)?;
    insert(db, &id, channel, new, at)?;
    tell(db, &id, ChangeKind::AgentAdded, at)?;
    by_id(db, &id)
}

pub(super) fn remove(db: &Connection, id: &BindingId, at: Timestamp) -> Result<(), Error> {
    let binding = existing(db, id)?;
    let mut remove =
        // Its environment may hold secrets; nothing needs them any more.
        db.prepare_cached("UPDATE binding SET removed_at = ?2, env = '[]' WHERE id = ?1 AND removed_at IS NULL")?;
    if remove.execute((binding, Time(at)))? == 0 {
        return Err(Error::Conflict(format!("binding {id} was removed already")));
    }
    tell(db, id, ChangeKind::AgentRemoved, at)
}

/// Decides the binding's permission requests by other rules; the same ones change nothing.
pub(super) fn set_permissions(
    db: &Connection,
    id: &BindingId,
    rules: &PermissionRules,
    at: Timestamp,
) -> Result<Binding, Error> {
    let old = by_id(db, id)?;
    if old.removed_at.is_some() {
        return Err(Error::Conflict(format!("binding {id} was removed")));
    }
    if old.spec.permissions != *rules {
        let mut update = db.prepare_cached("UPDATE binding SET permissions = ?2 WHERE name = ?1")?;
        update.execute((id.as_str(), Json(rules)))?;
        tell(db, id, ChangeKind::AgentChanged, at)?;
    }
    by_id(db, id)
}

/// Gives the binding these limits of its own; the same ones change nothing.
pub(super) fn set_limits(
    db: &Connection,
    id: &BindingId,
    limits: &OwnLimits,
    at: Timestamp,
) -> Result<Binding, Error> {
    let old = by_id(db, id)?;
    if old.removed_at.is_some() {
        return Err(Error::Conflict(format!("binding {id} was removed")));
    }
    if old.spec.limits != *limits {
        let mut update = db.prepare_cached(
            "UPDATE binding SET inactivity_ms = ?2, turn_ms = ?3, memory_max = ?4 WHERE name = ?1",
        )?;
        update.execute((id.as_str(), limits.inactivity_ms, limits.turn_ms, limits.memory_bytes))?;
        tell(db, id, ChangeKind::AgentChanged, at)?;
    }
    by_id(db, id)
}

/// Gives the binding what can be changed of a spec; the same changes nothing.
pub(super) fn set_spec(
    db: &Connection,
    id: &BindingId,
    spec: &NewBinding,
    at: Timestamp,
) -> Result<Binding, Error> {
    let old = by_id(db, id)?;
    if old.removed_at.is_some() {
        return Err(Error::Conflict(format!("binding {id} was removed")));
    }
    let mut update = db.prepare_cached(
        "UPDATE binding SET profile = ?2, delivery = ?3, session = ?4, when_cold = ?5, env = ?6, model = ?7,
             instructions = ?8, addressed_by = ?9
         WHERE name = ?1",
    )?;
    update.execute((
        id.as_str(),
        Word(spec.profile),
        Word(spec.delivery),
        Word(spec.session),
        Word(spec.when_cold),
        Json(&spec.env),
        &spec.model,
        &spec.instructions,
        Word(spec.addressed_by),
    ))?;
    let new = by_id(db, id)?;
    if new != old {
        tell(db, id, ChangeKind::AgentChanged, at)?;
    }
    Ok(new)
}

fn tell(db: &Connection, id: &BindingId, kind: ChangeKind, at: Timestamp) -> Result<(), Error> {
    let mut rows = db.prepare_cached("SELECT id, channel FROM binding WHERE name = ?1")?;
    let (binding, channel) = rows.query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    log::add(db, at, kind, &log::New { binding: Some(binding), channel: Some(channel), ..Default::default() })
}

/// `b-claude`, or with the smallest free number from 2.
fn free_id(db: &Connection, handle: &str) -> Result<BindingId, Error> {
    let mut taken = db.prepare_cached("SELECT 1 FROM binding WHERE name = ?1")?;
    let mut id = format!("b-{handle}");
    let mut number = 1_u64;
    while taken.exists([&id])? {
        number += 1;
        id = format!("b-{handle}-{number}");
    }
    Ok(BindingId(id))
}

fn insert(
    db: &Connection,
    id: &BindingId,
    channel: i64,
    new: &NewBinding,
    at: Timestamp,
) -> Result<(), Error> {
    let mut insert = db.prepare_cached(
        "INSERT INTO binding (name, channel, folded, handle, preset, command, delivery, session, supervised, env,
             model, cwd, instructions, created_at, addressed_by, when_cold, permissions, inactivity_ms, turn_ms,
             memory_max, profile)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)",
    )?;
    insert.execute(rusqlite::params![
        id.as_str(),
        channel,
        folded(&new.handle),
        new.handle,
        new.preset,
        Json(&new.command),
        Word(new.delivery),
        Word(new.session),
        new.supervised,
        Json(&new.env),
        new.model,
        new.cwd,
        new.instructions,
        Time(at),
        Word(new.addressed_by),
        Word(new.when_cold),
        Json(&new.permissions),
        new.limits.inactivity_ms,
        new.limits.turn_ms,
        new.limits.memory_bytes,
        Word(new.profile),
    ])?;
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<Binding> {
    Ok(Binding {
        id: BindingId(row.get(0)?),
        spec: NewBinding {
            channel: ChannelId::of(row.get(1)?),
            handle: row.get(2)?,
            preset: row.get(3)?,
            profile: row.get::<_, Word<_>>(20)?.0,
            command: row.get::<_, Json<_>>(4)?.0,
            delivery: row.get::<_, Word<Policy>>(5)?.0,
            session: row.get::<_, Word<SessionPolicy>>(6)?.0,
            when_cold: row.get::<_, Word<_>>(15)?.0,
            supervised: row.get(7)?,
            env: row.get::<_, Json<_>>(8)?.0,
            model: row.get(9)?,
            cwd: row.get(10)?,
            instructions: row.get(11)?,
            addressed_by: row.get::<_, Word<AddressedBy>>(14)?.0,
            permissions: row.get::<_, Json<_>>(16)?.0,
            limits: OwnLimits {
                inactivity_ms: row.get(17)?,
                turn_ms: row.get(18)?,
                memory_bytes: row.get(19)?,
            },
        },
        created_at: row.get::<_, Time>(12)?.0,
        removed_at: row.get::<_, Option<Time>>(13)?.map(|at| at.0),
    })
}
