//! Tokens, sign-ins and one-time links, by the hashes of their secrets.

use delivery::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

use super::value::{Json, RowId, Time, Word, not_found};
use super::{log, member};
use crate::log::ChangeKind;
use crate::{Credential, CredentialId, CredentialKind, Error, NewCredential, PersonId};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, kind, proof, person, label, scopes, created_at, expires_at, ended_at FROM credential ",
            $rest
        )
    };
}

pub(super) fn by_hash(db: &Connection, hash: &str) -> Result<Option<Credential>, Error> {
    let mut rows = db.prepare_cached(select!("WHERE hash = ?1"))?;
    Ok(rows.query_row([hash], read).optional()?)
}

pub(super) fn by_id(db: &Connection, id: &CredentialId) -> Result<Credential, Error> {
    let mut rows = db.prepare_cached(select!("WHERE id = ?1"))?;
    rows.query_row([id.row()?], read).optional()?.ok_or_else(|| not_found("token", &id.0))
}

pub(super) fn all(db: &Connection, person: Option<&PersonId>) -> Result<Vec<Credential>, Error> {
    let person = person.map(|person| member::existing(db, person)).transpose()?;
    let mut rows = db.prepare_cached(select!("WHERE person = ?1 OR ?1 IS NULL ORDER BY id"))?;
    Ok(rows.query_map([person], read)?.collect::<Result<_, _>>()?)
}

pub(super) fn add(db: &Connection, new: &NewCredential, at: Timestamp) -> Result<Credential, Error> {
    let person = member::existing(db, &new.person)?;
    let second = match new.kind {
        CredentialKind::SignIn => true,
        CredentialKind::Token | CredentialKind::Link => false,
    };
    if new.proof.is_some() != second {
        return Err(Error::Conflict("a sign-in, and it alone, has a second secret".to_owned()));
    }
    if by_hash(db, &new.hash)?.is_some() {
        return Err(Error::Exists { what: "token", name: new.label.clone() });
    }
    let mut insert = db.prepare_cached(
        "INSERT INTO credential (kind, hash, proof, person, label, scopes, created_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    let id = insert.insert(rusqlite::params![
        Word(new.kind),
        new.hash,
        new.proof,
        person,
        new.label,
        Json(&new.scopes),
        Time(at),
        new.expires_at.map(Time),
    ])?;
    by_id(db, &CredentialId::of(id))
}

pub(super) fn end(db: &Connection, id: &CredentialId, at: Timestamp) -> Result<Credential, Error> {
    let credential = by_id(db, id)?;
    let mut update =
        db.prepare_cached("UPDATE credential SET ended_at = ?2 WHERE id = ?1 AND ended_at IS NULL")?;
    if update.execute((id.row()?, Time(at)))? > 0 {
        tell(db, credential.person.row()?, at)?;
    }
    by_id(db, id)
}

pub(super) fn end_all(
    db: &Connection,
    person: &PersonId,
    kinds: &[CredentialKind],
    at: Timestamp,
) -> Result<(), Error> {
    let person = member::existing(db, person)?;
    let mut update = db.prepare_cached(
        "UPDATE credential SET ended_at = ?3 WHERE person = ?1 AND ended_at IS NULL
             AND kind IN (SELECT value FROM json_each(?2))",
    )?;
    if update.execute((person, Json(kinds.to_vec()), Time(at)))? > 0 {
        tell(db, person, at)?;
    }
    Ok(())
}

fn tell(db: &Connection, person: i64, at: Timestamp) -> Result<(), Error> {
    log::add(db, at, ChangeKind::AccessEnded, &log::New { person: Some(person), ..Default::default() })
}

fn read(row: &Row<'_>) -> rusqlite::Result<Credential> {
    Ok(Credential {
        id: CredentialId::of(row.get(0)?),
        kind: row.get::<_, Word<CredentialKind>>(1)?.0,
        proof: row.get(2)?,
        person: PersonId::of(row.get(3)?),
        label: row.get(4)?,
        scopes: row.get::<_, Json<_>>(5)?.0,
        created_at: row.get::<_, Time>(6)?.0,
        expires_at: row.get::<_, Option<Time>>(7)?.map(|at| at.0),
        ended_at: row.get::<_, Option<Time>>(8)?.map(|at| at.0),
    })
}
