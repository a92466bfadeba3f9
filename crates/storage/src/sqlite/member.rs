//! People, and the one namespace that they share with agents.

use delivery::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

use super::log;
use super::value::{Time, Word, folded, not_found};
use crate::log::ChangeKind;
use crate::{Error, Person, Role};

pub(super) fn person(db: &Connection, name: &str) -> Result<Person, Error> {
    let mut rows = db.prepare_cached(
        "SELECT name, role, created_at FROM member WHERE folded = ?1 AND name = ?2 AND kind = 'person'",
    )?;
    let person = rows.query_row((folded(name), name), read).optional()?;
    person.ok_or_else(|| not_found("person", name))
}

pub(super) fn people(db: &Connection) -> Result<Vec<Person>, Error> {
    let mut rows =
        db.prepare_cached("SELECT name, role, created_at FROM member WHERE kind = 'person' ORDER BY name")?;
    Ok(rows.query_map([], read)?.collect::<Result<_, _>>()?)
}

pub(super) fn add_person(db: &Connection, name: &str, role: Role, at: Timestamp) -> Result<Person, Error> {
    if let Some(taken) = holder(db, name)? {
        return Err(taken.exists());
    }
    let mut insert = db.prepare_cached("INSERT INTO member VALUES (?1, ?2, 'person', ?3, ?4)")?;
    insert.execute((folded(name), name, Word(role), Time(at)))?;
    let new = log::New { person: Some(name), ..Default::default() };
    log::add(db, at, ChangeKind::PersonAdded, &new)?;
    Ok(Person { name: name.to_owned(), role, created_at: at })
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

fn read(row: &Row<'_>) -> rusqlite::Result<Person> {
    Ok(Person {
        name: row.get(0)?,
        role: row.get::<_, Word<Role>>(1)?.0,
        created_at: row.get::<_, Time>(2)?.0,
    })
}
