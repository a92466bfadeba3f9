//! One bare durable commit: the least that keeping a message can cost.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use rusqlite::Connection;

use crate::clock::Instant;

/// A database with one table.
pub(crate) struct Commits {
    connection: Connection,
}

impl Commits {
    /// A new one in a folder, with the durability that Highwater has.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let connection = Connection::open(folder.join("commits.db"))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute_batch("CREATE TABLE line (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT")?;
        Ok(Self { connection })
    }

    /// The time of one commit of one small row.
    pub(crate) fn commit(&self) -> Result<Duration> {
        let mut insert = self.connection.prepare_cached("INSERT INTO line (text) VALUES (?1)")?;
        let begun = Instant::now();
        insert.execute(["a small row"])?;
        Ok(begun.elapsed())
    }
}
