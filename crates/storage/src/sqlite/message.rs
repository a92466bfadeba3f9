//! Messages: append, edit, delete, and the pages of a channel or thread.

use delivery::faults::{Rule, broken};
use delivery::model::{ChannelId, MessageId, NativeId, RunId};
use delivery::{Author, AuthorKind, Row as Line, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row};

use super::value::{RowId, Time, Word, limit, not_found};
use super::{channel, member, run, scrub, search};
use crate::{Appended, ChannelEventKind, Error, Message, NewMessage, PersonId, TEXT_BYTES_MAX};

/// The columns of [`read`], from `message m`.
macro_rules! columns {
    () => {
        "m.id, m.channel, m.thread, m.run, m.seq, m.at, m.author_kind, m.author, m.native, m.text, m.edited_seq, \
         m.deleted_seq, m.revision, m.person"
    };
}
pub(super) use columns;

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT ", columns!(), " FROM message m ", $rest)
    };
}

pub(super) fn by_id(db: &Connection, id: &MessageId) -> Result<Message, Error> {
    let mut rows = db.prepare_cached(select!("WHERE m.id = ?1"))?;
    rows.query_row([id.row()?], read).optional()?.ok_or_else(|| not_found("message", id.as_str()))
}

/// The message's row number, if it stands in that channel.
pub(super) fn in_channel(db: &Connection, channel: i64, id: &MessageId) -> Result<i64, Error> {
    let mut rows = db.prepare_cached("SELECT id FROM message WHERE id = ?1 AND channel = ?2")?;
    let row = rows.query_row((id.row()?, channel), |row| row.get(0)).optional()?;
    row.ok_or_else(|| not_found("message", id.as_str()))
}

/// A page of the top level, or of a thread with its root: see [`crate::Read::history`].
pub(super) fn history(
    db: &Connection,
    channel: &ChannelId,
    thread: Option<&MessageId>,
    before: Option<&MessageId>,
    page: usize,
) -> Result<Vec<Message>, Error> {
    backwards(db, channel, thread, before, page, Notices::In)
}

/// A page without notices: see [`crate::Read::rows`].
pub(super) fn rows(
    db: &Connection,
    channel: &ChannelId,
    thread: Option<&MessageId>,
    before: Option<&MessageId>,
    page: usize,
) -> Result<Vec<Message>, Error> {
    backwards(db, channel, thread, before, page, Notices::Out)
}

/// Whether a page has the host's notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notices {
    In,
    Out,
}

fn backwards(
    db: &Connection,
    channel: &ChannelId,
    thread: Option<&MessageId>,
    before: Option<&MessageId>,
    page: usize,
    notices: Notices,
) -> Result<Vec<Message>, Error> {
    let channel = channel::existing(db, channel)?;
    let root = thread.map(|id| top_level(db, channel, id)).transpose()?;
    let before = match before {
        Some(id) => by_id_in(db, channel, id)?.row.seq,
        None => i64::MAX.unsigned_abs(),
    };
    let mut rows = db.prepare_cached(select!(
        "WHERE m.channel = ?1 AND m.thread IS ?2 AND m.deleted_seq IS NULL AND m.seq < ?3
             AND (?5 OR m.author_kind <> 'system')
         ORDER BY m.seq DESC LIMIT ?4"
    ))?;
    let root_row = root.as_ref().map(|root| root.row.id.row()).transpose()?;
    let newest = rows.query_map((channel, root_row, before, limit(page), notices == Notices::In), read)?;
    let mut messages = newest.collect::<Result<Vec<_>, _>>()?;
    if let Some(root) = root
        && messages.len() < page
        && root.row.deleted_seq.is_none()
        && (notices == Notices::In || root.row.author.kind != AuthorKind::System)
        && root.row.seq < before
    {
        messages.push(root);
    }
    messages.reverse();
    Ok(messages)
}

pub(super) fn of_run(db: &Connection, run: &RunId) -> Result<Vec<Message>, Error> {
    let mut rows =
        db.prepare_cached(select!("WHERE m.run = ?1 AND m.author_kind <> 'user' ORDER BY m.id"))?;
    Ok(rows.query_map([run::existing(db, run)?], read)?.collect::<Result<_, _>>()?)
}

pub(super) fn append(db: &Connection, new: &NewMessage, at: Timestamp) -> Result<Appended, Error> {
    check_text(&new.text)?;
    let person = match new.author.kind {
        AuthorKind::User => member::row_of_name(db, &new.author.name)?,
        AuthorKind::Agent | AuthorKind::System => None,
    };
    if let Some(message) = posted_before(db, new, person)? {
        return Ok(Appended::Before(message));
    }
    let channel = new.channel.row()?;
    let thread = new.thread.as_ref().map(|root| open_root(db, channel, root)).transpose()?;
    let run = new.run.as_ref().map(|run| run::existing(db, run)).transpose()?;
    let Some((seq, at)) = channel::next_event(db, channel, at)? else {
        return Err(not_found("channel", new.channel.as_str()));
    };
    let mut insert = db.prepare_cached(
        "INSERT INTO message (channel, thread, seq, at, author_kind, author, native, run, text, client_id, person)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    let id = insert.insert(rusqlite::params![
        channel,
        thread,
        seq,
        Time(at),
        new.author.kind.as_str(),
        new.author.name,
        new.native.as_ref().map(NativeId::as_str),
        run,
        new.text,
        new.client_id.as_ref().filter(|_| !broken(Rule::PostedOnce)),
        person,
    ])?;
    let kind = match new.author.kind {
        AuthorKind::User | AuthorKind::Agent => ChannelEventKind::Message,
        AuthorKind::System => ChannelEventKind::Notice,
    };
    channel::add_event(db, channel, (seq, at), kind, id)?;
    search::add(db, id, &new.text)?;
    let row = Line {
        id: MessageId::of(id),
        seq,
        created_at: at,
        author: new.author.clone(),
        native: new.native.clone(),
        text: new.text.clone(),
        edited_seq: None,
        deleted_seq: None,
    };
    let (channel, thread, run) = (new.channel.clone(), new.thread.clone(), new.run.clone());
    Ok(Appended::New(Message { channel, thread, run, person: person.map(PersonId::of), row, revision: 1 }))
}

pub(super) fn edit(db: &Connection, id: &MessageId, text: &str, at: Timestamp) -> Result<Message, Error> {
    check_text(text)?;
    let old = by_id(db, id)?;
    if old.row.deleted_seq.is_some() {
        return Err(Error::Conflict(format!("message {id} was deleted")));
    }
    let row = id.row()?;
    let seq = add_event(db, &old, ChannelEventKind::Edit, at)?;
    search::remove(db, row, &old.row.text)?;
    db.prepare_cached(
        "UPDATE message SET text = ?2, revision = revision + 1, edited_seq = ?3 WHERE id = ?1",
    )?
    .execute((row, text, seq))?;
    search::add(db, row, text)?;
    by_id(db, id)
}

pub(super) fn delete(db: &Connection, id: &MessageId, at: Timestamp) -> Result<Message, Error> {
    let old = by_id(db, id)?;
    if old.row.deleted_seq.is_some() {
        return Ok(old);
    }
    let row = id.row()?;
    let seq = add_event(db, &old, ChannelEventKind::Deletion, at)?;
    search::remove(db, row, &old.row.text)?;
    db.prepare_cached("UPDATE message SET text = '', deleted_seq = ?2 WHERE id = ?1")?.execute((row, seq))?;
    scrub::sent(db, row)?;
    scrub::steer(db, id)?;
    by_id(db, id)
}

/// Reads a message from a row that begins with [`columns`].
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Message> {
    Ok(Message {
        channel: ChannelId::of(row.get(1)?),
        thread: row.get::<_, Option<i64>>(2)?.map(MessageId::of),
        run: row.get::<_, Option<i64>>(3)?.map(RunId::of),
        row: Line {
            id: MessageId::of(row.get(0)?),
            seq: row.get(4)?,
            created_at: row.get::<_, Time>(5)?.0,
            author: Author { kind: row.get::<_, Word<AuthorKind>>(6)?.0, name: row.get(7)? },
            native: row.get::<_, Option<String>>(8)?.map(NativeId),
            text: row.get(9)?,
            edited_seq: row.get(10)?,
            deleted_seq: row.get(11)?,
        },
        revision: row.get(12)?,
        person: row.get::<_, Option<i64>>(13)?.map(PersonId::of),
    })
}

/// The engine refuses such text in better words; this is the last line.
fn check_text(text: &str) -> Result<(), Error> {
    if text.is_empty() {
        return Err(Error::Conflict("a message needs a text".to_owned()));
    }
    if text.len() > TEXT_BYTES_MAX {
        return Err(Error::Conflict(format!("a message has at most {TEXT_BYTES_MAX} bytes")));
    }
    Ok(())
}

fn posted_before(db: &Connection, new: &NewMessage, person: Option<i64>) -> Result<Option<Message>, Error> {
    let Some(client_id) = new.client_id.as_ref().filter(|_| !broken(Rule::PostedOnce)) else {
        return Ok(None);
    };
    if person.is_some() {
        let mut rows = db.prepare_cached(select!("WHERE m.person = ?1 AND m.client_id = ?2"))?;
        return Ok(rows.query_row((person, client_id), read).optional()?);
    }
    let mut rows =
        db.prepare_cached(select!("WHERE m.author_kind = ?1 AND m.author = ?2 AND m.client_id = ?3"))?;
    Ok(rows.query_row((new.author.kind.as_str(), &new.author.name, client_id), read).optional()?)
}

fn by_id_in(db: &Connection, channel: i64, id: &MessageId) -> Result<Message, Error> {
    let mut rows = db.prepare_cached(select!("WHERE m.id = ?1 AND m.channel = ?2"))?;
    rows.query_row((id.row()?, channel), read).optional()?.ok_or_else(|| not_found("message", id.as_str()))
}

/// A message that can be the root of a thread.
pub(super) fn top_level(db: &Connection, channel: i64, id: &MessageId) -> Result<Message, Error> {
    let root = by_id_in(db, channel, id)?;
    match &root.thread {
        None => Ok(root),
        Some(of) => Err(Error::Conflict(format!("message {id} is a reply in the thread of {of}"))),
    }
}

/// The row number of a root that still takes replies.
fn open_root(db: &Connection, channel: i64, id: &MessageId) -> Result<i64, Error> {
    let root = top_level(db, channel, id)?;
    if root.row.deleted_seq.is_some() {
        return Err(Error::Conflict(format!("message {id} was deleted: its thread takes no more replies")));
    }
    id.row()
}

fn add_event(db: &Connection, of: &Message, kind: ChannelEventKind, at: Timestamp) -> Result<u64, Error> {
    let channel = of.channel.row()?;
    let Some((seq, at)) = channel::next_event(db, channel, at)? else {
        return Err(not_found("channel", of.channel.as_str()));
    };
    channel::add_event(db, channel, (seq, at), kind, of.row.id.row()?)?;
    Ok(seq)
}
