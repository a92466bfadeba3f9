//! People, and the one namespace that they share with agents.

use delivery::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

use super::log;
use super::value::{RowId, Time, Word, folded, not_found};
use crate::log::ChangeKind;
use crate::{Error, Person, PersonId, Role};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT p.id, m.name, m.role, m.created_at, p.deactivated_at \
             FROM person p JOIN member m ON m.folded = p.folded ",
            $rest
        )
    };
}

pub(super) fn person(db: &Connection, name: &str) -> Result<Person, Error> {
    let mut rows = db.prepare_cached(select!("WHERE p.folded = ?1 AND m.name = ?2"))?;
    let person = rows.query_row((folded(name), name), read).optional()?;
    person.ok_or_else(|| not_found("person", name))
}

pub(super) fn by_id(db: &Connection, id: &PersonId) -> Result<Person, Error> {
    let mut rows = db.prepare_cached(select!("WHERE p.id = ?1"))?;
    rows.query_row([id.row()?], read).optional()?.ok_or_else(|| not_found("person", &id.0))
}

pub(super) fn people(db: &Connection) -> Result<Vec<Person>, Error> {
    let mut rows = db.prepare_cached(select!("ORDER BY m.name"))?;
    Ok(rows.query_map([], read)?.collect::<Result<_, _>>()?)
}

/// The row number of the person who has this very name now.
pub(super) fn row_of_name(db: &Connection, name: &str) -> Result<Option<i64>, Error> {
    let mut rows = db.prepare_cached(
        "SELECT p.id FROM person p JOIN member m ON m.folded = p.folded WHERE p.folded = ?1 AND m.name = ?2",
    )?;
    Ok(rows.query_row((folded(name), name), |row| row.get(0)).optional()?)
}

/// The person's row number, if they exist.
pub(super) fn existing(db: &Connection, id: &PersonId) -> Result<i64, Error> {
    let mut rows = db.prepare_cached("SELECT id FROM person WHERE id = ?1")?;
    let row = rows.query_row([id.row()?], |row| row.get(0)).optional()?;
    row.ok_or_else(|| not_found("person", &id.0))
}

pub(super) fn add_person(db: &Connection, name: &str, role: Role, at: Timestamp) -> Result<Person, Error> {
    if let Some(taken) = holder(db, name)? {
        return Err(taken.exists());
    }
    add_name(db, name, role, at)?;
    let mut insert = db.prepare_cached("INSERT INTO person (folded) VALUES (?1)")?;
    let row = insert.insert([folded(name)])?;
    tell(db, row, ChangeKind::PersonAdded, at)?;
    by_id(db, &PersonId::of(row))
}

fn tell(db: &Connection, person: i64, kind: ChangeKind, at: Timestamp) -> Result<(), Error> {
    log::add(db, at, kind, &log::New { person: Some(person), ..Default::default() })
}

/// Tells of a change to a person, and gives them as they are now.
fn changed(db: &Connection, old: &Person, at: Timestamp) -> Result<Person, Error> {
    let new = by_id(db, &old.id)?;
    if new != *old {
        tell(db, old.id.row()?, ChangeKind::PersonChanged, at)?;
    }
    Ok(new)
}

/// Gives a person another name; the old one stays theirs.
pub(super) fn rename(db: &Connection, id: &PersonId, name: &str, at: Timestamp) -> Result<Person, Error> {
    let old = by_id(db, id)?;
    let row = id.row()?;
    if folded(&old.name) == folded(name) {
        db.prepare_cached("UPDATE member SET name = ?2 WHERE folded = ?1")?.execute((folded(name), name))?;
        return changed(db, &old, at);
    }
    match holder(db, name)? {
        None => add_name(db, name, old.role, old.created_at)?,
        Some(holder) => {
            let mut own = db.prepare_cached("DELETE FROM former_name WHERE folded = ?1 AND person = ?2")?;
            if own.execute((folded(name), row))? == 0 {
                return Err(holder.exists());
            }
            let mut update = db.prepare_cached(
                "UPDATE member SET name = ?2, role = ?3, created_at = ?4 WHERE folded = ?1",
            )?;
            update.execute((folded(name), name, Word(old.role), Time(old.created_at)))?;
        }
    }
    put_former_name(db, row, &old.name)?;
    db.prepare_cached("UPDATE person SET folded = ?2 WHERE id = ?1")?.execute((row, folded(name)))?;
    changed(db, &old, at)
}

/// Names that a person had before, in order.
pub(super) fn former_names(db: &Connection, id: &PersonId) -> Result<Vec<String>, Error> {
    let mut rows = db.prepare_cached(
        "SELECT m.name FROM former_name f JOIN member m ON m.folded = f.folded WHERE f.person = ?1 ORDER BY m.name",
    )?;
    Ok(rows.query_map([existing(db, id)?], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Gives a person a free name as one that they had before.
pub(super) fn add_former_name(db: &Connection, id: &PersonId, name: &str) -> Result<(), Error> {
    let person = by_id(db, id)?;
    add_name(db, name, person.role, person.created_at)?;
    put_former_name(db, id.row()?, name)
}

fn put_former_name(db: &Connection, person: i64, name: &str) -> Result<(), Error> {
    db.prepare_cached("INSERT INTO former_name (folded, person) VALUES (?1, ?2)")?
        .execute((folded(name), person))?;
    Ok(())
}

pub(super) fn set_role(db: &Connection, id: &PersonId, role: Role, at: Timestamp) -> Result<Person, Error> {
    let old = by_id(db, id)?;
    let mut update = db.prepare_cached(
        "UPDATE member SET role = ?2 WHERE folded = (SELECT folded FROM person WHERE id = ?1)",
    )?;
    update.execute((id.row()?, Word(role)))?;
    changed(db, &old, at)
}

pub(super) fn set_deactivated(
    db: &Connection,
    id: &PersonId,
    off: Option<Timestamp>,
    at: Timestamp,
) -> Result<Person, Error> {
    let old = by_id(db, id)?;
    let mut update = db.prepare_cached("UPDATE person SET deactivated_at = ?2 WHERE id = ?1")?;
    update.execute((id.row()?, off.map(Time)))?;
    changed(db, &old, at)
}

pub(super) fn password(db: &Connection, id: &PersonId) -> Result<Option<String>, Error> {
    let mut rows = db.prepare_cached("SELECT password FROM person WHERE id = ?1")?;
    Ok(rows.query_row([existing(db, id)?], |row| row.get(0))?)
}

pub(super) fn set_password(db: &Connection, id: &PersonId, hash: &str) -> Result<(), Error> {
    let mut update = db.prepare_cached("UPDATE person SET password = ?2 WHERE id = ?1")?;
    update.execute((existing(db, id)?, hash))?;
    Ok(())
}

/// Who has a name, in any spelling.
pub(super) struct Holder {
    pub(super) kind: HolderKind,
    name: String,
}

pub(super) enum HolderKind {
    Person,
    Agent,
}

impl Holder {
    /// The error of one who wants the name.
    pub(super) fn exists(self) -> Error {
        let what = match self.kind {
            HolderKind::Person => "person",
            HolderKind::Agent => "agent",
        };
        Error::Exists { what, name: self.name }
    }
}

pub(super) fn holder(db: &Connection, name: &str) -> Result<Option<Holder>, Error> {
    let mut rows = db.prepare_cached("SELECT kind = 'person', name FROM member WHERE folded = ?1")?;
    let holder = rows.query_row([folded(name)], |row| {
        let kind = if row.get(0)? { HolderKind::Person } else { HolderKind::Agent };
        Ok(Holder { kind, name: row.get(1)? })
    });
    Ok(holder.optional()?)
}

pub(super) fn add_agent(db: &Connection, handle: &str, at: Timestamp) -> Result<(), Error> {
    let mut insert = db.prepare_cached("INSERT INTO member VALUES (?1, ?2, 'agent', NULL, ?3)")?;
    insert.execute((folded(handle), handle, Time(at)))?;
    Ok(())
}

fn add_name(db: &Connection, name: &str, role: Role, at: Timestamp) -> Result<(), Error> {
    let mut insert = db.prepare_cached("INSERT INTO member VALUES (?1, ?2, 'person', ?3, ?4)")?;
    insert.execute((folded(name), name, Word(role), Time(at)))?;
    Ok(())
}

/// Reads a person from a row that begins with the columns of `select!`.
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Person> {
    Ok(Person {
        id: PersonId::of(row.get(0)?),
        name: row.get(1)?,
        role: row.get::<_, Word<Role>>(2)?.0,
        created_at: row.get::<_, Time>(3)?.0,
        deactivated_at: row.get::<_, Option<Time>>(4)?.map(|at| at.0),
    })
}
