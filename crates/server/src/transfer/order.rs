//! What may stand where in an export: lines name only what stands before them, and channels are whole.

use std::collections::{BTreeMap, BTreeSet};

use delivery::mention::is_handle;
use delivery::{AuthorKind, Timestamp};
use storage::TEXT_BYTES_MAX;

use super::Fault;
use super::format::{Author, Change, Message, Record, Run};
use crate::engine::{check_channel_name, check_name, check_topic};
use crate::error::ApiError;

/// Characters of an author's name at most.
const NAME_CHARS_MAX: usize = 64;

/// What was read so far.
#[derive(Default)]
pub(super) struct Order {
    records: u64,
    /// By their present names: the names that they had before.
    people: BTreeMap<String, Vec<String>>,
    channels: BTreeSet<String>,
    open: Option<Open>,
    ended: bool,
}

/// The channel that is being read.
struct Open {
    name: String,
    agents: BTreeSet<String>,
    /// Of each event of its sequence, beginning with the first.
    events: Vec<Event>,
    last_at: Option<Timestamp>,
    /// Messages without a text that no deletion followed yet.
    deleted: BTreeSet<u64>,
    runs: u64,
}

/// What an event is, for those that name it. One byte each: a channel may have millions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    Root,
    Reply,
    Change,
}

impl Order {
    /// Takes the next record.
    pub(super) fn next(&mut self, record: &Record) -> Result<(), Fault> {
        if self.ended {
            return Err(Fault::new("", "something stands behind the last record"));
        }
        match record {
            Record::Header(_) if self.records == 0 => {}
            Record::Header(_) => return Err(Fault::new("header", "the header stands there twice")),
            Record::Person(person) => {
                if self.open.is_some() {
                    return Err(Fault::new("person", "people stand before the first channel"));
                }
                for name in [&person.name].into_iter().chain(&person.former_names) {
                    named("name", check_name(name))?;
                }
                if self.people.insert(person.name.clone(), person.former_names.clone()).is_some() {
                    return Err(Fault::new("name", format!("{} stands there twice", person.name)));
                }
            }
            Record::Channel(channel) => {
                self.close()?;
                named("name", check_channel_name(&channel.name))?;
                named("topic", check_topic(&channel.topic))?;
                if let Some(direct) = &channel.direct {
                    named("direct", check_name(direct))?;
                }
                if !self.channels.insert(channel.name.clone()) {
                    return Err(Fault::new("name", format!("channel {} stands there twice", channel.name)));
                }
                self.open = Some(Open::new(&channel.name));
            }
            Record::Member(member) => {
                open(&mut self.open, &member.channel)?;
                self.person(&member.person)?;
            }
            Record::Agent(agent) => {
                let channel = open(&mut self.open, &agent.channel)?;
                named("handle", check_name(&agent.handle))?;
                if !channel.agents.insert(agent.handle.clone()) {
                    return Err(Fault::new("handle", format!("@{} stands there twice", agent.handle)));
                }
            }
            Record::Message(message) => {
                self.author(&message.author)?;
                open(&mut self.open, &message.channel)?.message(message)?;
            }
            Record::Edit(change) => open(&mut self.open, &change.channel)?.change(change)?,
            Record::Deletion(change) => {
                let channel = open(&mut self.open, &change.channel)?;
                channel.change(change)?;
                if !channel.deleted.remove(&change.message) {
                    let what = format!("message {} has a text, or was deleted before", change.message);
                    return Err(Fault::new("message", what));
                }
            }
            Record::Run(run) => open(&mut self.open, &run.channel)?.run(run)?,
            Record::End(end) => {
                self.close()?;
                if end.records != self.records {
                    let what = format!("{} records stand before, not {}", self.records, end.records);
                    return Err(Fault::new("records", what));
                }
                self.ended = true;
            }
        }
        self.records += 1;
        Ok(())
    }

    /// The former names of a person who stands before.
    fn person(&self, name: &str) -> Result<&[String], Fault> {
        let former = self.people.get(name).map(Vec::as_slice);
        former.ok_or_else(|| Fault::new("person", format!("{name} does not stand before it")))
    }

    /// Nobody writes under the name of somebody else.
    fn author(&self, author: &Author) -> Result<(), Fault> {
        let foreign = match (&author.person, author.kind) {
            (Some(person), _) => {
                let former = self.person(person)?;
                author.name != *person && !former.contains(&author.name)
            }
            (None, AuthorKind::Agent) => self.people.contains_key(author.name.trim_start_matches('@')),
            (None, AuthorKind::User | AuthorKind::System) => false,
        };
        match foreign {
            false => Ok(()),
            true => Err(Fault::new("author", format!("{:?} is the name of somebody else", author.name))),
        }
    }

    /// The file ends.
    pub(super) fn end(&self) -> Result<(), ApiError> {
        if self.ended {
            return Ok(());
        }
        Err(ApiError::invalid("the file ends too early: its last record, {\"end\":…}, is missing"))
    }

    fn close(&mut self) -> Result<(), Fault> {
        let Some(channel) = self.open.take() else { return Ok(()) };
        match channel.deleted.first() {
            Some(message) => Err(Fault::new(
                "",
                format!(
                    "message {message} of channel {} has no text, and no deletion follows it",
                    channel.name
                ),
            )),
            None => Ok(()),
        }
    }
}

impl Open {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            agents: BTreeSet::new(),
            events: Vec::new(),
            last_at: None,
            deleted: BTreeSet::new(),
            runs: 0,
        }
    }

    fn message(&mut self, message: &Message) -> Result<(), Fault> {
        let author = &message.author;
        let fits = match author.kind {
            AuthorKind::User => is_handle(&author.name),
            AuthorKind::Agent => author.name.strip_prefix('@').is_some_and(is_handle),
            AuthorKind::System => !author.name.is_empty() && author.name.chars().count() <= NAME_CHARS_MAX,
        };
        if !fits || (author.person.is_some() && author.kind != AuthorKind::User) {
            return Err(Fault::new("author", format!("{:?} is no name of such an author", author.name)));
        }
        let event = match message.thread {
            None => Event::Root,
            Some(root) => {
                if self.event(root) != Some(Event::Root) {
                    let what = format!("no message that can have a thread has the number {root}");
                    return Err(Fault::new("thread", what));
                }
                Event::Reply
            }
        };
        match &message.text {
            Some(text) if text.is_empty() || text.len() > TEXT_BYTES_MAX => {
                return Err(Fault::new("text", format!("a text has 1 to {TEXT_BYTES_MAX} bytes")));
            }
            Some(text) if text.contains('\0') => {
                return Err(Fault::new("text", "a message cannot hold NUL characters"));
            }
            Some(_) => {}
            None => {
                self.deleted.insert(message.seq);
            }
        }
        self.event_at(message.seq, message.at, event)
    }

    fn change(&mut self, change: &Change) -> Result<(), Fault> {
        self.is_message(change.message, "message")?;
        self.event_at(change.seq, change.at, Event::Change)
    }

    fn run(&mut self, run: &Run) -> Result<(), Fault> {
        if run.n != self.runs + 1 {
            let what = format!("the next run of channel {} has the number {}", self.name, self.runs + 1);
            return Err(Fault::new("n", what));
        }
        known(&self.agents, &run.agent, "agent")?;
        self.is_message(run.message, "message")?;
        for posted in &run.posted {
            self.is_message(*posted, "posted")?;
        }
        if run.retry_of.is_some_and(|of| of == 0 || of > self.runs) {
            return Err(Fault::new("retry_of", "it tries a run again that does not stand before it"));
        }
        if run.status.ended() != run.ended_at.is_some() {
            return Err(Fault::new("ended_at", "a run has an end if it has ended, and only then"));
        }
        self.runs += 1;
        Ok(())
    }

    /// The sequence has no gap, and its times rise (I2).
    fn event_at(&mut self, seq: u64, at: Timestamp, event: Event) -> Result<(), Fault> {
        let next = self.events.len() as u64 + 1;
        if seq != next {
            let what = format!("the next event of channel {} has the number {next}, not {seq}", self.name);
            return Err(Fault::new("seq", what));
        }
        if let Some(last) = self.last_at.filter(|last| at <= *last) {
            return Err(Fault::new("at", format!("it is not later than the event before it, of {last}")));
        }
        self.last_at = Some(at);
        self.events.push(event);
        Ok(())
    }

    fn is_message(&self, seq: u64, key: &'static str) -> Result<(), Fault> {
        match self.event(seq) {
            Some(Event::Root | Event::Reply) => Ok(()),
            Some(Event::Change) | None => {
                Err(Fault::new(key, format!("no message before it has the number {seq}")))
            }
        }
    }

    fn event(&self, seq: u64) -> Option<Event> {
        let at = usize::try_from(seq.checked_sub(1)?).ok()?;
        self.events.get(at).copied()
    }
}

/// The channel that is being read, which has to be the one of that name.
fn open<'a>(open: &'a mut Option<Open>, name: &str) -> Result<&'a mut Open, Fault> {
    let Some(channel) = open else {
        return Err(Fault::new("channel", format!("channel {name} does not stand before it")));
    };
    if channel.name != name {
        return Err(Fault::new("channel", format!("channel {name} stands amid channel {}", channel.name)));
    }
    Ok(channel)
}

fn known(names: &BTreeSet<String>, name: &str, key: &'static str) -> Result<(), Fault> {
    match names.contains(name) {
        true => Ok(()),
        false => Err(Fault::new(key, format!("{name} does not stand before it"))),
    }
}

fn named(key: &'static str, checked: Result<(), ApiError>) -> Result<(), Fault> {
    checked.map_err(|error| Fault { key, error })
}
