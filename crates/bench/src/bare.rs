//! The bare loop: the statements that a post cannot do without, by hand, on a database that `storage` made.

use std::path::Path;

use anyhow::Result;
use delivery::Timestamp;
use rusqlite::{Connection, Statement};

use crate::bench::PERSON;

/// A connection with the durability that Highwater has, and none of its cares: no foreign keys, no zeroed pages.
pub(crate) fn connect(data: &Path) -> Result<Connection> {
    let connection = Connection::open(data.join("highwater.db"))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", false)?;
    Ok(connection)
}

/// The loop's statements, prepared once. One loop alone writes to the database.
pub(crate) struct Bare<'a> {
    begin: Statement<'a>,
    commit: Statement<'a>,
    channel: Statement<'a>,
    message: Statement<'a>,
    event: Statement<'a>,
    search: Statement<'a>,
    seq: i64,
    at: i64,
}

impl<'a> Bare<'a> {
    /// Goes on where the channel's sequence is.
    pub(crate) fn new(connection: &'a Connection) -> Result<Self> {
        let row = "SELECT last_seq, last_at FROM channel WHERE id = 1";
        let (seq, at) = connection.query_row(row, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Self {
            begin: connection.prepare("BEGIN IMMEDIATE")?,
            commit: connection.prepare("COMMIT")?,
            channel: connection.prepare("UPDATE channel SET last_seq = ?1, last_at = ?2 WHERE id = 1")?,
            message: connection.prepare(
                "INSERT INTO message (channel, seq, at, author_kind, author, text, client_id)
                 VALUES (1, ?1, ?2, 'user', ?3, ?4, ?5)",
            )?,
            event: connection.prepare(
                "INSERT INTO event (channel, seq, at, kind, message) VALUES (1, ?1, ?2, 'message', ?3)",
            )?,
            search: connection.prepare("INSERT INTO search (rowid, text) VALUES (?1, ?2)")?,
            seq,
            at,
        })
    }

    /// Posts all texts, each with its client id, in one transaction.
    pub(crate) fn post(&mut self, posts: &[(String, String)], at: Timestamp) -> Result<()> {
        self.begin.execute([])?;
        for (text, client_id) in posts {
            self.seq += 1;
            self.at = at.ms.max(self.at + 1);
            self.channel.execute((self.seq, self.at))?;
            let id = self.message.insert((self.seq, self.at, PERSON, text, client_id))?;
            self.event.execute((self.seq, self.at, id))?;
            self.search.execute((id, text))?;
        }
        self.commit.execute([])?;
        Ok(())
    }
}
