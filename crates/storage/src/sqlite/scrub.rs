//! Takes the text of a deleted message out of what was sent (8.3).

use std::ops::Range;

use delivery::model::MessageId;
use rusqlite::Connection;

use super::value::RowId;
use crate::{Error, STEER};

/// What stands in the place of a deleted message's text.
pub(super) const DELETED: &str = "[deleted]";

/// Scrubs a message's text out of the stored bytes of every run that was sent it.
pub(super) fn sent(db: &Connection, message: i64) -> Result<(), Error> {
    let mut runs = db.prepare_cached("SELECT DISTINCT run FROM sent_part WHERE message = ?1")?;
    let runs = runs.query_map([message], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    for run in runs {
        let sent: String = db
            .prepare_cached("SELECT sent FROM staged WHERE run = ?1")?
            .query_row([run], |row| row.get(0))?;
        let (sent, kept) = without(&sent, &parts(db, run)?, message);
        db.prepare_cached("UPDATE staged SET sent = ?2 WHERE run = ?1")?.execute((run, sent))?;
        db.prepare_cached("DELETE FROM sent_part WHERE run = ?1")?.execute([run])?;
        add_parts(db, run, &kept)?;
    }
    Ok(())
}

/// The same for what steered a run: a step of it has the text.
pub(super) fn steer(db: &Connection, message: &MessageId) -> Result<(), Error> {
    let mut scrub = db.prepare_cached(
        "UPDATE run_event SET body = json_set(body, '$.text', ?2)
         WHERE run = (SELECT run FROM message WHERE id = ?1 AND author_kind = 'user') AND kind = ?3
             AND json_extract(body, '$.message_id') = ?4",
    )?;
    scrub.execute((message.row()?, DELETED, STEER, message.as_str()))?;
    Ok(())
}

/// A message's text within what was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The message's row number.
    pub(super) message: i64,
    /// Bytes of what was sent.
    pub(super) range: Range<usize>,
}

/// The parts of a run, in order.
pub(super) fn parts(db: &Connection, run: i64) -> Result<Vec<Part>, Error> {
    let mut rows =
        db.prepare_cached(r#"SELECT message, start, "end" FROM sent_part WHERE run = ?1 ORDER BY start"#)?;
    let parts =
        rows.query_map([run], |row| Ok(Part { message: row.get(0)?, range: row.get(1)?..row.get(2)? }))?;
    Ok(parts.collect::<Result<_, _>>()?)
}

pub(super) fn add_parts(db: &Connection, run: i64, parts: &[Part]) -> Result<(), Error> {
    let mut insert =
        db.prepare_cached(r#"INSERT INTO sent_part (run, message, start, "end") VALUES (?1, ?2, ?3, ?4)"#)?;
    for Part { message, range } in parts {
        insert.execute((run, message, range.start, range.end))?;
    }
    Ok(())
}

/// The text with a mark in the place of each part of `message`, and where the other parts stand then.
fn without(sent: &str, parts: &[Part], message: i64) -> (String, Vec<Part>) {
    let mut text = String::with_capacity(sent.len());
    let mut kept = Vec::new();
    let mut copied = 0;
    for part in parts {
        text.push_str(&sent[copied..part.range.start]);
        let start = text.len();
        if part.message == message {
            text.push_str(DELETED);
        } else {
            text.push_str(&sent[part.range.clone()]);
            kept.push(Part { message: part.message, range: start..text.len() });
        }
        copied = part.range.end;
    }
    text.push_str(&sent[copied..]);
    (text, kept)
}
