//! The part of the contract that is about moving channels between servers, on SQLite.

use delivery::model::{AuthorKind, BindingId, ChannelId, RunId};
use delivery::{Author, Timestamp};
use rusqlite::{Connection, OptionalExtension};

use super::reader::Connected;
use super::value::{RowId, Time, Word, folded, not_found};
use super::{Sqlite, binding, channel, member, membership, run, search, usage};
use crate::log::ChangeKind;
use crate::record::*;
use crate::{Error, ReadTransfer, StoreTransfer, TEXT_BYTES_MAX};

impl<T: Connected> ReadTransfer for T {
    fn former_names(&self, person: &PersonId) -> Result<Vec<String>, Error> {
        member::former_names(self.connection(), person)
    }

    fn bindings_ever(&self, channel: &ChannelId) -> Result<Vec<Binding>, Error> {
        binding::ever(self.connection(), channel)
    }

    fn authors(&self, channel: &ChannelId) -> Result<Vec<PersonId>, Error> {
        let mut rows = self.connection().prepare_cached(
            "SELECT DISTINCT person FROM message WHERE channel = ?1 AND person IS NOT NULL ORDER BY person",
        )?;
        let people = rows.query_map([channel.row()?], |row| row.get(0).map(PersonId::of))?;
        Ok(people.collect::<Result<_, _>>()?)
    }

    fn runs_after(
        &self,
        channel: &ChannelId,
        after: Option<&RunId>,
        limit: usize,
    ) -> Result<Vec<Run>, Error> {
        run::after(self.connection(), channel, after, limit)
    }
}

impl StoreTransfer for Sqlite {
    fn bring_person(&mut self, new: &BroughtPerson, at: Timestamp) -> Result<(PersonId, Brought), Error> {
        self.write(|db| bring_person(db, new, at))
    }

    fn bring_channel(&mut self, new: &BroughtChannel, at: Timestamp) -> Result<ChannelId, Error> {
        self.write(|db| bring_channel(db, new, at))
    }

    fn bring_member(&mut self, new: &BroughtMember, at: Timestamp) -> Result<(), Error> {
        self.write(|db| membership::put(db, &new.channel, &new.person, (new.rank, new.since), at))
    }

    fn bring_agent(&mut self, new: &BroughtAgent) -> Result<BindingId, Error> {
        self.write(|db| bring_agent(db, new))
    }

    fn bring_event(&mut self, new: &BroughtEvent) -> Result<(), Error> {
        self.write(|db| bring_event(db, new))
    }

    fn bring_run(&mut self, new: &BroughtRun) -> Result<RunId, Error> {
        self.write(|db| bring_run(db, new))
    }
}

fn bring_person(db: &Connection, new: &BroughtPerson, at: Timestamp) -> Result<(PersonId, Brought), Error> {
    let (id, brought) = match member::row_of_name(db, &new.name)? {
        Some(row) => (PersonId::of(row), Brought::There),
        None => {
            let person = member::add_person(db, &new.name, new.role, new.created_at)?;
            member::set_deactivated(db, &person.id, new.deactivated_at, at)?;
            (person.id, Brought::Made)
        }
    };
    for name in &new.former_names {
        if member::holder(db, name)?.is_none() {
            member::add_former_name(db, &id, name)?;
        }
    }
    Ok((id, brought))
}

fn bring_channel(db: &Connection, new: &BroughtChannel, at: Timestamp) -> Result<ChannelId, Error> {
    let id = match channel::by_name(db, &new.name) {
        // A direct conversation is its person's, also before the first word.
        Ok(there) if there.last_seq > 0 || there.direct != new.direct => {
            return Err(Error::Exists { what: "channel", name: new.name.clone() });
        }
        Ok(there) => there.id,
        Err(Error::NotFound { .. }) => {
            let kind = match (&new.direct, new.access) {
                (Some(handle), _) => ChannelKind::Direct(handle),
                (None, Access::Private) => ChannelKind::Private,
                (None, Access::Public) => ChannelKind::Public,
            };
            channel::add(db, &new.name, kind, new.created_at)?.id
        }
        Err(other) => return Err(other),
    };
    db.prepare_cached("UPDATE channel SET created_at = ?2 WHERE id = ?1")?
        .execute((id.row()?, Time(new.created_at)))?;
    for change in [
        ChannelChange::Access(new.access),
        ChannelChange::Topic(new.topic.clone()),
        ChannelChange::ArchivedAt(new.archived_at),
    ] {
        channel::change(db, &id, &change, at)?;
    }
    Ok(id)
}

fn bring_agent(db: &Connection, new: &BroughtAgent) -> Result<BindingId, Error> {
    let bound = binding::bound(db, Some(&new.channel))?;
    if let Some(there) = bound.into_iter().find(|there| folded(&there.spec.handle) == folded(&new.handle)) {
        return Ok(there.id);
    }
    let spec = NewBinding {
        channel: new.channel.clone(),
        handle: new.handle.clone(),
        preset: new.preset.clone(),
        profile: crate::Profile::Own,
        command: Vec::new(),
        delivery: delivery::Policy::Lean,
        session: delivery::model::SessionPolicy::Resident,
        when_cold: delivery::model::WhenCold::Reload,
        supervised: true,
        env: Vec::new(),
        model: None,
        cwd: None,
        instructions: None,
        addressed_by: AddressedBy::default(),
        permissions: crate::PermissionRules::default(),
        limits: OwnLimits::default(),
    };
    let id = binding::add(db, &spec, new.since)?.id;
    binding::remove(db, &id, new.brought_at)?;
    Ok(id)
}

fn bring_event(db: &Connection, new: &BroughtEvent) -> Result<(), Error> {
    let row = channel::existing(db, &new.channel)?;
    let mut newest = db.prepare_cached("SELECT last_seq, last_at FROM channel WHERE id = ?1")?;
    let (seq, at): (u64, Time) = newest.query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if new.seq != seq + 1 || new.at <= at.0 {
        return Err(Error::Conflict(format!(
            "event {} at {} does not follow event {seq} of channel {}",
            new.seq, new.at, new.channel
        )));
    }
    let (kind, message) = match &new.what {
        BroughtEventKind::Message { thread, author, person, text } => {
            let kind = match author.kind {
                AuthorKind::User | AuthorKind::Agent => ChannelEventKind::Message,
                AuthorKind::System => ChannelEventKind::Notice,
            };
            (kind, add_message(db, row, new, *thread, (author, person.as_ref()), text)?)
        }
        BroughtEventKind::Edit(of) => {
            let message = message_of(db, row, *of)?;
            let edit = "UPDATE message SET revision = revision + 1, edited_seq = ?2 WHERE id = ?1";
            db.prepare_cached(edit)?.execute((message, new.seq))?;
            (ChannelEventKind::Edit, message)
        }
        BroughtEventKind::Deletion(of) => {
            let message = message_of(db, row, *of)?;
            let delete =
                "UPDATE message SET deleted_seq = ?2 WHERE id = ?1 AND text = '' AND deleted_seq IS NULL";
            if db.prepare_cached(delete)?.execute((message, new.seq))? == 0 {
                return Err(Error::Conflict(format!("message {of} is not one that was deleted here")));
            }
            (ChannelEventKind::Deletion, message)
        }
    };
    db.prepare_cached("UPDATE channel SET last_seq = ?2, last_at = ?3 WHERE id = ?1")?.execute((
        row,
        new.seq,
        Time(new.at),
    ))?;
    channel::add_event(db, row, (new.seq, new.at), kind, message)
}

fn add_message(
    db: &Connection,
    channel: i64,
    event: &BroughtEvent,
    thread: Option<u64>,
    (author, person): (&Author, Option<&PersonId>),
    text: &str,
) -> Result<i64, Error> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Error::Conflict(format!("a message has at most {TEXT_BYTES_MAX} bytes")));
    }
    let thread = thread.map(|root| message_of(db, channel, root)).transpose()?;
    let person = person.map(|person| member::existing(db, person)).transpose()?;
    let mut insert = db.prepare_cached(
        "INSERT INTO message (channel, thread, seq, at, author_kind, author, text, person)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    let id = insert.insert((
        channel,
        thread,
        event.seq,
        Time(event.at),
        author.kind.as_str(),
        &author.name,
        text,
        person,
    ))?;
    if !text.is_empty() {
        search::add(db, id, text)?;
    }
    Ok(id)
}

fn bring_run(db: &Connection, new: &BroughtRun) -> Result<RunId, Error> {
    if !new.status.ended() {
        return Err(Error::Conflict("only runs that have ended are brought along".to_owned()));
    }
    let channel = channel::existing(db, &new.channel)?;
    let message = message_of(db, channel, new.message)?;
    let retry_of = new.retry_of.as_ref().map(|of| run::existing(db, of)).transpose()?;
    let binding = binding::existing(db, &new.binding)?;
    let posted: Result<Vec<i64>, Error> =
        new.posted.iter().map(|posted| message_of(db, channel, *posted)).collect();
    let posted = posted?;
    let mut insert = db.prepare_cached(
        "INSERT INTO run (channel, binding, message, status, error, created_at, started_at, ended_at, retry_of)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    let row = insert.insert((
        channel,
        binding,
        message,
        Word(new.status),
        &new.error,
        Time(new.created_at),
        new.started_at.map(Time),
        Time(new.ended_at),
        retry_of,
    ))?;
    if new.started_at.is_some() || new.usage.is_some() {
        let source = new.usage.map(|_| UsageSource::Agent);
        let took = TurnUsage { usage: new.usage.unwrap_or_default(), source, ..TurnUsage::default() };
        usage::add(db, row, &took, new.ended_at)?;
        usage::keep_sum(db, row)?;
    }
    let mut update = db.prepare_cached("UPDATE message SET run = ?2 WHERE id = ?1")?;
    for message in posted {
        update.execute((message, row))?;
    }
    run::tell(db, (channel, row), ChangeKind::RunEnded, new.ended_at)?;
    Ok(RunId::of(row))
}

/// The row of the message that was made by this event of a channel.
fn message_of(db: &Connection, channel: i64, seq: u64) -> Result<i64, Error> {
    let mut rows = db.prepare_cached(
        "SELECT message FROM event WHERE channel = ?1 AND seq = ?2 AND kind IN ('message', 'notice')",
    )?;
    let row = rows.query_row((channel, seq), |row| row.get(0)).optional()?;
    row.ok_or_else(|| not_found("message", &format!("number {seq}")))
}
