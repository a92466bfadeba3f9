//! Runs: queued, running, ended; and their steps.

use delivery::faults::{Rule, broken};
use delivery::model::{BindingId, ChannelId, Key, MessageId, RunId};
use delivery::{Timestamp, Watermark};
use rusqlite::{Connection, OptionalExtension, Row};

use super::value::{Json, RowId, Time, Word, limit, not_found, rows_json};
use super::{binding, channel, log, message, session, showing, staged, watermark};
use crate::log::ChangeKind;
use crate::{Again, ChannelEventKind, Ending, Error, Run, RunEvent, RunStatus, SincePeople};

/// The kind of the steps that people are asked about.
const PERMISSION: &str = "permission";

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT r.id, r.channel, b.name, r.message, m.thread, r.status, r.error, r.created_at, r.started_at, \
             r.ended_at, r.usage, r.retry_of, r.tries, r.again_at, r.again_why \
             FROM run r JOIN binding b ON b.id = r.binding JOIN message m ON m.id = r.message ",
            $rest
        )
    };
}

pub(super) fn by_id(db: &Connection, id: &RunId) -> Result<Run, Error> {
    let mut rows = db.prepare_cached(select!("WHERE r.id = ?1"))?;
    let run = rows.query_row([id.row()?], read).optional()?.ok_or_else(|| not_found("run", id.as_str()))?;
    with_staged(db, run)
}

/// The run's row number, if it exists.
pub(super) fn existing(db: &Connection, id: &RunId) -> Result<i64, Error> {
    let mut rows = db.prepare_cached("SELECT id FROM run WHERE id = ?1")?;
    let row = rows.query_row([id.row()?], |row| row.get(0)).optional()?;
    row.ok_or_else(|| not_found("run", id.as_str()))
}

pub(super) fn of_message(db: &Connection, message: &MessageId) -> Result<Vec<Run>, Error> {
    let message = message::by_id(db, message)?.row.id.row()?;
    let mut rows = db.prepare_cached(select!("WHERE r.message = ?1 ORDER BY r.id"))?;
    let runs = rows.query_map([message], read)?.collect::<Result<Vec<_>, _>>()?;
    runs.into_iter().map(|run| with_staged(db, run)).collect()
}

/// The newest runs, newest first, without what was sent.
pub(super) fn newest(
    db: &Connection,
    channel: Option<&ChannelId>,
    runs_max: usize,
) -> Result<Vec<Run>, Error> {
    let runs = if let Some(channel) = channel {
        let mut rows = db.prepare_cached(select!("WHERE r.channel = ?1 ORDER BY r.id DESC LIMIT ?2"))?;
        let runs = rows.query_map((channel::existing(db, channel)?, limit(runs_max)), read)?;
        runs.collect::<Result<Vec<_>, _>>()?
    } else {
        let mut rows = db.prepare_cached(select!("ORDER BY r.id DESC LIMIT ?1"))?;
        rows.query_map([limit(runs_max)], read)?.collect::<Result<Vec<_>, _>>()?
    };
    let with_facts = |run: Run| Ok(Run { staged: staged::facts(db, run.id.row()?)?, ..run });
    runs.into_iter().map(with_facts).collect()
}

/// The same of these channels.
pub(super) fn newest_in(db: &Connection, channels: &[ChannelId], runs_max: usize) -> Result<Vec<Run>, Error> {
    let mut rows = db.prepare_cached(select!(
        "WHERE r.channel IN (SELECT value FROM json_each(?1)) ORDER BY r.id DESC LIMIT ?2"
    ))?;
    let runs = rows.query_map((rows_json(channels), limit(runs_max)), read)?;
    let with_facts = |run: Run| Ok(Run { staged: staged::facts(db, run.id.row()?)?, ..run });
    runs.collect::<Result<Vec<_>, _>>()?.into_iter().map(with_facts).collect()
}

/// Those of a channel after one, oldest first, without what was staged.
pub(super) fn after(
    db: &Connection,
    channel: &ChannelId,
    after: Option<&RunId>,
    runs_max: usize,
) -> Result<Vec<Run>, Error> {
    let after = after.map_or(Ok(0), RowId::row)?;
    let mut rows = db.prepare_cached(select!("WHERE r.channel = ?1 AND r.id > ?2 ORDER BY r.id LIMIT ?3"))?;
    let runs = rows.query_map((channel::existing(db, channel)?, after, limit(runs_max)), read)?;
    Ok(runs.collect::<Result<_, _>>()?)
}

pub(super) fn open(db: &Connection) -> Result<Vec<Run>, Error> {
    let mut rows = db.prepare_cached(select!("WHERE r.ended_at IS NULL ORDER BY r.id"))?;
    let runs = rows.query_map([], read)?.collect::<Result<Vec<_>, _>>()?;
    runs.into_iter().map(|run| with_staged(db, run)).collect()
}

pub(super) fn add(
    db: &Connection,
    key: &Key,
    message: &MessageId,
    retry_of: Option<&RunId>,
    at: Timestamp,
) -> Result<Run, Error> {
    let (channel, binding) = binding::of_key(db, key)?;
    let message = message::in_channel(db, channel, message)?;
    let retry_of = retry_of.map(|run| existing(db, run)).transpose()?;
    let mut insert = db.prepare_cached(
        "INSERT INTO run (channel, binding, message, status, created_at, retry_of)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let id = insert.insert((channel, binding, message, Word(RunStatus::Queued), Time(at), retry_of))?;
    tell(db, (channel, id), ChangeKind::RunQueued, at)?;
    by_id(db, &RunId::of(id))
}

/// Marks a run as running under what was staged for it.
pub(super) fn stage(db: &Connection, id: &RunId, staged: &crate::Staged, at: Timestamp) -> Result<(), Error> {
    let run = place(db, id)?;
    if run.status.ended() {
        return Err(Error::Conflict(format!("run {id} has ended")));
    }
    staged::put(db, run.row, run.channel, run.message, staged)?;
    db.prepare_cached(
        "UPDATE run SET status = ?2, started_at = ?3, again_at = NULL, again_why = NULL WHERE id = ?1",
    )?
    .execute((run.row, Word(RunStatus::Running), Time(at)))?;
    tell(db, (run.channel, run.row), ChangeKind::RunStarted, at)
}

/// Adds what the session of a running run fetched: see [`crate::Store::show_fetched`].
pub(super) fn show_fetched(
    db: &Connection,
    id: &RunId,
    fetched: &[(MessageId, u32)],
    watermark_after: Option<&Watermark>,
) -> Result<(), Error> {
    let run = place(db, id)?;
    let staged = match run.status {
        RunStatus::Running => staged::outcome(db, run.row)?,
        RunStatus::Queued
        | RunStatus::Succeeded
        | RunStatus::Failed
        | RunStatus::Cancelled
        | RunStatus::Declined => None,
    };
    let Some(staged) = staged else { return Err(Error::Conflict(format!("run {id} is not running"))) };
    let row = |(id, revision): &(MessageId, u32)| Ok((message::in_channel(db, run.channel, id)?, *revision));
    let fetched = fetched.iter().map(row).collect::<Result<Vec<_>, Error>>()?;
    showing::add_fetched(db, run.row, &staged.native, &fetched)?;
    staged::put_watermark(db, run.row, watermark_after)
}

/// Marks a run as queued again, and forgets what was staged for it.
pub(super) fn unstage(db: &Connection, id: &RunId, at: Timestamp) -> Result<(), Error> {
    let run = place(db, id)?;
    if run.status.ended() {
        return Err(Error::Conflict(format!("run {id} has ended")));
    }
    staged::forget(db, run.row)?;
    db.prepare_cached("UPDATE run SET status = ?2, started_at = NULL WHERE id = ?1")?
        .execute((run.row, Word(RunStatus::Queued)))?;
    tell(db, (run.channel, run.row), ChangeKind::RunQueued, at)
}

/// The same for one whose turn failed for a passing reason: it waits to be tried again.
pub(super) fn wait(db: &Connection, id: &RunId, again: &Again, at: Timestamp) -> Result<(), Error> {
    let run = place(db, id)?;
    if run.status.ended() {
        return Err(Error::Conflict(format!("run {id} has ended")));
    }
    staged::forget(db, run.row)?;
    let mut wait = db.prepare_cached(
        "UPDATE run SET status = ?2, started_at = NULL, tries = tries + 1, again_at = ?3, again_why = ?4
         WHERE id = ?1",
    )?;
    wait.execute((run.row, Word(RunStatus::Queued), Time(again.at), &again.why))?;
    tell(db, (run.channel, run.row), ChangeKind::RunQueued, at)
}

/// Ends a run; whether its showings and watermark count now. See [`crate::Store::end_run`].
pub(super) fn end(db: &Connection, id: &RunId, ending: &Ending, at: Timestamp) -> Result<bool, Error> {
    if !ending.status.ended() {
        return Err(Error::Conflict(format!("run {id} cannot end as {:?}", ending.status)));
    }
    let run = place(db, id)?;
    if run.status.ended() {
        return Ok(false);
    }
    let mut end = db.prepare_cached(
        "UPDATE run SET status = ?2, error = ?3, ended_at = ?4, again_at = NULL, again_why = NULL
             WHERE id = ?1",
    )?;
    end.execute((run.row, Word(ending.status), &ending.error, Time(at)))?;
    tell(db, (run.channel, run.row), ChangeKind::RunEnded, at)?;
    let Some(staged) = staged::outcome(db, run.row)? else { return Ok(false) };
    if session::lease(db, run.binding)? != Some(staged.epoch) {
        return Ok(false);
    }
    if let Some(told) = &ending.told {
        session::put_told(db, run.binding, &staged.native, told)?;
    }
    let counts = match ending.status {
        RunStatus::Succeeded => true,
        RunStatus::Declined => !broken(Rule::DeclineCommits),
        RunStatus::Queued | RunStatus::Running => false,
        RunStatus::Failed | RunStatus::Cancelled => broken(Rule::FailureCommitsNothing),
    };
    if counts {
        showing::commit(db, run.row)?;
        if let Some(watermark) = &staged.watermark_after {
            watermark::put(db, run.binding, run.channel, run.thread, watermark)?;
        }
    }
    Ok(counts)
}

/// How far agents have gone on by themselves: see [`crate::Read::since_people`].
pub(super) fn since_people(
    db: &Connection,
    channel: &ChannelId,
    thread: Option<&MessageId>,
) -> Result<SincePeople, Error> {
    let channel = channel::existing(db, channel)?;
    let thread = thread.map(|root| message::top_level(db, channel, root)?.row.id.row()).transpose()?;
    let mut here = db.prepare_cached(
        "SELECT seq FROM message WHERE channel = ?1 AND thread IS ?2 AND author_kind = 'user'
         ORDER BY seq DESC LIMIT 1",
    )?;
    let here: Option<u64> = here.query_row((channel, thread), |row| row.get(0)).optional()?;
    let mut turns = db.prepare_cached(
        "SELECT count(*) FROM message m JOIN run r ON r.message = m.id
         WHERE m.channel = ?1 AND m.thread IS ?2 AND m.seq >= ?3 AND r.retry_of IS NULL
             AND (r.started_at IS NOT NULL OR r.ended_at IS NULL)",
    )?;
    let turns = turns.query_row((channel, thread, here.unwrap_or(0)), |row| row.get(0))?;
    let mut newest = db.prepare_cached(
        "SELECT m.seq FROM event e JOIN message m ON m.id = e.message
         WHERE e.channel = ?1 AND e.kind = ?2 AND m.author_kind = 'user' ORDER BY e.seq DESC LIMIT 1",
    )?;
    let newest = newest.query_row((channel, Word(ChannelEventKind::Message)), |row| row.get(0)).optional()?;
    Ok(SincePeople { turns, newest_seq: newest.unwrap_or(0) })
}

pub(super) fn events(db: &Connection, id: &RunId) -> Result<Vec<RunEvent>, Error> {
    let mut rows = db.prepare_cached("SELECT n, at, kind, body FROM run_event WHERE run = ?1 ORDER BY n")?;
    let events = rows.query_map([existing(db, id)?], |row| {
        Ok(RunEvent {
            run: id.clone(),
            n: row.get(0)?,
            at: row.get::<_, Time>(1)?.0,
            kind: row.get(2)?,
            body: row.get(3)?,
        })
    })?;
    Ok(events.collect::<Result<_, _>>()?)
}

pub(super) fn event(db: &Connection, id: &RunId, n: u64) -> Result<RunEvent, Error> {
    let mut rows = db.prepare_cached("SELECT at, kind, body FROM run_event WHERE run = ?1 AND n = ?2")?;
    let step = i64::try_from(n).unwrap_or(i64::MAX);
    let event = rows.query_row((existing(db, id)?, step), |row| {
        Ok(RunEvent {
            run: id.clone(),
            n,
            at: row.get::<_, Time>(0)?.0,
            kind: row.get(1)?,
            body: row.get(2)?,
        })
    });
    event.optional()?.ok_or_else(|| not_found("step", &format!("{n} of {id}")))
}

pub(super) fn add_event(
    db: &Connection,
    id: &RunId,
    kind: &str,
    body: &str,
    at: Timestamp,
) -> Result<RunEvent, Error> {
    let place = place(db, id)?;
    let mut insert = db.prepare_cached(
        "INSERT INTO run_event (run, n, at, kind, body)
         SELECT ?1, coalesce(max(n), 0) + 1, ?2, ?3, ?4 FROM run_event WHERE run = ?1 RETURNING n",
    )?;
    let n = insert.query_row((place.row, Time(at), kind, body), |row| row.get(0))?;
    let change = if kind == PERMISSION { ChangeKind::Permission } else { ChangeKind::RunStep };
    let new =
        log::New { channel: Some(place.channel), run: Some(place.row), step: Some(n), ..Default::default() };
    log::add(db, at, change, &new)?;
    Ok(RunEvent { run: id.clone(), n, at, kind: kind.to_owned(), body: body.to_owned() })
}

pub(super) fn tell(
    db: &Connection,
    (channel, run): (i64, i64),
    kind: ChangeKind,
    at: Timestamp,
) -> Result<(), Error> {
    log::add(db, at, kind, &log::New { channel: Some(channel), run: Some(run), ..Default::default() })
}

/// Where a run stands, by row numbers.
struct Place {
    row: i64,
    channel: i64,
    binding: i64,
    message: i64,
    thread: Option<i64>,
    status: RunStatus,
}

fn place(db: &Connection, id: &RunId) -> Result<Place, Error> {
    let mut rows = db.prepare_cached(
        "SELECT r.id, r.channel, r.binding, r.message, m.thread, r.status
         FROM run r JOIN message m ON m.id = r.message WHERE r.id = ?1",
    )?;
    let place = rows.query_row([id.row()?], |row| {
        Ok(Place {
            row: row.get(0)?,
            channel: row.get(1)?,
            binding: row.get(2)?,
            message: row.get(3)?,
            thread: row.get(4)?,
            status: row.get::<_, Word<RunStatus>>(5)?.0,
        })
    });
    place.optional()?.ok_or_else(|| not_found("run", id.as_str()))
}

fn with_staged(db: &Connection, run: Run) -> Result<Run, Error> {
    Ok(Run { staged: staged::whole(db, run.id.row()?)?, ..run })
}

fn read(row: &Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        id: RunId::of(row.get(0)?),
        key: Key { channel: ChannelId::of(row.get(1)?), binding: BindingId(row.get(2)?) },
        message: MessageId::of(row.get(3)?),
        thread: row.get::<_, Option<i64>>(4)?.map(MessageId::of),
        status: row.get::<_, Word<RunStatus>>(5)?.0,
        error: row.get(6)?,
        created_at: row.get::<_, Time>(7)?.0,
        started_at: row.get::<_, Option<Time>>(8)?.map(|at| at.0),
        ended_at: row.get::<_, Option<Time>>(9)?.map(|at| at.0),
        staged: None,
        usage: row.get::<_, Option<Json<_>>>(10)?.map(|usage| usage.0),
        retry_of: row.get::<_, Option<i64>>(11)?.map(RunId::of),
        tries: row.get(12)?,
        again: match (row.get::<_, Option<Time>>(13)?, row.get(14)?) {
            (Some(at), Some(why)) => Some(Again { at: at.0, why }),
            (Some(_) | None, Some(_) | None) => None,
        },
    })
}
