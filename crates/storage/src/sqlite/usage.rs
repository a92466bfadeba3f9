//! What turns took, and what may be spent, on SQLite.

mod limits;
mod sums;

use delivery::Timestamp;
use delivery::model::{NativeId, RunId};
use rusqlite::{Connection, OptionalExtension, Row};

use super::reader::Connected;
use super::value::{Json, RowId, Time, Word};
use super::{Sqlite, run};
use crate::log::ChangeKind;
use crate::{
    Cost, Error, LimitOf, ReadUsage, SessionMarks, Spending, SpendingLimit, StoreUsage, TranscriptMark,
    TurnUsage, Turned, Usage, UsageQuery, UsageSum,
};

/// Tokens of one turn, or millionths of money, at most: no turn takes as much, and sums of nonsense stay numbers.
const MOST: u64 = 1_000_000_000_000;

impl<T: Connected> ReadUsage for T {
    fn turns(&self, run: &RunId) -> Result<Vec<Turned>, Error> {
        let db = self.connection();
        let mut rows = db.prepare_cached(select!("WHERE run = ?1 ORDER BY n"))?;
        Ok(rows.query_map([run::existing(db, run)?], read)?.collect::<Result<_, _>>()?)
    }

    fn turns_before(&self, native: &NativeId, run: &RunId, limit: usize) -> Result<Vec<Turned>, Error> {
        let mut rows = self.connection().prepare_cached(select!(
            "WHERE native = ?1 AND run <> ?2 ORDER BY at DESC, run DESC, n DESC LIMIT ?3"
        ))?;
        let turns = rows.query_map((native.as_str(), run.row()?, super::value::limit(limit)), read)?;
        Ok(turns.collect::<Result<_, _>>()?)
    }

    fn usage(&self, query: &UsageQuery<'_>) -> Result<Vec<UsageSum>, Error> {
        self.at_once(|db| sums::of(db, query))
    }

    fn session_marks(&self, native: &NativeId) -> Result<SessionMarks, Error> {
        let mut rows = self.connection().prepare_cached(
            "SELECT cost_seen, transcript_bytes, transcript_request FROM session WHERE native = ?1",
        )?;
        let marks = rows.query_row([native.as_str()], |row| {
            let transcript = TranscriptMark { bytes: row.get(1)?, request: row.get(2)? };
            Ok(SessionMarks { cost_seen: row.get(0)?, transcript })
        });
        Ok(marks.optional()?.unwrap_or_default())
    }

    fn spending_limits(&self) -> Result<Vec<SpendingLimit>, Error> {
        limits::all(self.connection())
    }
}

impl StoreUsage for Sqlite {
    fn add_turn(&mut self, run: &RunId, took: &TurnUsage, at: Timestamp) -> Result<(), Error> {
        self.write(|db| {
            let row = run::existing(db, run)?;
            add(db, row, took, at)?;
            keep_sum(db, row)
        })
    }

    fn set_turn(&mut self, run: &RunId, took: &TurnUsage, at: Timestamp) -> Result<(), Error> {
        self.write(|db| set(db, run, took, at))
    }

    fn set_session_marks(&mut self, native: &NativeId, marks: &SessionMarks) -> Result<(), Error> {
        self.write(|db| {
            let mut update = db.prepare_cached(
                "UPDATE session SET cost_seen = ?2, transcript_bytes = ?3, transcript_request = ?4
                 WHERE native = ?1",
            )?;
            let seen = marks.cost_seen.map(|seen| seen.min(i64::MAX as u64));
            let bytes = marks.transcript.bytes.min(i64::MAX as u64);
            update.execute((native.as_str(), seen, bytes, &marks.transcript.request))?;
            Ok(())
        })
    }

    fn set_spending_limit(&mut self, of: &LimitOf, most: &Spending) -> Result<(), Error> {
        self.write(|db| limits::set(db, of, most))
    }
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT run, n, at, native, lease, source, model, input, cached_read, cached_write, output, total, cost, \
             currency, cost_by, cut FROM turn_usage ",
            $rest
        )
    };
}
use select;

/// Adds the next turn of a run.
pub(super) fn add(db: &Connection, run: i64, took: &TurnUsage, at: Timestamp) -> Result<(), Error> {
    let mut insert = db.prepare_cached(
        "INSERT INTO turn_usage (run, n, at, native, lease)
         SELECT ?1, (SELECT coalesce(max(n), 0) + 1 FROM turn_usage WHERE run = ?1), ?2, s.native, s.lease
         FROM run r LEFT JOIN staged s ON s.run = r.id WHERE r.id = ?1 RETURNING n",
    )?;
    let n = insert.query_row((run, Time(at)), |row| row.get(0))?;
    put(db, run, n, took)
}

/// Changes the newest turn of a run.
fn set(db: &Connection, id: &RunId, took: &TurnUsage, at: Timestamp) -> Result<(), Error> {
    let run = run::existing(db, id)?;
    let mut newest = db.prepare_cached(select!("WHERE run = ?1 ORDER BY n DESC LIMIT 1"))?;
    let newest = newest.query_row([run], read).optional()?;
    let Some(newest) = newest else { return Err(Error::Conflict(format!("run {id} has had no turn"))) };
    if newest.took == *took {
        return Ok(());
    }
    put(db, run, newest.n, took)?;
    keep_sum(db, run)?;
    let mut rows = db.prepare_cached("SELECT channel FROM run WHERE id = ?1")?;
    let channel = rows.query_row([run], |row| row.get(0))?;
    run::tell(db, (channel, run), ChangeKind::RunUsage, at)
}

fn put(db: &Connection, run: i64, n: u32, took: &TurnUsage) -> Result<(), Error> {
    let mut update = db.prepare_cached(
        "UPDATE turn_usage SET source = ?3, model = ?4, input = ?5, cached_read = ?6, cached_write = ?7, output = ?8,
             total = ?9, cost = ?10, currency = ?11, cost_by = ?12, cut = ?13
         WHERE run = ?1 AND n = ?2",
    )?;
    let Usage { input, output, cached_read, cached_write, total, cost } = took.usage;
    let most = |count: Option<u64>| count.map(|count| count.min(MOST));
    update.execute(rusqlite::params![
        run,
        n,
        took.source.map(Word),
        took.model,
        most(input),
        most(cached_read),
        most(cached_write),
        most(output),
        most(total),
        most(cost.map(|cost| cost.micros)),
        cost.map(|cost| Word(cost.currency)),
        cost.map(|cost| Word(cost.by)),
        took.cut,
    ])?;
    Ok(())
}

/// Keeps with the run what all its turns took.
pub(super) fn keep_sum(db: &Connection, run: i64) -> Result<(), Error> {
    let mut rows = db.prepare_cached(select!("WHERE run = ?1 ORDER BY n"))?;
    let turns = rows.query_map([run], read)?.collect::<Result<Vec<_>, _>>()?;
    let sum = turns.iter().map(|turn| turn.took.usage).reduce(|sum, more| sum.and(&more));
    db.prepare_cached("UPDATE run SET usage = ?2 WHERE id = ?1")?
        .execute((run, sum.filter(Usage::is_told).map(Json)))?;
    Ok(())
}

fn read(row: &Row<'_>) -> rusqlite::Result<Turned> {
    let cost = match (row.get(12)?, row.get(13)?, row.get(14)?) {
        (Some(micros), Some(Word(currency)), Some(Word(by))) => Some(Cost { micros, currency, by }),
        (_, _, _) => None,
    };
    Ok(Turned {
        run: RunId::of(row.get(0)?),
        n: row.get(1)?,
        at: row.get::<_, Time>(2)?.0,
        native: row.get::<_, Option<String>>(3)?.map(NativeId),
        lease: row.get::<_, Option<Word<_>>>(4)?.map(|lease| lease.0),
        took: TurnUsage {
            source: row.get::<_, Option<Word<_>>>(5)?.map(|source| source.0),
            model: row.get(6)?,
            usage: Usage {
                input: row.get(7)?,
                cached_read: row.get(8)?,
                cached_write: row.get(9)?,
                output: row.get(10)?,
                total: row.get(11)?,
                cost,
            },
            cut: row.get(15)?,
        },
    })
}
