//! Sessions, and the epochs that fence what was staged under an older lease (5.7).

use delivery::Timestamp;
use delivery::model::{Epoch, Key, NativeId};
use rusqlite::{Connection, OptionalExtension};

use super::binding;
use super::value::{Time, key_text, not_found};
use crate::{Error, Session};

/// What a session was told that was told nothing.
const TOLD_NOTHING: &str = "{}";

/// The newest session of a key, ended or not.
pub(super) fn newest(db: &Connection, key: &Key) -> Result<Option<Session>, Error> {
    let (_, binding) = binding::of_key(db, key)?;
    let mut rows = db.prepare_cached(
        "SELECT native, epoch, told, system, begun_at, ended_at, unreloadable, saved_at, saved_why, turn_at
         FROM session WHERE binding = ?1 ORDER BY id DESC LIMIT 1",
    )?;
    let session = rows.query_row([binding], |row| {
        Ok(Session {
            key: key.clone(),
            native: NativeId(row.get(0)?),
            epoch: Epoch(row.get(1)?),
            told: row.get(2)?,
            system: row.get(3)?,
            begun_at: row.get::<_, Time>(4)?.0,
            ended_at: row.get::<_, Option<Time>>(5)?.map(|at| at.0),
            unreloadable: row.get(6)?,
            saved_at: row.get::<_, Option<Time>>(7)?.map(|at| at.0),
            saved_why: row.get(8)?,
            turn_at: row.get::<_, Option<Time>>(9)?.map(|at| at.0),
        })
    });
    Ok(session.optional()?)
}

/// The newest session of a key, if it has not ended.
pub(super) fn present(db: &Connection, key: &Key) -> Result<Option<Session>, Error> {
    Ok(newest(db, key)?.filter(|session| session.ended_at.is_none()))
}

/// Why the newest of a key's ended sessions ended.
pub(super) fn last_end(db: &Connection, key: &Key) -> Result<Option<String>, Error> {
    let (_, binding) = binding::of_key(db, key)?;
    let mut rows = db.prepare_cached(
        "SELECT ended_why FROM session WHERE binding = ?1 AND ended_at IS NOT NULL ORDER BY id DESC LIMIT 1",
    )?;
    Ok(rows.query_row([binding], |row| row.get(0)).optional()?)
}

/// The epoch that a binding's lease has now.
pub(super) fn lease(db: &Connection, binding: i64) -> Result<Option<Epoch>, Error> {
    let mut rows = db.prepare_cached("SELECT epoch FROM lease WHERE binding = ?1")?;
    Ok(rows.query_row([binding], |row| row.get(0).map(Epoch)).optional()?)
}

pub(super) fn max_epoch(db: &Connection) -> Result<Epoch, Error> {
    let mut rows = db.prepare_cached("SELECT coalesce(max(epoch), 0) FROM lease")?;
    Ok(rows.query_row([], |row| row.get(0).map(Epoch))?)
}

pub(super) fn raise(db: &Connection, key: &Key, epoch: Epoch, at: Timestamp) -> Result<(), Error> {
    let (_, binding) = binding::of_key(db, key)?;
    if let Some(now) = lease(db, binding)?
        && epoch < now
    {
        let what = format!("the lease of {} has epoch {} already, past {}", key_text(key), now.0, epoch.0);
        return Err(Error::Conflict(what));
    }
    db.prepare_cached("INSERT OR REPLACE INTO lease (binding, epoch, raised_at) VALUES (?1, ?2, ?3)")?
        .execute((binding, epoch.0, Time(at)))?;
    Ok(())
}

pub(super) fn begin(
    db: &Connection,
    key: &Key,
    native: &NativeId,
    epoch: Epoch,
    system: Option<&str>,
    at: Timestamp,
) -> Result<Session, Error> {
    let (_, binding) = binding::of_key(db, key)?;
    let mut known = db.prepare_cached("SELECT 1 FROM session WHERE native = ?1")?;
    if known.exists([native.as_str()])? {
        return Err(Error::Exists { what: "session", name: native.to_string() });
    }
    raise(db, key, epoch, at)?;
    end(db, key, "another session began", at)?;
    db.prepare_cached(
        "INSERT INTO session (binding, native, epoch, told, system, begun_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute((binding, native.as_str(), epoch.0, TOLD_NOTHING, system, Time(at)))?;
    newest(db, key)?.ok_or_else(|| not_found("session", &key_text(key)))
}

pub(super) fn end(db: &Connection, key: &Key, why: &str, at: Timestamp) -> Result<(), Error> {
    let (_, binding) = binding::of_key(db, key)?;
    db.prepare_cached(
        "UPDATE session SET ended_at = ?2, ended_why = ?3 WHERE binding = ?1 AND ended_at IS NULL",
    )?
    .execute((binding, Time(at), why))?;
    Ok(())
}

/// The present session of a key is given a prompt, or answers one.
pub(super) fn touch(db: &Connection, key: &Key, at: Timestamp) -> Result<(), Error> {
    let (_, binding) = binding::of_key(db, key)?;
    db.prepare_cached("UPDATE session SET turn_at = ?2 WHERE binding = ?1 AND ended_at IS NULL")?
        .execute((binding, Time(at)))?;
    Ok(())
}

/// The present session of a key cannot be reloaded.
pub(super) fn bar(db: &Connection, key: &Key, why: &str) -> Result<(), Error> {
    let (_, binding) = binding::of_key(db, key)?;
    db.prepare_cached(
        "UPDATE session SET unreloadable = ?2
         WHERE binding = ?1 AND ended_at IS NULL AND unreloadable IS NULL",
    )?
    .execute((binding, why))?;
    Ok(())
}

/// The present session of a key lost its process.
pub(super) fn save(db: &Connection, key: &Key, why: &str, at: Timestamp) -> Result<(), Error> {
    let (_, binding) = binding::of_key(db, key)?;
    db.prepare_cached(
        "UPDATE session SET saved_at = ?3, saved_why = ?2
         WHERE binding = ?1 AND ended_at IS NULL AND saved_at IS NULL",
    )?
    .execute((binding, why, Time(at)))?;
    Ok(())
}

/// A new process has the present session of a key, which was saved.
pub(super) fn reload(
    db: &Connection,
    key: &Key,
    epoch: Epoch,
    system: Option<&str>,
    at: Timestamp,
) -> Result<Session, Error> {
    let (_, binding) = binding::of_key(db, key)?;
    raise(db, key, epoch, at)?;
    let mut update = db.prepare_cached(
        "UPDATE session SET epoch = ?2, system = ?3, saved_at = NULL
         WHERE binding = ?1 AND ended_at IS NULL AND saved_at IS NOT NULL",
    )?;
    if update.execute((binding, epoch.0, system))? == 0 {
        return Err(not_found("saved session", &key_text(key)));
    }
    newest(db, key)?.ok_or_else(|| not_found("session", &key_text(key)))
}

/// What a key's present session was told.
pub(super) fn set_told(db: &Connection, key: &Key, told: &str) -> Result<(), Error> {
    let (_, binding) = binding::of_key(db, key)?;
    let mut update =
        db.prepare_cached("UPDATE session SET told = ?2 WHERE binding = ?1 AND ended_at IS NULL")?;
    if update.execute((binding, without_text(told)))? == 0 {
        return Err(not_found("session", &key_text(key)));
    }
    Ok(())
}

/// What a binding's session was told, if it is still the present one.
pub(super) fn put_told(db: &Connection, binding: i64, native: &NativeId, told: &str) -> Result<(), Error> {
    db.prepare_cached(
        "UPDATE session SET told = ?3 WHERE binding = ?1 AND native = ?2 AND ended_at IS NULL",
    )?
    .execute((binding, native.as_str(), without_text(told)))?;
    Ok(())
}

/// The JSON without the text of the payload's message: nobody compares it, and a deletion must not miss it.
fn without_text(told: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<serde_json::Value>(told) else { return told.to_owned() };
    match value.pointer_mut("/payload/text") {
        Some(text) if text.as_str() != Some("") => *text = "".into(),
        Some(_) | None => return told.to_owned(),
    }
    value.to_string()
}
