//! An event on its way to readers: rendered once, shared by all.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use delivery::model::{BindingId, ChannelId, MessageId, RunId};
use delivery::turn::Lease;
use storage::{Binding, Change, Channel, Hold, LogEntry, PermissionId, PersonId, Read, Run};

use super::Cursor;
use crate::error::ApiError;
use crate::view;
use crate::wire::{Bound, ChannelInfo, Event, Happened, Message, Permission, Person, RunEvent, RunState};

/// In which form a reader wants messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Text alone.
    Text,
    /// With the text as HTML beside it.
    Html,
}

/// Whom an event concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Whoever it is sent to.
    Everybody,
    /// Nobody: it is for the server itself.
    Nobody,
    /// Who reads the channel.
    Channel(ChannelId),
    /// Who reads the channel, and the person who is in it no more.
    Left(ChannelId, PersonId),
    /// Who could find the channel while it was public.
    Closed(ChannelId),
    /// Who knows of the person: by their role, or since they share one of these channels.
    Person(PersonId, Vec<ChannelId>),
}

/// What an entry of the log may change of what readers see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    None,
    /// Something, of some of them.
    Sights,
}

/// An event with its JSON, and whom it concerns.
#[derive(Debug)]
pub(crate) struct Item {
    /// Number of the log's entry; `None` for what is not durable.
    n: Option<u64>,
    channel: Option<ChannelId>,
    audience: Audience,
    effect: Effect,
    event: Event,
    text: Arc<str>,
    /// Who can be mentioned, where the event shows a message.
    handles: Arc<[String]>,
    html: OnceLock<Arc<str>>,
}

impl Item {
    /// An event that is not in the log.
    pub(crate) fn live(channel: Option<ChannelId>, event: Event) -> Arc<Self> {
        let audience = channel.clone().map_or(Audience::Everybody, Audience::Channel);
        let (text, handles, html) = (json(&event), Arc::default(), OnceLock::new());
        Arc::new(Self { n: None, channel, audience, effect: Effect::None, event, text, handles, html })
    }

    /// Number of the log's entry; `None` for what is not durable.
    pub(crate) fn n(&self) -> Option<u64> {
        self.n
    }

    /// The channel that it happened in; `None`: in the workspace, or to the connection itself.
    pub(crate) fn channel(&self) -> Option<&ChannelId> {
        self.channel.as_ref()
    }

    /// Whom it concerns.
    pub(super) fn audience(&self) -> &Audience {
        &self.audience
    }

    /// What it may change of what readers see.
    pub(super) fn effect(&self) -> Effect {
        self.effect
    }

    /// The event.
    pub(crate) fn event(&self) -> &Event {
        &self.event
    }

    /// Its JSON, on one line.
    pub(crate) fn json(&self, form: Form) -> Arc<str> {
        match form {
            Form::Text => self.text.clone(),
            Form::Html => match self.event.what.message() {
                Some(message) => self.html.get_or_init(|| self.with_html(message)).clone(),
                None => self.text.clone(),
            },
        }
    }

    fn with_html(&self, message: &Message) -> Arc<str> {
        let message = view::with_html(message.clone(), &self.handles);
        let event = self.event.clone();
        json(&Event { what: event.what.clone().with_message(message), ..event })
    }
}

fn json(event: &Event) -> Arc<str> {
    match serde_json::to_string(event) {
        Ok(text) => text.into(),
        Err(error) => {
            // Every key is text, so this cannot be; a reader gets something that it can read all the same.
            tracing::error!(%error, "an event could not be written as JSON");
            "{\"kind\":\"unknown\"}".into()
        }
    }
}

/// Renders entries of the log as things stand now.
pub(crate) struct Renderer<'a> {
    store: &'a dyn Read,
    origin: [u8; 8],
    names: BTreeMap<ChannelId, String>,
    handles: BTreeMap<ChannelId, Arc<[String]>>,
}

impl<'a> Renderer<'a> {
    pub(crate) fn new(store: &'a dyn Read, origin: [u8; 8]) -> Self {
        Self { store, origin, names: BTreeMap::new(), handles: BTreeMap::new() }
    }

    /// One entry.
    pub(crate) fn item(&mut self, entry: LogEntry) -> Result<Arc<Item>, ApiError> {
        let LogEntry { n, at, channel, change } = entry;
        let (audience, effect) = self.concerns(channel.as_ref(), &change)?;
        let mut handles = Arc::default();
        let what = match change {
            Change::ChannelAdded => {
                self.channel(channel.as_ref(), |added| Happened::ChannelAdded { added })?
            }
            Change::ChannelChanged => {
                self.channel(channel.as_ref(), |changed| Happened::ChannelChanged { changed })?
            }
            Change::ChannelClosed => Happened::ChannelClosed,
            Change::PersonAdded(id) => Happened::PersonAdded { person: self.person(&id)? },
            Change::PersonChanged(id) => Happened::PersonChanged { person: self.person(&id)? },
            Change::AccessEnded(_) => Happened::Unknown,
            Change::MemberAdded(id) => self.member_added(channel.as_ref(), &id)?,
            Change::MemberRemoved(id) => Happened::MemberRemoved { person_id: id.0 },
            Change::AgentAdded(id) => Happened::AgentAdded { agent: self.bound(&id)? },
            Change::AgentChanged(id) => Happened::AgentChanged { agent: self.bound(&id)? },
            Change::AgentRemoved(id) => Happened::AgentRemoved { agent: self.bound(&id)? },
            Change::MessageAdded(id) => Happened::MessageAdded { message: self.message(&id, &mut handles)? },
            Change::MessageEdited(id) => {
                Happened::MessageEdited { message: self.message(&id, &mut handles)? }
            }
            Change::MessageDeleted(id) => {
                Happened::MessageDeleted { message: self.message(&id, &mut handles)? }
            }
            Change::RunQueued(id) => Happened::RunQueued { run: self.run(&id)? },
            Change::RunStarted(id) => Happened::RunStarted { run: self.run(&id)? },
            Change::RunEnded(id) => Happened::RunEnded { run: self.run(&id)? },
            Change::RunUsage(id) => Happened::RunUsage { run: self.run(&id)? },
            Change::RunStep(id, n) => Happened::RunStep { step: self.step(&id, n)?, run_id: id.0 },
            Change::Permission(id, n) => Happened::Permission { step: self.step(&id, n)?, run_id: id.0 },
            Change::PermissionAsked(id) => Happened::PermissionAsked { permission: self.permission(&id)? },
            Change::PermissionDecided(id) => {
                Happened::PermissionDecided { permission: self.permission(&id)? }
            }
            Change::PauseChanged => Happened::PauseChanged { paused_at: self.store.paused_at()? },
        };
        // Those who are told that they do not reach it any more are not told what it is called now.
        let name = match &audience {
            Audience::Channel(id) => Some(self.name(id)?),
            Audience::Everybody
            | Audience::Nobody
            | Audience::Left(..)
            | Audience::Closed(_)
            | Audience::Person(..) => None,
        };
        let cursor = Some(Cursor { origin: self.origin, n }.to_string());
        let channel_id = channel.as_ref().map(|id| id.0.clone());
        let event = Event { cursor, at: Some(at), channel: name, channel_id, what };
        let (n, text, html) = (Some(n), json(&event), OnceLock::new());
        Ok(Arc::new(Item { n, channel, audience, effect, event, text, handles, html }))
    }

    fn concerns(&self, channel: Option<&ChannelId>, change: &Change) -> Result<(Audience, Effect), ApiError> {
        let channel = || channel.cloned().unwrap_or_else(|| ChannelId(String::new()));
        Ok(match change {
            // One who has left since: the event that tells so follows.
            Change::MemberAdded(person) if self.store.rank(&channel(), person)?.is_none() => {
                (Audience::Nobody, Effect::Sights)
            }
            Change::ChannelAdded | Change::ChannelChanged | Change::MemberAdded(_) => {
                (Audience::Channel(channel()), Effect::Sights)
            }
            Change::ChannelClosed => (Audience::Closed(channel()), Effect::Sights),
            Change::MemberRemoved(person) => (Audience::Left(channel(), person.clone()), Effect::Sights),
            Change::PersonAdded(person) | Change::PersonChanged(person) => {
                let shared = self.store.memberships(person)?.into_iter().map(|one| one.channel);
                (Audience::Person(person.clone(), shared.collect()), Effect::Sights)
            }
            Change::AccessEnded(_) => (Audience::Nobody, Effect::Sights),
            Change::PauseChanged => (Audience::Everybody, Effect::None),
            Change::AgentAdded(_)
            | Change::AgentChanged(_)
            | Change::AgentRemoved(_)
            | Change::MessageAdded(_)
            | Change::MessageEdited(_)
            | Change::MessageDeleted(_)
            | Change::RunQueued(_)
            | Change::RunStarted(_)
            | Change::RunEnded(_)
            | Change::RunUsage(_)
            | Change::RunStep(..)
            | Change::Permission(..)
            | Change::PermissionAsked(_)
            | Change::PermissionDecided(_) => (Audience::Channel(channel()), Effect::None),
        })
    }

    /// A channel's name.
    pub(crate) fn name(&mut self, id: &ChannelId) -> Result<String, ApiError> {
        if let Some(name) = self.names.get(id) {
            return Ok(name.clone());
        }
        let name = self.store.channel_by_id(id)?.name;
        self.names.insert(id.clone(), name.clone());
        Ok(name)
    }

    fn channel(
        &self,
        id: Option<&ChannelId>,
        happened: impl FnOnce(ChannelInfo) -> Happened,
    ) -> Result<Happened, ApiError> {
        let Some(id) = id else { return Ok(Happened::Unknown) };
        Ok(happened(channel_info(self.store.channel_by_id(id)?)))
    }

    fn person(&self, id: &PersonId) -> Result<Person, ApiError> {
        Ok(view::person(self.store.person_by_id(id)?))
    }

    fn member_added(&self, channel: Option<&ChannelId>, person: &PersonId) -> Result<Happened, ApiError> {
        let Some(channel) = channel else { return Ok(Happened::Unknown) };
        let there = self.store.members(channel)?.into_iter().find(|member| member.person.id == *person);
        Ok(there.map_or(Happened::Unknown, |member| Happened::MemberAdded { member: view::member(member) }))
    }

    fn message(&mut self, id: &MessageId, handles: &mut Arc<[String]>) -> Result<Message, ApiError> {
        let message = self.store.message(id)?;
        let name = self.name(&message.channel)?;
        if message.row.text.contains('@') {
            *handles = self.handles(&message.channel)?;
        }
        Ok(view::message(message, &name))
    }

    fn handles(&mut self, id: &ChannelId) -> Result<Arc<[String]>, ApiError> {
        if let Some(handles) = self.handles.get(id) {
            return Ok(handles.clone());
        }
        let handles: Arc<[String]> = view::handles(self.store, id)?.into();
        self.handles.insert(id.clone(), handles.clone());
        Ok(handles)
    }

    fn bound(&self, id: &BindingId) -> Result<Bound, ApiError> {
        Ok(bound(self.store.binding(id)?, self.store.hold(id)?))
    }

    fn run(&self, id: &RunId) -> Result<RunState, ApiError> {
        let run = self.store.run(id)?;
        let agent = self.store.binding(&run.key.binding)?.spec.handle;
        Ok(run_state(run, agent))
    }

    fn permission(&self, id: &PermissionId) -> Result<Permission, ApiError> {
        view::permission(self.store, self.store.permission(id)?)
    }

    fn step(&self, run: &RunId, n: u64) -> Result<RunEvent, ApiError> {
        Ok(view::step(self.store.run_event(run, n)?))
    }
}

/// A channel as events show it.
pub(super) fn channel_info(channel: Channel) -> ChannelInfo {
    ChannelInfo {
        id: channel.id.0,
        name: channel.name,
        direct: channel.direct,
        created_at: channel.created_at,
        access: channel.access,
        topic: channel.topic,
        archived_at: channel.archived_at,
        paused_at: channel.paused_at,
    }
}

/// An agent as events show it.
pub(super) fn bound(binding: Binding, hold: Option<Hold>) -> Bound {
    let spec = binding.spec;
    Bound {
        handle: spec.handle,
        binding_id: binding.id.0,
        preset: spec.preset,
        delivery: spec.delivery,
        session: spec.session,
        supervised: spec.supervised,
        addressed_by: spec.addressed_by,
        answered_by: spec.permissions.answered_by,
        model: spec.model,
        hold: hold.map(Into::into),
    }
}

/// A run as events show it.
pub(super) fn run_state(run: Run, agent: String) -> RunState {
    let lease = run.staged.as_ref().map(|staged| match staged.lease {
        Lease::Cold => "cold",
        Lease::Restored => "restored",
        Lease::Warm => "warm",
    });
    RunState {
        id: run.id.0,
        status: view::status(run.status).to_owned(),
        agent,
        binding_id: run.key.binding.0,
        message_id: run.message.0,
        thread_root_id: run.thread.map(|id| id.0),
        lease: lease.map(str::to_owned),
        error: run.error,
        usage: run.usage.map(view::usage),
        created_at: run.created_at,
        started_at: run.started_at,
        ended_at: run.ended_at,
        retry_of: run.retry_of.map(|id| id.0),
        tries: run.tries,
        again_at: run.again.map(|again| again.at),
    }
}
