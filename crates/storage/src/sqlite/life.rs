//! The part of the contract that is about how runs wait, on SQLite.

use delivery::Timestamp;
use delivery::model::{BindingId, ChannelId, Key, RunId};
use rusqlite::{Connection, OptionalExtension, Row};

use super::reader::Connected;
use super::value::{RowId, Time, Word};
use super::{Sqlite, binding, log, run};
use crate::log::ChangeKind;
use crate::{Again, Binding, Error, Hold, HoldReason, NewBinding, OwnLimits, ReadLife, StoreLife};

impl<T: Connected> ReadLife for T {
    fn hold(&self, id: &BindingId) -> Result<Option<Hold>, Error> {
        hold_of(self.connection(), binding::existing(self.connection(), id)?)
    }

    fn holds(&self) -> Result<Vec<(Key, Hold)>, Error> {
        let mut rows = self.connection().prepare_cached(
            "SELECT h.why, h.run, h.since, b.channel, b.name FROM hold h JOIN binding b ON b.id = h.binding
             WHERE b.removed_at IS NULL ORDER BY b.id",
        )?;
        let holds = rows.query_map([], |row| {
            let key = Key { channel: ChannelId::of(row.get(3)?), binding: BindingId(row.get(4)?) };
            Ok((key, read(row)?))
        })?;
        Ok(holds.collect::<Result<_, _>>()?)
    }

    fn paused_at(&self) -> Result<Option<Timestamp>, Error> {
        paused(self.connection())
    }
}

impl StoreLife for Sqlite {
    fn wait_run(&mut self, id: &RunId, again: &Again, at: Timestamp) -> Result<(), Error> {
        self.write(|db| run::wait(db, id, again, at))
    }

    fn set_hold(&mut self, key: &Key, hold: Option<&Hold>, at: Timestamp) -> Result<(), Error> {
        self.write(|db| set_hold(db, key, hold, at))
    }

    fn set_paused(&mut self, since: Option<Timestamp>, at: Timestamp) -> Result<(), Error> {
        self.write(|db| set_paused(db, since, at))
    }

    fn set_limits(&mut self, id: &BindingId, limits: &OwnLimits, at: Timestamp) -> Result<Binding, Error> {
        self.write(|db| binding::set_limits(db, id, limits, at))
    }

    fn set_spec(&mut self, id: &BindingId, spec: &NewBinding, at: Timestamp) -> Result<Binding, Error> {
        self.write(|db| binding::set_spec(db, id, spec, at))
    }
}

fn hold_of(db: &Connection, binding: i64) -> Result<Option<Hold>, Error> {
    let mut rows = db.prepare_cached("SELECT why, run, since FROM hold WHERE binding = ?1")?;
    Ok(rows.query_row([binding], read).optional()?)
}

fn set_hold(db: &Connection, key: &Key, hold: Option<&Hold>, at: Timestamp) -> Result<(), Error> {
    let (channel, binding) = binding::of_key(db, key)?;
    if hold_of(db, binding)?.as_ref() == hold {
        return Ok(());
    }
    match hold {
        Some(hold) => db.prepare_cached("INSERT OR REPLACE INTO hold VALUES (?1, ?2, ?3, ?4)")?.execute((
            binding,
            Word(hold.why),
            run::existing(db, &hold.run)?,
            Time(hold.since),
        ))?,
        None => db.prepare_cached("DELETE FROM hold WHERE binding = ?1")?.execute([binding])?,
    };
    let changed = log::New { channel: Some(channel), binding: Some(binding), ..Default::default() };
    log::add(db, at, ChangeKind::AgentChanged, &changed)
}

fn paused(db: &Connection) -> Result<Option<Timestamp>, Error> {
    let mut rows = db.prepare_cached("SELECT since FROM pause")?;
    Ok(rows.query_row([], |row| row.get::<_, Time>(0)).optional()?.map(|since| since.0))
}

fn set_paused(db: &Connection, since: Option<Timestamp>, at: Timestamp) -> Result<(), Error> {
    if paused(db)? == since {
        return Ok(());
    }
    db.prepare_cached("DELETE FROM pause")?.execute([])?;
    if let Some(since) = since {
        db.prepare_cached("INSERT INTO pause VALUES (?1)")?.execute([Time(since)])?;
    }
    log::add(db, at, ChangeKind::PauseChanged, &log::New::default())
}

fn read(row: &Row<'_>) -> rusqlite::Result<Hold> {
    Ok(Hold {
        why: row.get::<_, Word<HoldReason>>(0)?.0,
        run: RunId::of(row.get(1)?),
        since: row.get::<_, Time>(2)?.0,
    })
}
