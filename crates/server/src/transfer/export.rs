//! Writing an export: page by page, out of one state of the database.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use delivery::Timestamp;
use delivery::model::{BindingId, ChannelId, MessageId, RunId};
use storage::{Channel, ChannelEvent, ChannelEventKind, PersonId, Read};

use super::format::{self, FORMAT, Record, VERSION};
use crate::error::{ApiError, Code};

/// Events and runs that are read at once.
const PAGE: usize = 1_000;

/// Writes these channels (all without a name), and the people who belong to them: all people with all channels.
pub(crate) fn export(
    store: &dyn Read,
    names: &[String],
    at: Timestamp,
    out: &mut dyn Write,
) -> Result<(), ApiError> {
    let channels = if names.is_empty() {
        store.channels()?
    } else {
        let names: BTreeSet<&String> = names.iter().collect();
        names.into_iter().map(|name| store.channel(name)).collect::<Result<_, _>>()?
    };
    let mut writer = Writer { store, out, records: 0, people: BTreeMap::new() };
    writer.write(&Record::Header(format::Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        exported_at: at,
    }))?;
    writer.people((!names.is_empty()).then_some(&channels))?;
    for channel in channels {
        writer.channel(channel)?;
    }
    writer.write(&Record::End(format::End { records: writer.records }))
}

struct Writer<'a> {
    store: &'a dyn Read,
    out: &'a mut dyn Write,
    records: u64,
    /// Present names.
    people: BTreeMap<PersonId, String>,
}

impl Writer<'_> {
    fn write(&mut self, record: &Record) -> Result<(), ApiError> {
        let failed = |error: std::io::Error| ApiError::from(error);
        serde_json::to_writer(&mut *self.out, record).map_err(|error| failed(error.into()))?;
        self.out.write_all(b"\n").map_err(failed)?;
        self.records += 1;
        Ok(())
    }

    /// All people, or those who are in or wrote in these channels.
    fn people(&mut self, of: Option<&Vec<Channel>>) -> Result<(), ApiError> {
        let mut there = BTreeSet::new();
        for channel in of.into_iter().flatten() {
            there.extend(self.store.members(&channel.id)?.into_iter().map(|member| member.person.id));
            there.extend(self.store.authors(&channel.id)?);
        }
        for person in self.store.people()? {
            if of.is_some() && !there.contains(&person.id) {
                continue;
            }
            self.people.insert(person.id.clone(), person.name.clone());
            self.write(&Record::Person(format::Person {
                former_names: self.store.former_names(&person.id)?,
                name: person.name,
                role: person.role,
                created_at: person.created_at,
                deactivated_at: person.deactivated_at,
            }))?;
        }
        Ok(())
    }

    fn channel(&mut self, channel: Channel) -> Result<(), ApiError> {
        self.write(&Record::Channel(format::Channel {
            name: channel.name.clone(),
            direct: channel.direct,
            access: channel.access,
            topic: channel.topic,
            created_at: channel.created_at,
            archived_at: channel.archived_at,
        }))?;
        for member in self.store.members(&channel.id)? {
            self.write(&Record::Member(format::Member {
                channel: channel.name.clone(),
                person: member.person.name,
                rank: member.rank,
                since: member.since,
            }))?;
        }
        let handles = self.agents(&channel.id, &channel.name)?;
        self.events(&channel.id, &channel.name)?;
        self.runs(&channel.id, &channel.name, &handles)
    }

    /// The agents that are or were there, each once, by handle; the handles of all their bindings.
    fn agents(&mut self, id: &ChannelId, channel: &str) -> Result<BTreeMap<BindingId, String>, ApiError> {
        let mut handles = BTreeMap::new();
        let mut agents: BTreeMap<String, format::Agent> = BTreeMap::new();
        for binding in self.store.bindings_ever(id)? {
            let handle = binding.spec.handle;
            handles.insert(binding.id, handle.clone());
            let agent = agents.entry(handle.clone()).or_insert_with(|| format::Agent {
                channel: channel.to_owned(),
                handle,
                preset: String::new(),
                since: binding.created_at,
            });
            agent.preset = binding.spec.preset;
        }
        for agent in agents.into_values() {
            self.write(&Record::Agent(agent))?;
        }
        Ok(handles)
    }

    fn events(&mut self, id: &ChannelId, channel: &str) -> Result<(), ApiError> {
        let mut after = 0;
        loop {
            let page = self.store.channel_events(id, after, PAGE)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.seq;
            for event in page {
                let record = self.event(channel, event)?;
                self.write(&record)?;
            }
        }
    }

    fn event(&self, channel: &str, event: ChannelEvent) -> Result<Record, ApiError> {
        let ChannelEvent { seq, at, kind, message: id, .. } = event;
        let message = self.store.message(&id)?;
        let change = || format::Change { channel: channel.to_owned(), seq, at, message: message.row.seq };
        Ok(match kind {
            ChannelEventKind::Edit => Record::Edit(change()),
            ChannelEventKind::Deletion => Record::Deletion(change()),
            ChannelEventKind::Message | ChannelEventKind::Notice => Record::Message(format::Message {
                channel: channel.to_owned(),
                seq,
                at,
                thread: message.thread.map(|root| self.seq(&root)).transpose()?,
                author: format::Author {
                    kind: message.row.author.kind,
                    name: message.row.author.name,
                    person: message.person.and_then(|person| self.people.get(&person).cloned()),
                },
                text: message.row.deleted_seq.is_none().then_some(message.row.text),
            }),
        })
    }

    fn runs(
        &mut self,
        id: &ChannelId,
        channel: &str,
        handles: &BTreeMap<BindingId, String>,
    ) -> Result<(), ApiError> {
        let mut numbers: BTreeMap<RunId, u64> = BTreeMap::new();
        let mut after: Option<RunId> = None;
        loop {
            let page = self.store.runs_after(id, after.as_ref(), PAGE)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.id.clone());
            for run in page {
                let n = numbers.len() as u64 + 1;
                numbers.insert(run.id.clone(), n);
                let posted = self.store.messages_of_run(&run.id)?;
                let record = Record::Run(format::Run {
                    channel: channel.to_owned(),
                    n,
                    agent: handles.get(&run.key.binding).cloned().unwrap_or_default(),
                    message: self.seq(&run.message)?,
                    status: run.status,
                    error: run.error,
                    created_at: run.created_at,
                    started_at: run.started_at,
                    ended_at: run.ended_at,
                    usage: run.usage,
                    retry_of: run.retry_of.and_then(|of| numbers.get(&of).copied()),
                    posted: posted.into_iter().map(|message| message.row.seq).collect(),
                });
                self.write(&record)?;
            }
        }
    }

    /// A message's number in its channel.
    fn seq(&self, id: &MessageId) -> Result<u64, ApiError> {
        Ok(self.store.message(id)?.row.seq)
    }
}

impl From<std::io::Error> for ApiError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() == std::io::ErrorKind::StorageFull {
            true => storage::Error::DiskFull.into(),
            false => Self::new(Code::Internal, format!("the data folder cannot be used: {error}")),
        }
    }
}
