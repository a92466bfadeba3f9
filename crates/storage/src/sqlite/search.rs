//! Full-text search: words by index, text without spaces by substring within one channel.

use delivery::model::ChannelId;
use rusqlite::Connection;

use super::value::{Json, limit, rows_json};
use super::{channel, message};
use crate::{Error, Message};

/// Words of a query that count: each costs a walk through its index entries.
const WORDS_MAX: usize = 32;

pub(super) fn add(db: &Connection, message: i64, text: &str) -> Result<(), Error> {
    db.prepare_cached("INSERT INTO search (rowid, text) VALUES (?1, ?2)")?.execute((message, text))?;
    Ok(())
}

/// Takes a message out of the index. `text` is exactly the one that was added.
pub(super) fn remove(db: &Connection, message: i64, text: &str) -> Result<(), Error> {
    db.prepare_cached("INSERT INTO search (search, rowid, text) VALUES ('delete', ?1, ?2)")?
        .execute((message, text))?;
    Ok(())
}

/// Messages in which every word of the query occurs, newest first: see [`crate::Read::search`].
pub(super) fn find(
    db: &Connection,
    query: &str,
    channel: Option<&ChannelId>,
    messages_max: usize,
) -> Result<Vec<Message>, Error> {
    let channel = channel.map(|id| channel::existing(db, id)).transpose()?;
    let words = words(query);
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let Some(channel) = channel else { return by_word(db, &words, messages_max) };
    if !words.iter().any(|word| word.chars().any(unspaced)) {
        let found = by_word_in(db, &words, channel, messages_max)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    by_substring(db, &words, channel, messages_max)
}

/// The same within these channels, by index alone: see [`crate::ReadIdentity::search_in`].
pub(super) fn find_in(
    db: &Connection,
    query: &str,
    channels: &[ChannelId],
    messages_max: usize,
) -> Result<Vec<Message>, Error> {
    let words = words(query);
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let mut rows = db.prepare_cached(concat!(
        "SELECT ",
        message::columns!(),
        " FROM search s CROSS JOIN message m ON m.id = s.rowid
         WHERE s.search MATCH ?1 AND m.deleted_seq IS NULL AND m.channel IN (SELECT value FROM json_each(?2))
         ORDER BY s.rowid DESC LIMIT ?3"
    ))?;
    let found =
        rows.query_map((expression(&words), rows_json(channels), limit(messages_max)), message::read)?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// What stands between characters that are neither letters nor digits nor accents on them.
fn words(query: &str) -> Vec<&str> {
    let accent = |c: char| ('\u{0300}'..='\u{036F}').contains(&c);
    let words = query.split(|c: char| !c.is_alphanumeric() && !accent(c));
    words.filter(|word| word.chars().any(char::is_alphanumeric)).take(WORDS_MAX).collect()
}

/// Scripts that are written without spaces: a whole sentence is one word of the index.
fn unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}'        // Thai, Lao
        | '\u{1000}'..='\u{109F}'      // Myanmar
        | '\u{1100}'..='\u{11FF}'      // Hangul Jamo
        | '\u{1780}'..='\u{17FF}'      // Khmer
        | '\u{2E80}'..='\u{9FFF}'      // CJK, Kana, Bopomofo
        | '\u{AC00}'..='\u{D7AF}'      // Hangul
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FFDC}'      // half-width forms
        | '\u{20000}'..='\u{3FFFF}')
}

/// Each word as a quoted prefix: inside quotes nothing is syntax.
fn expression(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"*")).collect::<Vec<_>>().join(" ")
}

fn by_word(db: &Connection, words: &[&str], messages_max: usize) -> Result<Vec<Message>, Error> {
    let mut rows = db.prepare_cached(concat!(
        "SELECT ",
        message::columns!(),
        " FROM search s CROSS JOIN message m ON m.id = s.rowid
         WHERE s.search MATCH ?1 AND m.deleted_seq IS NULL ORDER BY s.rowid DESC LIMIT ?2"
    ))?;
    let found = rows.query_map((expression(words), limit(messages_max)), message::read)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn by_word_in(
    db: &Connection,
    words: &[&str],
    channel: i64,
    messages_max: usize,
) -> Result<Vec<Message>, Error> {
    let mut rows = db.prepare_cached(concat!(
        "SELECT ",
        message::columns!(),
        " FROM search s CROSS JOIN message m ON m.id = s.rowid
         WHERE s.search MATCH ?1 AND m.channel = ?2 AND m.deleted_seq IS NULL ORDER BY s.rowid DESC LIMIT ?3"
    ))?;
    let found = rows.query_map((expression(words), channel, limit(messages_max)), message::read)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn by_substring(
    db: &Connection,
    words: &[&str],
    channel: i64,
    messages_max: usize,
) -> Result<Vec<Message>, Error> {
    // The channel's events, not its messages, are in order: the newest are found without sorting the channel.
    let mut rows = db.prepare_cached(concat!(
        "SELECT ",
        message::columns!(),
        " FROM event e CROSS JOIN message m ON m.id = e.message
         WHERE e.channel = ?1 AND e.kind IN ('message', 'notice') AND m.deleted_seq IS NULL AND NOT EXISTS (
             SELECT 1 FROM json_each(?2) word WHERE instr(lower(m.text), lower(word.value)) = 0)
         ORDER BY e.seq DESC LIMIT ?3"
    ))?;
    let found = rows.query_map((channel, Json(words), limit(messages_max)), message::read)?;
    Ok(found.collect::<Result<_, _>>()?)
}
