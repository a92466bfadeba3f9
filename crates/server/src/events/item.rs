//! An event on its way to readers: rendered once, shared by all.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use delivery::model::{ChannelId, MessageId, RunId};
use delivery::turn::Lease;
use storage::{Binding, Change, LogEntry, Read, Run};

use super::Cursor;
use crate::error::ApiError;
use crate::view;
use crate::wire::{Bound, ChannelName, Event, Happened, Message, RunEvent, RunState};

/// In which form a reader wants messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Text alone.
    Text,
    /// With the text as HTML beside it.
    Html,
}

/// An event with its JSON, and whom it concerns.
#[derive(Debug)]
pub(crate) struct Item {
    /// Number of the log's entry; `None` for what is not durable.
    n: Option<u64>,
    channel: Option<ChannelId>,
    event: Event,
    text: Arc<str>,
    /// Who can be mentioned, where the event shows a message.
    handles: Arc<[String]>,
    html: OnceLock<Arc<str>>,
}

impl Item {
    /// An event that is not in the log.
    pub(crate) fn live(channel: Option<ChannelId>, event: Event) -> Arc<Self> {
        Self::new(None, channel, event, Arc::default())
    }

    fn new(n: Option<u64>, channel: Option<ChannelId>, event: Event, handles: Arc<[String]>) -> Arc<Self> {
        let text = json(&event);
        Arc::new(Self { n, channel, event, text, handles, html: OnceLock::new() })
    }

    /// Number of the log's entry; `None` for what is not durable.
    pub(crate) fn n(&self) -> Option<u64> {
        self.n
    }

    /// The channel that it happened in; `None`: in the workspace, or to the connection itself.
    pub(crate) fn channel(&self) -> Option<&ChannelId> {
        self.channel.as_ref()
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
        let mut handles = Arc::default();
        let what = match change {
            Change::ChannelAdded => self.channel_added(channel.as_ref())?,
            Change::PersonAdded(name) => self.person_added(&name)?,
            Change::AgentAdded(id) => Happened::AgentAdded { agent: bound(self.store.binding(&id)?) },
            Change::AgentRemoved(id) => Happened::AgentRemoved { agent: bound(self.store.binding(&id)?) },
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
            Change::RunStep(id, n) => Happened::RunStep { step: self.step(&id, n)?, run_id: id.0 },
            Change::Permission(id, n) => Happened::Permission { step: self.step(&id, n)?, run_id: id.0 },
        };
        let name = channel.as_ref().map(|id| self.name(id)).transpose()?;
        let cursor = Cursor { origin: self.origin, n }.to_string();
        let event = Event { cursor: Some(cursor), at: Some(at), channel: name, what };
        Ok(Item::new(Some(n), channel, event, handles))
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

    fn channel_added(&self, id: Option<&ChannelId>) -> Result<Happened, ApiError> {
        let Some(id) = id else { return Ok(Happened::Unknown) };
        let channel = self.store.channel_by_id(id)?;
        let (id, name) = (channel.id.0, channel.name);
        let added = ChannelName { id, name, direct: channel.direct, created_at: channel.created_at };
        Ok(Happened::ChannelAdded { added })
    }

    fn person_added(&self, name: &str) -> Result<Happened, ApiError> {
        match self.store.person(name) {
            Ok(person) => Ok(Happened::PersonAdded { person: view::person(person) }),
            Err(storage::Error::NotFound { .. }) => Ok(Happened::Unknown),
            Err(error) => Err(error.into()),
        }
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

    fn run(&self, id: &RunId) -> Result<RunState, ApiError> {
        let run = self.store.run(id)?;
        let agent = self.store.binding(&run.key.binding)?.spec.handle;
        Ok(run_state(run, agent))
    }

    fn step(&self, run: &RunId, n: u64) -> Result<RunEvent, ApiError> {
        Ok(view::step(self.store.run_event(run, n)?))
    }
}

/// An agent as events show it.
pub(super) fn bound(binding: Binding) -> Bound {
    let spec = binding.spec;
    Bound {
        handle: spec.handle,
        binding_id: binding.id.0,
        preset: spec.preset,
        delivery: spec.delivery,
        session: spec.session,
        supervised: spec.supervised,
        model: spec.model,
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
    }
}
