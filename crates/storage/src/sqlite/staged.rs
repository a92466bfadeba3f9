//! What a run's turn delivers, as it was staged (5.4).

use delivery::Watermark;
use delivery::model::{Epoch, MessageId, NativeId};
use delivery::turn::Lease;
use rusqlite::{Connection, OptionalExtension};

use super::scrub::{self, Part};
use super::value::{Json, RowId, Word};
use super::{message, showing};
use crate::{Error, Staged};

/// What was staged for a run, with what was sent.
pub(super) fn whole(db: &Connection, run: i64) -> Result<Option<Staged>, Error> {
    let Some(staged) = facts(db, run)? else { return Ok(None) };
    let mut rows = db.prepare_cached("SELECT sent, system FROM staged WHERE run = ?1")?;
    let (sent, system) = rows.query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let parts = scrub::parts(db, run)?.into_iter().map(|part| (MessageId::of(part.message), part.range));
    Ok(Some(Staged { sent, system, parts: parts.collect(), ..staged }))
}

/// What was staged for a run; `sent`, `system` and `parts` are empty.
pub(super) fn facts(db: &Connection, run: i64) -> Result<Option<Staged>, Error> {
    let mut rows = db.prepare_cached(
        "SELECT native, epoch, lease, why, omitted, watermark_before, watermark_after FROM staged WHERE run = ?1",
    )?;
    let staged = rows.query_row([run], |row| {
        Ok(Staged {
            native: NativeId(row.get(0)?),
            epoch: Epoch(row.get(1)?),
            lease: row.get::<_, Word<Lease>>(2)?.0,
            why: row.get(3)?,
            sent: String::new(),
            system: None,
            parts: Vec::new(),
            shown: Vec::new(),
            omitted: row.get(4)?,
            watermark_before: row.get::<_, Option<Json<_>>>(5)?.map(|mark| mark.0),
            watermark_after: row.get::<_, Option<Json<_>>>(6)?.map(|mark| mark.0),
        })
    });
    let Some(staged) = staged.optional()? else { return Ok(None) };
    Ok(Some(Staged { shown: showing::lines(db, run)?, ..staged }))
}

/// What the end of a run needs of what was staged.
pub(super) struct Outcome {
    pub(super) native: NativeId,
    pub(super) epoch: Epoch,
    pub(super) watermark_after: Option<Watermark>,
}

pub(super) fn outcome(db: &Connection, run: i64) -> Result<Option<Outcome>, Error> {
    let mut rows = db.prepare_cached("SELECT native, epoch, watermark_after FROM staged WHERE run = ?1")?;
    let outcome = rows.query_row([run], |row| {
        Ok(Outcome {
            native: NativeId(row.get(0)?),
            epoch: Epoch(row.get(1)?),
            watermark_after: row.get::<_, Option<Json<_>>>(2)?.map(|mark| mark.0),
        })
    });
    Ok(outcome.optional()?)
}

/// Stages a turn for a run, in the place of what was staged for it before.
pub(super) fn put(
    db: &Connection,
    run: i64,
    channel: i64,
    addressed: i64,
    staged: &Staged,
) -> Result<(), Error> {
    let row = |id: &MessageId| message::in_channel(db, channel, id);
    let lines = staged.shown.iter().map(|(id, revision)| Ok((row(id)?, *revision)));
    let lines = lines.collect::<Result<Vec<_>, Error>>()?;
    check_parts(staged)?;
    let parts = staged.parts.iter().filter(|(_, range)| !range.is_empty());
    let parts = parts.map(|(id, range)| Ok(Part { message: row(id)?, range: range.clone() }));
    let parts = parts.collect::<Result<Vec<_>, Error>>()?;

    forget(db, run)?;
    let mut insert = db.prepare_cached(
        "INSERT INTO staged (run, native, epoch, lease, why, sent, system, omitted, watermark_before, watermark_after)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    insert.execute((
        run,
        staged.native.as_str(),
        staged.epoch.0,
        Word(staged.lease),
        &staged.why,
        &staged.sent,
        &staged.system,
        staged.omitted,
        staged.watermark_before.as_ref().map(Json),
        staged.watermark_after.as_ref().map(Json),
    ))?;
    scrub::add_parts(db, run, &parts)?;
    showing::add(db, run, &staged.native, addressed, &lines)
}

/// Puts another watermark in the place of the staged one.
pub(super) fn put_watermark(db: &Connection, run: i64, watermark: Option<&Watermark>) -> Result<(), Error> {
    db.prepare_cached("UPDATE staged SET watermark_after = ?2 WHERE run = ?1")?
        .execute((run, watermark.map(Json)))?;
    Ok(())
}

pub(super) fn forget(db: &Connection, run: i64) -> Result<(), Error> {
    for old in [
        "DELETE FROM sent_part WHERE run = ?1",
        "DELETE FROM showing WHERE run = ?1",
        "DELETE FROM staged WHERE run = ?1",
    ] {
        db.prepare_cached(old)?.execute([run])?;
    }
    Ok(())
}

/// Parts that a deletion can replace: on character boundaries, in order, none over another.
fn check_parts(staged: &Staged) -> Result<(), Error> {
    let mut from = 0;
    for (message, range) in &staged.parts {
        if range.start < from || staged.sent.get(range.clone()).is_none() {
            return Err(Error::Conflict(format!("bytes {range:?} are no part of what is sent ({message})")));
        }
        from = range.end;
    }
    Ok(())
}
