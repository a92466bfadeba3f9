//! The rows that a context block needs, in a bounded number however much is new (sections 4 and 5).

use std::collections::BTreeSet;

use delivery::model::NativeId;
use delivery::watermark::IDS_MAX;
use delivery::{AuthorKind, Policy, Row, Watermark};
use rusqlite::{Connection, OptionalExtension, ToSql};

use super::value::{Json, RowId, Time, limit, rows_json};
use super::{channel, message};
use crate::{DeliveryQuery, DeliveryRows, Error, Message};

/// Rows for a delivery: see [`crate::Read::delivery_rows`].
pub(super) fn load(db: &Connection, query: &DeliveryQuery<'_>) -> Result<DeliveryRows, Error> {
    let scope = Scope::of(db, query)?;
    let mut picked = BTreeSet::new();
    picked.extend(scope.newest_lines()?);
    picked.extend(scope.newest_new_lines()?);
    picked.extend(scope.own()?);
    picked.extend(scope.newest_events()?);
    picked.extend(scope.newest_covered()?);
    picked.extend(scope.named()?);
    picked.extend(scope.told_and_changed()?);
    for root in &scope.given_roots {
        picked.remove(root);
    }
    let messages = scope.messages(&picked)?;
    let earlier = match query.watermark {
        Some(_) => {
            let loaded = messages.iter().filter(|message| scope.is_new_line(message)).count();
            scope.new_lines()?.saturating_sub(loaded as u64)
        }
        None => 0,
    };
    let (rows, revisions) = messages.into_iter().map(|message| (message.row, message.revision)).unzip();
    Ok(DeliveryRows { rows, earlier, revisions })
}

/// A query in row numbers.
struct Scope<'a> {
    db: &'a Connection,
    query: &'a DeliveryQuery<'a>,
    channel: i64,
    /// The thread's root.
    thread: Option<i64>,
    /// Messages with a number up to this one are not new; it is that of a message, or the watermark's own.
    floor: u64,
    /// Messages that are never a new line: told, waiting in a payload of their own, addressed.
    excluded: Json<Vec<i64>>,
    /// Of those: top-level messages that the session was given as roots of threads.
    given_roots: Vec<i64>,
    /// How many of the newest are loaded.
    newest: usize,
}

impl<'a> Scope<'a> {
    fn of(db: &'a Connection, query: &'a DeliveryQuery<'a>) -> Result<Self, Error> {
        let channel = channel::existing(db, query.channel)?;
        let thread = match query.thread {
            Some(root) => Some(message::top_level(db, channel, root)?.row.id.row()?),
            None => None,
        };
        let floor = match query.watermark {
            Some(mark) => floor(db, channel, thread, mark)?,
            None => 0,
        };
        let told = query.watermark.map(|mark| mark.ids.as_slice()).unwrap_or_default();
        let mut excluded = rows_json(told.iter().chain(query.pending).chain([query.addressed]));
        let given_roots = match (query.policy, thread) {
            (Policy::Lean, None) => given_roots(db, channel, query.native, &excluded.0)?,
            (Policy::Lean, Some(_)) | (Policy::Base | Policy::Window, _) => Vec::new(),
        };
        excluded.0.extend(&given_roots);
        let newest = query.newest.saturating_add(query.pending.len()).saturating_add(1);
        Ok(Self { db, query, channel, thread, floor, excluded, given_roots, newest })
    }

    /// The newest rows past the mark, whatever else they are: candidates under `base` and `window`.
    fn newest_lines(&self) -> Result<Vec<i64>, Error> {
        self.ids(
            "SELECT id FROM message WHERE channel = ?1 AND thread IS ?2 AND seq > ?3
                 AND author_kind <> 'system' AND deleted_seq IS NULL
             ORDER BY seq DESC LIMIT ?4",
            &[&self.channel, &self.thread, &self.floor, &limit(self.newest)],
        )
    }

    /// The newest of those that would be new lines under `lean`.
    fn newest_new_lines(&self) -> Result<Vec<i64>, Error> {
        self.ids(
            "SELECT id FROM message WHERE channel = ?1 AND thread IS ?2 AND seq > ?3
                 AND author_kind <> 'system' AND deleted_seq IS NULL
                 AND native IS NOT ?5 AND id NOT IN (SELECT value FROM json_each(?6))
             ORDER BY seq DESC LIMIT ?4",
            &[
                &self.channel,
                &self.thread,
                &self.floor,
                &limit(self.newest),
                &self.query.native.as_str(),
                &self.excluded,
            ],
        )
    }

    /// The session's own messages past the mark: as good as shown (4.4), as many as a watermark remembers.
    fn own(&self) -> Result<Vec<i64>, Error> {
        self.ids(
            "SELECT id FROM message WHERE native = ?4 AND channel = ?1 AND thread IS ?2 AND seq > ?3
             ORDER BY seq DESC LIMIT ?5",
            &[&self.channel, &self.thread, &self.floor, &self.query.native.as_str(), &limit(IDS_MAX)],
        )
    }

    /// The messages of the newest creation, edit and deletion: a watermark stands after all three. What happens to a root
    /// that was given elsewhere is no event of this place.
    fn newest_events(&self) -> Result<Vec<i64>, Error> {
        let mut ids = Vec::new();
        let elsewhere = Json(self.given_roots.clone());
        for newest in [
            "SELECT id FROM message WHERE channel = ?1 AND thread IS ?2
                 AND id NOT IN (SELECT value FROM json_each(?3)) ORDER BY seq DESC LIMIT 1",
            "SELECT id FROM message WHERE channel = ?1 AND thread IS ?2 AND edited_seq IS NOT NULL
                 AND id NOT IN (SELECT value FROM json_each(?3)) ORDER BY edited_seq DESC LIMIT 1",
            "SELECT id FROM message WHERE channel = ?1 AND thread IS ?2 AND deleted_seq IS NOT NULL
                 AND id NOT IN (SELECT value FROM json_each(?3)) ORDER BY deleted_seq DESC LIMIT 1",
        ] {
            ids.extend(self.ids(newest, &[&self.channel, &self.thread, &elsewhere])?);
        }
        Ok(ids)
    }

    /// The newest message that a watermark without a number covers: its number stands for the missing one.
    fn newest_covered(&self) -> Result<Vec<i64>, Error> {
        if self.query.watermark.is_none_or(|mark| mark.last_seq.is_some()) {
            return Ok(Vec::new());
        }
        self.ids(
            "SELECT id FROM message WHERE channel = ?1 AND thread IS ?2 AND seq = ?3",
            &[&self.channel, &self.thread, &self.floor],
        )
    }

    /// Messages that the query, the watermark or the thread name. `+` keeps SQLite from walking over the channel.
    fn named(&self) -> Result<Vec<i64>, Error> {
        let waiting = self.query.watermark.map(|mark| mark.waiting.as_slice()).unwrap_or_default();
        let mut named = rows_json(waiting.iter().chain(self.query.pending).chain([self.query.addressed]));
        named.0.extend(self.thread);
        self.ids(
            "SELECT m.id FROM json_each(?3) named CROSS JOIN message m ON m.id = named.value
             WHERE +m.channel = ?1 AND (m.thread IS ?2 OR m.id = ?2)",
            &[&self.channel, &self.thread, &named],
        )
    }

    /// Messages that were told and changed past the mark (4.9).
    fn told_and_changed(&self) -> Result<Vec<i64>, Error> {
        let Some(mark) = self.query.watermark else { return Ok(Vec::new()) };
        self.ids(
            "SELECT m.id FROM json_each(?4) told CROSS JOIN message m ON m.id = told.value
             WHERE +m.channel = ?1 AND (m.thread IS ?2 OR m.id = ?2)
                 AND (m.edited_seq > ?3 OR m.deleted_seq > ?3)",
            &[&self.channel, &self.thread, &self.floor, &rows_json(&mark.ids)],
        )
    }

    /// The picked messages in channel order, the root first.
    fn messages(&self, picked: &BTreeSet<i64>) -> Result<Vec<Message>, Error> {
        let mut rows = self.db.prepare_cached(concat!(
            "SELECT ",
            message::columns!(),
            " FROM message m WHERE m.id IN (SELECT value FROM json_each(?1)) ORDER BY m.seq"
        ))?;
        let messages = rows.query_map([Json(picked)], message::read)?;
        Ok(messages.collect::<Result<_, _>>()?)
    }

    /// How many lines are new under `lean`, counted in indexes alone.
    fn new_lines(&self) -> Result<u64, Error> {
        let mut all = self.db.prepare_cached(
            "SELECT count(*) FROM message WHERE channel = ?1 AND thread IS ?2 AND seq > ?3
                 AND author_kind <> 'system' AND deleted_seq IS NULL
                 AND id NOT IN (SELECT value FROM json_each(?4))",
        )?;
        let all: u64 =
            all.query_row((self.channel, self.thread, self.floor, &self.excluded), |row| row.get(0))?;
        let mut own = self.db.prepare_cached(
            "SELECT count(*) FROM message WHERE native = ?5 AND channel = ?1 AND thread IS ?2 AND seq > ?3
                 AND author_kind <> 'system' AND deleted_seq IS NULL
                 AND id NOT IN (SELECT value FROM json_each(?4))",
        )?;
        let native = self.query.native.as_str();
        let own: u64 =
            own.query_row((self.channel, self.thread, self.floor, &self.excluded, native), |row| row.get(0))?;
        Ok(all.saturating_sub(own))
    }

    /// What [`Self::new_lines`] counts, of one message.
    fn is_new_line(&self, message: &Message) -> bool {
        let Row { id, seq, author, native, deleted_seq, .. } = &message.row;
        let line = match author.kind {
            AuthorKind::User | AuthorKind::Agent => deleted_seq.is_none(),
            AuthorKind::System => false,
        };
        let own = native.as_ref().is_some_and(|by: &NativeId| by == self.query.native);
        let in_place = message.thread.as_ref() == self.query.thread;
        let excluded = id.row().is_ok_and(|row| self.excluded.0.contains(&row));
        line && in_place && !own && !excluded && *seq > self.floor
    }

    fn ids(&self, statement: &str, params: &[&dyn ToSql]) -> Result<Vec<i64>, Error> {
        let mut rows = self.db.prepare_cached(statement)?;
        Ok(rows.query_map(params, |row| row.get(0))?.collect::<Result<_, _>>()?)
    }
}

/// The number up to which a watermark has seen the place; one without a number goes by time (5.1).
fn floor(db: &Connection, channel: i64, thread: Option<i64>, mark: &Watermark) -> Result<u64, Error> {
    if let Some(seq) = mark.last_seq {
        return Ok(seq);
    }
    // Times grow with numbers, so this walks over what is new and no further.
    let mut rows = db.prepare_cached(
        "SELECT seq FROM message WHERE channel = ?1 AND thread IS ?2 AND at <= ?3 ORDER BY seq DESC LIMIT 1",
    )?;
    let seq = rows.query_row((channel, thread, Time(mark.last_at)), |row| row.get(0));
    Ok(seq.optional()?.unwrap_or(0))
}

/// The roots that a session was given by mentions in their threads: the first one there brings the root (4.10), unless it
/// waits as a payload of its own. A watermark that pages alone made covers nothing, and so no root; and a root that the
/// session wrote is its own, not given.
fn given_roots(db: &Connection, channel: i64, native: &NativeId, but: &[i64]) -> Result<Vec<i64>, Error> {
    let mut rows = db.prepare_cached(
        "SELECT w.thread FROM session s JOIN watermark w ON w.binding = s.binding
         WHERE s.native = ?2 AND w.channel = ?1 AND w.thread <> 0 AND w.native = s.native
             AND w.last_seq IS NOT 0 AND NOT EXISTS (SELECT 1 FROM json_each(w.waiting) WHERE value = 'm' || w.thread)
             AND NOT EXISTS (SELECT 1 FROM message m WHERE m.id = w.thread AND m.native = s.native)",
    )?;
    let given = rows.query_map((channel, native.as_str()), |row| row.get(0))?;
    let given = given.collect::<Result<Vec<i64>, _>>()?;
    Ok(given.into_iter().filter(|root| !but.contains(root)).collect())
}
