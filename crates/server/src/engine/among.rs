//! Agents among themselves (2.7): whom an agent's message calls, and when they must wait for a person.

use delivery::faults::{Rule, broken};
use delivery::mention::leading;
use delivery::model::AuthorKind;
use storage::{Binding, Message, Person, Run, Store};

use super::post::{allowed, handles, notice};
use super::request::key_of;
use super::{Engine, Now};
use crate::error::ApiError;

/// Turns of agents in a row, in a channel or thread or along one chain of calls, until a person writes.
pub(super) const TURNS_MAX: u32 = 4;

impl Engine {
    /// Calls the agents that a reply begins with, but the one that wrote it. In a direct conversation there are none, and
    /// in a channel that was archived meanwhile no new turns begin.
    pub(super) fn call_by_reply(
        &mut self,
        store: &mut dyn Store,
        run: &Run,
        own: &Binding,
        message: &Message,
        now: Now,
    ) -> Result<(), ApiError> {
        if !message.row.text.contains('@') {
            return Ok(());
        }
        let channel = store.channel_by_id(&message.channel)?;
        if channel.direct.is_some() || channel.archived_at.is_some() {
            return Ok(());
        }
        let bindings = store.bindings(Some(&message.channel))?;
        let known: Vec<&str> = bindings.iter().map(|binding| binding.spec.handle.as_str()).collect();
        let mut named = leading(&message.row.text, &known);
        named.retain(|handle| *handle != own.spec.handle || broken(Rule::NeverItself));
        self.call(store, run, message, &named, now).map(|_| ())
    }

    /// Makes runs of the named agents for a message of an agent, as many as the limits let; notices name the rest. In
    /// the same transaction as the message. `run` is the one in which it was written.
    pub(super) fn call(
        &mut self,
        store: &mut dyn Store,
        run: &Run,
        message: &Message,
        named: &[&str],
        now: Now,
    ) -> Result<Vec<Run>, ApiError> {
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let named = self.within_recipients(store, message, named, now)?;
        let room = usize::try_from(room(store, run, message)?).unwrap_or(usize::MAX);
        let (chosen, rest) = named.split_at(named.len().min(room));
        if !rest.is_empty() {
            let text = format!(
                "agents take {TURNS_MAX} turns in a row at most; not asked: {}. They go on when a person has written",
                handles(rest)
            );
            notice(store, message, text, now)?;
        }
        let bindings = store.bindings(Some(&message.channel))?;
        let called = chosen.iter().filter_map(|handle| bindings.iter().find(|at| at.spec.handle == *handle));
        let called: Vec<Binding> = called.cloned().collect();
        let called = match head(store, run)? {
            // Nothing more begins in their name.
            Some(person) if person.deactivated_at.is_some() => {
                let text = format!("not asked: {}. {} was deactivated", handles(chosen), person.name);
                notice(store, message, text, now)?;
                Vec::new()
            }
            Some(person) => allowed(store, &person, message, called, now)?,
            None => Vec::new(),
        };
        let called = self.allowed_by_steerers(store, run, message, called, now)?;
        let mut runs = Vec::new();
        for binding in &called {
            runs.push(store.add_run(&key_of(binding), &message.row.id, None, now.wall)?);
        }
        for run in &runs {
            self.enqueue(run);
        }
        Ok(runs)
    }
}

/// The person at the head of the chain of calls that a run belongs to: it has their rights (2.9).
fn head(store: &dyn Store, run: &Run) -> Result<Option<Person>, ApiError> {
    let mut message = store.message(&run.message)?;
    // A chain is short, since a person must write before it can be longer.
    for _ in 0..=TURNS_MAX {
        if let Some(person) = &message.person {
            return Ok(Some(store.person_by_id(person)?));
        }
        let Some(caller) = &message.run else { return Ok(None) };
        message = store.message(&store.run(caller)?.message)?;
    }
    Ok(None)
}

/// How many more turns agents may take for a message that was written in this run.
fn room(store: &dyn Store, run: &Run, message: &Message) -> Result<u32, ApiError> {
    let since = store.since_people(&message.channel, message.thread.as_ref())?;
    let chain = chain(store, run, since.newest_seq)?;
    // A chain that goes on in another thread each time would be new in every place.
    let room = if chain < TURNS_MAX { TURNS_MAX.saturating_sub(since.turns) } else { 0 };
    let room = if broken(Rule::TurnsInARow) { u32::MAX } else { room };
    Ok(room)
}

/// Turns of the chain of calls that ends with a run, since a person wrote in its channel; [`TURNS_MAX`] at most.
fn chain(store: &dyn Store, run: &Run, newest_seq: u64) -> Result<u32, ApiError> {
    let mut turns = 1;
    let mut message = store.message(&run.message)?;
    while turns < TURNS_MAX {
        let by_agent = message.row.author.kind == AuthorKind::Agent && message.row.seq > newest_seq;
        let Some(caller) = message.run.filter(|_| by_agent) else { break };
        message = store.message(&store.run(&caller)?.message)?;
        turns += 1;
    }
    Ok(turns)
}
