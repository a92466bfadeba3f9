//! Permission cards: asked, decided.

use delivery::Timestamp;
use delivery::model::{BindingId, ChannelId, Key, MessageId, RunId};
use rusqlite::{Connection, OptionalExtension, Row};

use super::reader::Connected;
use super::value::{Json, RowId, Time, Word, limit, not_found, rows_json};
use super::{Sqlite, binding, log, member, run};
use crate::log::ChangeKind;
use crate::{
    Asked, Binding, Decider, Decision, Error, Outcome, Permission, PermissionId, PermissionRules, PersonId,
    ReadPermission, RunStatus, StorePermission, Which,
};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT p.id, p.run, r.channel, b.name, r.message, m.thread, p.asked, p.asked_at, p.until, p.outcome, \
             p.option, p.person, p.name, p.why, p.decided_at \
             FROM permission p JOIN run r ON r.id = p.run JOIN binding b ON b.id = r.binding \
             JOIN message m ON m.id = r.message ",
            $rest
        )
    };
}

impl<T: Connected> ReadPermission for T {
    fn permission(&self, id: &PermissionId) -> Result<Permission, Error> {
        by_id(self.connection(), id)
    }

    fn permissions_of_run(&self, run: &RunId) -> Result<Vec<Permission>, Error> {
        self.at_once(|db| of_run(db, run))
    }

    fn permissions_in(
        &self,
        channels: &[ChannelId],
        which: Which,
        limit: usize,
    ) -> Result<Vec<Permission>, Error> {
        newest_in(self.connection(), channels, which, limit)
    }

    fn pending_permissions(&self) -> Result<Vec<Permission>, Error> {
        pending(self.connection())
    }
}

impl StorePermission for Sqlite {
    fn ask_permission(
        &mut self,
        run: &RunId,
        asked: &Asked,
        until: Timestamp,
        at: Timestamp,
    ) -> Result<Permission, Error> {
        self.write(|db| ask(db, run, asked, until, at))
    }

    fn decide_permission(&mut self, id: &PermissionId, decision: &Decision) -> Result<bool, Error> {
        self.write(|db| decide(db, id, decision))
    }

    fn set_permission_rules(
        &mut self,
        id: &BindingId,
        rules: &PermissionRules,
        at: Timestamp,
    ) -> Result<Binding, Error> {
        self.write(|db| binding::set_permissions(db, id, rules, at))
    }
}

fn by_id(db: &Connection, id: &PermissionId) -> Result<Permission, Error> {
    let mut rows = db.prepare_cached(select!("WHERE p.id = ?1"))?;
    let found = rows.query_row([id.row()?], read).optional()?;
    found.ok_or_else(|| not_found("permission", &id.0))
}

fn of_run(db: &Connection, id: &RunId) -> Result<Vec<Permission>, Error> {
    let mut rows = db.prepare_cached(select!("WHERE p.run = ?1 ORDER BY p.id"))?;
    let found = rows.query_map([run::existing(db, id)?], read)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn newest_in(
    db: &Connection,
    channels: &[ChannelId],
    which: Which,
    permissions_max: usize,
) -> Result<Vec<Permission>, Error> {
    let mut rows = match which {
        Which::All => db.prepare_cached(select!(
            "WHERE r.channel IN (SELECT value FROM json_each(?1)) ORDER BY p.id DESC LIMIT ?2"
        ))?,
        Which::Pending => db.prepare_cached(select!(
            "WHERE p.outcome IS NULL AND r.channel IN (SELECT value FROM json_each(?1)) ORDER BY p.id DESC LIMIT ?2"
        ))?,
    };
    let found = rows.query_map((rows_json(channels), limit(permissions_max)), read)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn pending(db: &Connection) -> Result<Vec<Permission>, Error> {
    let mut rows = db.prepare_cached(select!("WHERE p.outcome IS NULL ORDER BY p.id"))?;
    Ok(rows.query_map([], read)?.collect::<Result<_, _>>()?)
}

fn ask(
    db: &Connection,
    id: &RunId,
    asked: &Asked,
    until: Timestamp,
    at: Timestamp,
) -> Result<Permission, Error> {
    let row = run::existing(db, id)?;
    let mut place = db.prepare_cached("SELECT channel, status FROM run WHERE id = ?1")?;
    let (channel, status) =
        place.query_row([row], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Word<RunStatus>>(1)?.0)))?;
    if status != RunStatus::Running {
        return Err(Error::Conflict(format!("run {id} is not running")));
    }
    let mut insert =
        db.prepare_cached("INSERT INTO permission (run, asked, asked_at, until) VALUES (?1, ?2, ?3, ?4)")?;
    let permission = insert.insert((row, Json(asked), Time(at), Time(until)))?;
    tell(db, (channel, row, permission), ChangeKind::PermissionAsked, at)?;
    by_id(db, &PermissionId::of(permission))
}

fn decide(db: &Connection, id: &PermissionId, decision: &Decision) -> Result<bool, Error> {
    let permission = by_id(db, id)?;
    if permission.decision.is_some() {
        return Ok(false);
    }
    let person = decision.by.as_ref().map(|by| member::existing(db, &by.person)).transpose()?;
    let mut update = db.prepare_cached(
        "UPDATE permission SET outcome = ?2, option = ?3, person = ?4, name = ?5, why = ?6, decided_at = ?7
         WHERE id = ?1",
    )?;
    let row = id.row()?;
    update.execute((
        row,
        Word(decision.outcome),
        decision.option,
        person,
        decision.by.as_ref().map(|by| &by.name),
        &decision.why,
        Time(decision.at),
    ))?;
    let place = (permission.key.channel.row()?, permission.run.row()?, row);
    tell(db, place, ChangeKind::PermissionDecided, decision.at)?;
    Ok(true)
}

fn tell(
    db: &Connection,
    (channel, run, permission): (i64, i64, i64),
    kind: ChangeKind,
    at: Timestamp,
) -> Result<(), Error> {
    let new = log::New {
        channel: Some(channel),
        run: Some(run),
        permission: Some(permission),
        ..Default::default()
    };
    log::add(db, at, kind, &new)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Permission> {
    let outcome: Option<Word<Outcome>> = row.get(9)?;
    let decision = match (outcome, row.get::<_, Option<Time>>(14)?) {
        (Some(Word(outcome)), Some(Time(at))) => {
            let by: (Option<i64>, Option<String>) = (row.get(11)?, row.get(12)?);
            Some(Decision {
                outcome,
                option: row.get(10)?,
                by: match by {
                    (Some(person), Some(name)) => Some(Decider { person: PersonId::of(person), name }),
                    (None, _) | (_, None) => None,
                },
                why: row.get(13)?,
                at,
            })
        }
        (None, _) | (_, None) => None,
    };
    Ok(Permission {
        id: PermissionId::of(row.get(0)?),
        run: RunId::of(row.get(1)?),
        key: Key { channel: ChannelId::of(row.get(2)?), binding: BindingId(row.get(3)?) },
        message: MessageId::of(row.get(4)?),
        thread: row.get::<_, Option<i64>>(5)?.map(MessageId::of),
        asked: row.get::<_, Json<_>>(6)?.0,
        asked_at: row.get::<_, Time>(7)?.0,
        until: row.get::<_, Time>(8)?.0,
        decision,
    })
}
