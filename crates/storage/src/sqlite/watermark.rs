//! Watermarks: the compact view of what a session was given of a channel or thread (5.1).

use delivery::Watermark;
use delivery::model::{BindingId, ChannelId, MessageId, NativeId};
use rusqlite::{Connection, OptionalExtension, Row};

use super::value::{Json, RowId, Time};
use super::{binding, channel, message};
use crate::{Error, PlacedWatermark};

macro_rules! columns {
    () => {
        "w.native, w.last_at, w.last_seq, w.ids, w.waiting"
    };
}

/// The watermark of a place. One that cannot be read is none: the session is then given lines again, and is missing
/// none (5.4).
pub(super) fn of_place(
    db: &Connection,
    binding: &BindingId,
    channel: &ChannelId,
    thread: Option<&MessageId>,
) -> Result<Option<Watermark>, Error> {
    let thread = thread.map(RowId::row).transpose()?.unwrap_or(0);
    let mut rows = db.prepare_cached(concat!(
        "SELECT ",
        columns!(),
        " FROM watermark w JOIN binding b ON b.id = w.binding
         WHERE b.name = ?1 AND w.channel = ?2 AND w.thread = ?3"
    ))?;
    match rows.query_row((binding.as_str(), channel.row()?, thread), read).optional() {
        Err(
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..),
        ) => Ok(None),
        read => Ok(read?),
    }
}

pub(super) fn all(db: &Connection) -> Result<Vec<PlacedWatermark>, Error> {
    let mut rows = db.prepare_cached(concat!(
        "SELECT ",
        columns!(),
        ", b.name, w.channel, w.thread FROM watermark w JOIN binding b ON b.id = w.binding
         ORDER BY b.name, w.channel, w.thread"
    ))?;
    let all = rows.query_map([], |row| {
        let thread: i64 = row.get(7)?;
        Ok(PlacedWatermark {
            binding: BindingId(row.get(5)?),
            channel: ChannelId::of(row.get(6)?),
            thread: (thread != 0).then(|| MessageId::of(thread)),
            watermark: read(row)?,
        })
    })?;
    Ok(all.collect::<Result<_, _>>()?)
}

pub(super) fn import(db: &Connection, watermarks: &[PlacedWatermark]) -> Result<(), Error> {
    let places = watermarks.iter().map(|placed| {
        let binding = binding::existing(db, &placed.binding)?;
        let channel = channel::existing(db, &placed.channel)?;
        let thread = placed.thread.as_ref().map(|root| {
            message::top_level(db, channel, root)?;
            root.row()
        });
        Ok((binding, channel, thread.transpose()?))
    });
    // All are checked before the first is written.
    let places = places.collect::<Result<Vec<_>, Error>>()?;
    for (placed, (binding, channel, thread)) in watermarks.iter().zip(places) {
        put(db, binding, channel, thread, &placed.watermark)?;
    }
    Ok(())
}

/// Replaces the watermark of a place.
pub(super) fn put(
    db: &Connection,
    binding: i64,
    channel: i64,
    thread: Option<i64>,
    watermark: &Watermark,
) -> Result<(), Error> {
    let mut put = db.prepare_cached(
        "INSERT OR REPLACE INTO watermark (binding, channel, thread, native, last_at, last_seq, ids, waiting)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    put.execute((
        binding,
        channel,
        thread.unwrap_or(0),
        watermark.native.as_str(),
        Time(watermark.last_at),
        watermark.last_seq,
        Json(&watermark.ids),
        Json(&watermark.waiting),
    ))?;
    Ok(())
}

/// Reads a watermark from a row that begins with [`columns`].
fn read(row: &Row<'_>) -> rusqlite::Result<Watermark> {
    Ok(Watermark {
        native: NativeId(row.get(0)?),
        last_at: row.get::<_, Time>(1)?.0,
        last_seq: row.get(2)?,
        ids: row.get::<_, Json<_>>(3)?.0,
        waiting: row.get::<_, Json<_>>(4)?.0,
    })
}
