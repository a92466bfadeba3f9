//! Migrations: numbered SQL files, each applied once, in order, in a transaction of its own.

use delivery::Timestamp;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use sha2::{Digest, Sha256};

use crate::Error;

/// The SQL of every migration, in order; the first has number 1. A file that was ever released never changes.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_base.sql"),
    include_str!("migrations/0002_search.sql"),
    include_str!("migrations/0003_identity.sql"),
    include_str!("migrations/0004_read_back.sql"),
    include_str!("migrations/0005_log.sql"),
    include_str!("migrations/0006_saved_sessions.sql"),
    include_str!("migrations/0007_permissions.sql"),
    include_str!("migrations/0008_projects.sql"),
    include_str!("migrations/0009_run_life.sql"),
    include_str!("migrations/0010_memory.sql"),
    include_str!("migrations/0011_profile.sql"),
    include_str!("migrations/0012_usage.sql"),
];

/// Brings a database up to the newest of `migrations`, which are [`MIGRATIONS`] but for tests.
pub(super) fn migrate(connection: &mut Connection, migrations: &[&str], now: Timestamp) -> Result<(), Error> {
    let applied = applied(connection)?;
    check(&applied, migrations)?;
    for (number, sql) in (1_u32..).zip(migrations).skip(applied.len()) {
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        step.execute_batch(
            "CREATE TABLE IF NOT EXISTS migration (
                 number INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL
             ) STRICT;",
        )?;
        step.execute_batch(sql)?;
        step.execute("INSERT INTO migration VALUES (?1, ?2, ?3)", (number, fingerprint(sql), now.ms))?;
        step.commit()?;
    }
    Ok(())
}

/// How many of `migrations` a database has had, all of them in the form that is known; 0 for an empty one.
pub(super) fn known(connection: &Connection, migrations: &[&str]) -> Result<usize, Error> {
    let applied = applied(connection)?;
    check(&applied, migrations)?;
    Ok(applied.len())
}

/// Every table, index, view and trigger of a database: kind, name, table, and the SQL that made it.
pub(super) fn shape(connection: &Connection) -> Result<Vec<(String, String, String, String)>, Error> {
    let all = "SELECT type, name, tbl_name, sql FROM sqlite_schema
        WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name";
    let mut rows = connection.prepare(all)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    Ok(rows.query_map([], read)?.collect::<Result<_, _>>()?)
}

/// The shape of a database after so many migrations.
pub(super) fn shape_after(migrations: usize) -> Result<Vec<(String, String, String, String)>, Error> {
    let mut connection = Connection::open_in_memory()?;
    migrate(&mut connection, &MIGRATIONS[..migrations], Timestamp { ms: 0 })?;
    shape(&connection)
}

/// Refuses a database that is not exactly at the newest of `migrations`: a reader cannot bring it there.
pub(super) fn require_newest(connection: &Connection, migrations: &[&str]) -> Result<(), Error> {
    let applied = applied(connection)?;
    check(&applied, migrations)?;
    if applied.len() == migrations.len() {
        Ok(())
    } else {
        Err(Error::Unusable(format!(
            "the database has schema {} and this Highwater needs {}: start the server once to bring it up to date",
            applied.len(),
            migrations.len()
        )))
    }
}

/// Fingerprints of the migrations that a database has had, in order.
fn applied(connection: &Connection) -> Result<Vec<String>, Error> {
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'";
    let tables: u32 = connection.query_row(tables, [], |row| row.get(0))?;
    let known = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'";
    if connection.query_row(known, [], |_| Ok(())).optional()?.is_none() {
        return if tables == 0 {
            Ok(Vec::new())
        } else {
            Err(Error::Unusable(
                "the database was not made by Highwater: choose another data folder".to_owned(),
            ))
        };
    }
    let mut rows = connection.prepare("SELECT sha256 FROM migration ORDER BY number")?;
    Ok(rows.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

fn check(applied: &[String], migrations: &[&str]) -> Result<(), Error> {
    if applied.len() > migrations.len() {
        return Err(Error::Unusable(format!(
            "the database was made by a newer Highwater (schema {}; this one knows {}): start that version, or \
             restore a backup",
            applied.len(),
            migrations.len()
        )));
    }
    for (number, (had, sql)) in (1..).zip(applied.iter().zip(migrations)) {
        if *had != fingerprint(sql) {
            return Err(Error::Unusable(format!(
                "the database had migration {number} in another form than this Highwater has it: start the version \
                 that made it, or restore a backup"
            )));
        }
    }
    Ok(())
}

fn fingerprint(sql: &str) -> String {
    Sha256::digest(sql).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
