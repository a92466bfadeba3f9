//! Importing: each record of a checked file becomes rows of the store, in one transaction.

use std::collections::BTreeMap;

use delivery::model::{BindingId, ChannelId, RunId};
use delivery::{Author, Timestamp};
use storage::{
    BroughtAgent, BroughtChannel, BroughtEvent, BroughtEventKind, BroughtMember, BroughtPerson, BroughtRun,
    PersonId, Role, RunStatus, Store,
};

use super::format::{Message, Person, Record, Run};
use super::{Fault, read};
use crate::error::{ApiError, Code};
use crate::spool::Spool;

/// How far the clock of another server may be before ours: a day.
const CLOCKS_APART_MS: i64 = 86_400_000;

/// Why a run that had not ended has ended now.
const NOT_ENDED: &str = "it had not ended when its channel was exported";

/// What an import brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brought {
    /// Names of channels, in the order of the file.
    pub channels: Vec<String>,
    /// Names of people who are new here, and cannot sign in until they get a link.
    pub new_people: Vec<String>,
    /// Those of them who were owners elsewhere and are members here.
    pub owners: Vec<String>,
    /// How many messages and notices.
    pub messages: u64,
    /// How many runs.
    pub runs: u64,
    /// How many of those were cancelled, since they had not ended.
    pub cancelled: u64,
}

/// Imports a whole file, or changes nothing that the transaction around it keeps.
pub(crate) fn bring(store: &mut dyn Store, spool: &Spool, now: Timestamp) -> Result<Brought, ApiError> {
    let mut work = Work {
        store,
        now,
        done: Brought::default(),
        people: BTreeMap::new(),
        channel: None,
        agents: BTreeMap::new(),
        runs: Vec::new(),
    };
    read(spool, |record| work.take(record))?;
    Ok(work.done)
}

struct Work<'a> {
    store: &'a mut dyn Store,
    now: Timestamp,
    done: Brought,
    people: BTreeMap<String, PersonId>,
    channel: Option<ChannelId>,
    agents: BTreeMap<String, BindingId>,
    /// Of the present channel, in order.
    runs: Vec<RunId>,
}

impl Work<'_> {
    fn take(&mut self, record: Record) -> Result<(), Fault> {
        match record {
            Record::Header(_) | Record::End(_) => Ok(()),
            Record::Person(person) => self.person(person),
            Record::Channel(channel) => {
                let new = BroughtChannel {
                    name: channel.name.clone(),
                    direct: channel.direct,
                    access: channel.access,
                    topic: channel.topic,
                    created_at: channel.created_at,
                    archived_at: channel.archived_at,
                };
                let id =
                    self.store.bring_channel(&new, self.now).map_err(|error| clash(error, &channel.name))?;
                self.channel = Some(id);
                self.agents.clear();
                self.runs.clear();
                self.done.channels.push(channel.name);
                Ok(())
            }
            Record::Member(member) => {
                let person = self.people.get(&member.person).cloned().ok_or_else(|| lost("person"))?;
                let channel = self.channel()?;
                let new = BroughtMember { channel, person, rank: member.rank, since: member.since };
                self.store.bring_member(&new, self.now).map_err(stored("person"))
            }
            Record::Agent(agent) => {
                let new = BroughtAgent {
                    channel: self.channel()?,
                    handle: agent.handle.clone(),
                    preset: agent.preset,
                    since: agent.since,
                    brought_at: self.now,
                };
                let id = self.store.bring_agent(&new).map_err(stored("handle"))?;
                self.agents.insert(agent.handle, id);
                Ok(())
            }
            Record::Message(message) => self.message(message),
            Record::Edit(change) => self.event(change.seq, change.at, BroughtEventKind::Edit(change.message)),
            Record::Deletion(change) => {
                self.event(change.seq, change.at, BroughtEventKind::Deletion(change.message))
            }
            Record::Run(run) => self.run(run),
        }
    }

    /// An import gives nobody the rights of an owner.
    fn person(&mut self, person: Person) -> Result<(), Fault> {
        let role = match person.role {
            Role::Owner | Role::Member => Role::Member,
            Role::Guest => Role::Guest,
        };
        let new = BroughtPerson {
            name: person.name.clone(),
            former_names: person.former_names,
            role,
            created_at: person.created_at,
            deactivated_at: person.deactivated_at,
        };
        let (id, brought) = self.store.bring_person(&new, self.now).map_err(stored("name"))?;
        match brought {
            storage::Brought::There => {}
            storage::Brought::Made => {
                self.done.new_people.push(person.name.clone());
                if person.role == Role::Owner {
                    self.done.owners.push(person.name.clone());
                }
            }
        }
        self.people.insert(person.name, id);
        Ok(())
    }

    fn message(&mut self, message: Message) -> Result<(), Fault> {
        let person = match &message.author.person {
            Some(name) => Some(self.people.get(name).cloned().ok_or_else(|| lost("person"))?),
            None => None,
        };
        let what = BroughtEventKind::Message {
            thread: message.thread,
            author: Author { kind: message.author.kind, name: message.author.name },
            person,
            text: message.text.unwrap_or_default(),
        };
        self.done.messages += 1;
        self.event(message.seq, message.at, what)
    }

    fn event(&mut self, seq: u64, at: Timestamp, what: BroughtEventKind) -> Result<(), Fault> {
        // The channel's own times go on from its last one.
        if at.ms > self.now.ms.saturating_add(CLOCKS_APART_MS) {
            return Err(Fault::new("at", "it is later than the present"));
        }
        let new = BroughtEvent { channel: self.channel()?, seq, at, what };
        self.store.bring_event(&new).map_err(stored("seq"))
    }

    /// A run comes as history: one that had not ended ends here, and nothing begins.
    fn run(&mut self, run: Run) -> Result<(), Fault> {
        let (status, error) = match run.status {
            RunStatus::Queued | RunStatus::Running => {
                self.done.cancelled += 1;
                (RunStatus::Cancelled, Some(NOT_ENDED.to_owned()))
            }
            ended @ (RunStatus::Succeeded
            | RunStatus::Failed
            | RunStatus::Cancelled
            | RunStatus::Declined) => (ended, run.error),
        };
        let retry_of = match run.retry_of.and_then(|n| usize::try_from(n).ok()?.checked_sub(1)) {
            Some(at) => Some(self.runs.get(at).cloned().ok_or_else(|| lost("retry_of"))?),
            None => None,
        };
        let new = BroughtRun {
            channel: self.channel()?,
            binding: self.agents.get(&run.agent).cloned().ok_or_else(|| lost("agent"))?,
            message: run.message,
            status,
            error,
            created_at: run.created_at,
            started_at: run.started_at,
            ended_at: run.ended_at.unwrap_or(self.now),
            usage: run.usage,
            retry_of,
            posted: run.posted,
        };
        let id = self.store.bring_run(&new).map_err(stored("n"))?;
        self.runs.push(id);
        self.done.runs += 1;
        Ok(())
    }

    fn channel(&self) -> Result<ChannelId, Fault> {
        self.channel.clone().ok_or_else(|| lost("channel"))
    }
}

fn stored(key: &'static str) -> impl Fn(storage::Error) -> Fault {
    move |error| Fault { key, error: error.into() }
}

/// A channel of that name is there, and somebody wrote in it.
fn clash(error: storage::Error, name: &str) -> Fault {
    let error = ApiError::from(error);
    let message = match error.code == Code::Exists {
        true => format!(
            "{}; rename the one that is here (highwater channel rename {name} NEW), or export without it",
            error.message
        ),
        false => error.message,
    };
    Fault { key: "name", error: ApiError { message, ..error } }
}

/// The file was checked before: it names nothing that does not stand in it.
fn lost(key: &'static str) -> Fault {
    Fault::new(key, "it names something that is not there")
}
