//! The threads of a channel, told by their replies.

use delivery::model::{ChannelId, MessageId};
use rusqlite::Connection;

use super::value::{RowId, Time, limit};
use super::{channel, message};
use crate::{Error, Thread};

pub(super) fn list(db: &Connection, channel: &ChannelId, page: usize) -> Result<Vec<Thread>, Error> {
    let channel = channel::existing(db, channel)?;
    // The index of a message's place has all that the groups are made of.
    let mut rows = db.prepare_cached(
        "SELECT t.root, t.replies, t.last, m.at
         FROM (SELECT thread AS root, count(*) AS replies, max(seq) AS last FROM message
               WHERE channel = ?1 AND thread IS NOT NULL AND deleted_seq IS NULL
               GROUP BY thread ORDER BY last DESC LIMIT ?2) t
         JOIN message m ON m.channel = ?1 AND m.thread = t.root AND m.seq = t.last
         ORDER BY t.last DESC",
    )?;
    let told = rows.query_map((channel, limit(page)), |row| {
        Ok((MessageId::of(row.get(0)?), row.get(1)?, row.get(2)?, row.get::<_, Time>(3)?.0))
    })?;
    let told = told.collect::<Result<Vec<_>, _>>()?;
    told.into_iter()
        .map(|(root, replies, last_seq, last_at)| {
            Ok(Thread { root: message::by_id(db, &root)?, replies, last_seq, last_at })
        })
        .collect()
}
