//! Stored values as the API shows them.

mod diff;
mod permission;
mod usage;
mod waiting;

use delivery::model::ChannelId;
use delivery::residency::State;
use delivery::turn::Lease;
use storage::{Binding, Channel, ChannelMember, Message, Person, Read, Run, RunEvent, RunStatus};

pub(crate) use self::permission::{outcome_words, permission, rules};
pub(crate) use self::usage::{sum, turn, usage};
use crate::engine::{Board, key_of};
use crate::error::ApiError;
use crate::html;
use crate::rights::{self, Principal};
use crate::start::StartAgents;
use crate::wire;

pub(crate) fn message(message: Message, channel: &str) -> wire::Message {
    let row = message.row;
    wire::Message {
        id: row.id.0,
        seq: row.seq,
        created_at: row.created_at,
        author: wire::Author {
            kind: row.author.kind.as_str().to_owned(),
            name: row.author.name,
            person_id: message.person.map(|id| id.0),
        },
        text: row.text,
        thread_root_id: message.thread.map(|id| id.0),
        channel: channel.to_owned(),
        run_id: message.run.map(|id| id.0),
        revision: message.revision,
        deleted: row.deleted_seq.is_some(),
        html: None,
    }
}

/// Who can be mentioned in a channel, for its messages as HTML.
pub(crate) fn handles(store: &dyn Read, channel: &ChannelId) -> Result<Vec<String>, ApiError> {
    let agents = store.bindings(Some(channel))?.into_iter().map(|binding| binding.spec.handle);
    let people = store.members(channel)?.into_iter().map(|member| member.person.name);
    Ok(agents.chain(people).collect())
}

/// The same message with its text as HTML.
pub(crate) fn with_html(message: wire::Message, handles: &[String]) -> wire::Message {
    let handles: Vec<&str> = handles.iter().map(String::as_str).collect();
    let html = html::render(&message.text, &handles);
    wire::Message { html: Some(html), ..message }
}

/// A message, its channel's name looked up.
pub(crate) fn named_message(store: &dyn Read, stored: Message) -> Result<wire::Message, ApiError> {
    let channel = store.channel_by_id(&stored.channel)?;
    Ok(message(stored, &channel.name))
}

pub(crate) fn person(person: Person) -> wire::Person {
    wire::Person {
        id: person.id.0,
        name: person.name,
        role: person.role,
        created_at: person.created_at,
        deactivated_at: person.deactivated_at,
    }
}

pub(crate) fn member(member: ChannelMember) -> wire::Member {
    wire::Member { person: person(member.person), rank: member.rank, since: member.since }
}

pub(crate) fn channel(
    store: &dyn Read,
    who: &Principal,
    channel: Channel,
    board: &Board,
    start: &StartAgents,
) -> Result<wire::Channel, ApiError> {
    let bindings = store.bindings(Some(&channel.id))?;
    let agents: Result<Vec<wire::Agent>, ApiError> =
        bindings.into_iter().map(|binding| agent(store, who, binding, board, start)).collect();
    Ok(wire::Channel {
        rank: store.rank(&channel.id, &who.person)?,
        id: channel.id.0,
        name: channel.name,
        direct: channel.direct,
        created_at: channel.created_at,
        last_seq: channel.last_seq,
        access: channel.access,
        topic: channel.topic,
        archived_at: channel.archived_at,
        paused_at: channel.paused_at,
        agents: agents?,
    })
}

pub(crate) fn agent(
    store: &dyn Read,
    who: &Principal,
    binding: Binding,
    board: &Board,
    start: &StartAgents,
) -> Result<wire::Agent, ApiError> {
    let channel = store.channel_by_id(&binding.spec.channel)?;
    let key = key_of(&binding);
    let process = board.state(&key);
    let alive = matches!(process, State::Idle | State::Busy);
    let reachable = alive || start.reachable(&binding);
    let saved = store.session(&key)?.is_some_and(|session| session.saved_at.is_some());
    let mut env_missing = start.missing(&binding);
    let hold = store.hold(&binding.id)?;
    let paused_at = store.paused_at()?.or(channel.paused_at);
    let mut spec = binding.spec;
    if rights::may_see_agent_setup(who).is_err() {
        spec.command.clear();
        spec.env.clear();
        env_missing.clear();
        spec.cwd = None;
    }
    Ok(wire::Agent {
        handle: spec.handle,
        binding_id: binding.id.0,
        channel: channel.name,
        preset: spec.preset,
        profile: spec.profile,
        command: spec.command,
        delivery: spec.delivery,
        session: spec.session,
        when_cold: spec.when_cold,
        supervised: spec.supervised,
        addressed_by: spec.addressed_by,
        permissions: rules(&spec.permissions),
        env: spec.env.into_iter().map(|var| var.name).collect(),
        env_missing,
        model: spec.model,
        cwd: spec.cwd,
        state: Standing::of(process, saved).as_str().to_owned(),
        reachable,
        open_runs: board.runs(&key).len(),
        hold: hold.map(Into::into),
        paused_at,
        inactivity_limit_ms: spec.limits.inactivity_ms,
        turn_limit_ms: spec.limits.turn_ms,
        memory_limit_bytes: start.memory_max(spec.limits.memory_bytes),
        memory_bytes: board.memory.get(&key).copied(),
    })
}

/// A run as it is listed: without what was sent and its steps.
pub(crate) fn run(store: &dyn Read, run: Run, board: &Board) -> Result<wire::Run, ApiError> {
    let channel = store.channel_by_id(&run.key.channel)?;
    let binding = store.binding(&run.key.binding)?;
    let replies = store.messages_of_run(&run.id)?;
    let waiting = waiting::why(store, &run, &channel, board)?;
    let staged = run.staged;
    let lease_name = staged.as_ref().map(|staged| lease(staged.lease).to_owned());
    Ok(wire::Run {
        id: run.id.0,
        status: status(run.status).to_owned(),
        channel: channel.name.clone(),
        agent: binding.spec.handle,
        binding_id: binding.id.0,
        message_id: run.message.0,
        thread_root_id: run.thread.map(|id| id.0),
        lease: lease_name,
        lease_why: staged.as_ref().map(|staged| staged.why.clone()),
        native: staged.as_ref().map(|staged| staged.native.0.clone()),
        sent: None,
        system: None,
        shown: staged.iter().flat_map(|staged| &staged.shown).map(|(id, _)| id.0.clone()).collect(),
        omitted: staged.as_ref().map_or(0, |staged| staged.omitted),
        watermark_before: staged.as_ref().and_then(|staged| staged.watermark_before.clone()),
        watermark_after: staged.and_then(|staged| staged.watermark_after),
        replies: replies.into_iter().map(|reply| message(reply, &channel.name)).collect(),
        error: run.error,
        usage: run.usage.map(usage),
        turns: Vec::new(),
        created_at: run.created_at,
        started_at: run.started_at,
        ended_at: run.ended_at,
        waiting,
        tries: run.tries,
        again_at: run.again.map(|again| again.at),
        retry_of: run.retry_of.map(|id| id.0),
        events: Vec::new(),
        permissions: Vec::new(),
    })
}

/// A run with what was sent and its steps.
pub(crate) fn whole_run(store: &dyn Read, stored: Run, board: &Board) -> Result<wire::Run, ApiError> {
    let (sent, system) = match &stored.staged {
        Some(staged) => (Some(staged.sent.clone()), staged.system.clone()),
        None => (None, None),
    };
    let events = store.run_events(&stored.id)?.into_iter().map(step).collect();
    let cards = store.permissions_of_run(&stored.id)?;
    let permissions: Result<_, ApiError> = cards.into_iter().map(|card| permission(store, card)).collect();
    let turns = store.turns(&stored.id)?.into_iter().map(turn).collect();
    let permissions = permissions?;
    Ok(wire::Run { sent, system, events, permissions, turns, ..run(store, stored, board)? })
}

pub(crate) fn step(event: RunEvent) -> wire::RunEvent {
    let body = serde_json::from_str(&event.body).unwrap_or(serde_json::Value::Null);
    wire::RunEvent { n: event.n, at: event.at, kind: event.kind, body }
}

/// How an agent stands in a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// No process, and no session to go on with.
    Absent,
    /// No process, but a session that the next turn reloads.
    Saved,
    /// A turn is wanted but the pool is full.
    WaitingForPlace,
    /// Its process starts.
    Starting,
    /// Its process lives without a turn.
    Idle,
    /// It has a turn.
    Busy,
    /// Its process ends.
    Ending,
}

impl Standing {
    fn of(process: State, saved: bool) -> Self {
        match process {
            State::Absent if saved => Self::Saved,
            State::Absent => Self::Absent,
            State::WaitingForPlace => Self::WaitingForPlace,
            State::Starting => Self::Starting,
            State::Idle => Self::Idle,
            State::Busy => Self::Busy,
            State::Ending => Self::Ending,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Saved => "saved",
            Self::WaitingForPlace => "waiting_for_place",
            Self::Starting => "starting",
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::Ending => "ending",
        }
    }
}

pub(crate) fn lease(lease: Lease) -> &'static str {
    match lease {
        Lease::Cold => "cold",
        Lease::Restored => "restored",
        Lease::Warm => "warm",
    }
}

pub(crate) fn status(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Queued => "queued",
        RunStatus::Running => "running",
        RunStatus::Succeeded => "succeeded",
        RunStatus::Failed => "failed",
        RunStatus::Cancelled => "cancelled",
        RunStatus::Declined => "declined",
    }
}
