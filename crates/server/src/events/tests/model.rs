//! A client that reads the state once and then follows events, against one that reads everything afresh.

use std::collections::BTreeMap;

use delivery::Timestamp;
use delivery::model::{ChannelId, Key, MessageId, RunId};
use proptest::prelude::*;
use storage::{Appended, Ending, NewMessage, Read, Role, RunStatus, Sqlite, Store};

use super::world::{binding, message, staged};
use crate::events::item::{Renderer, bound, run_state};
use crate::view;
use crate::wire::{Bound, ChannelName, Event, Happened, Message, Person, RunEvent, RunState};

/// All that a client can show.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    channels: BTreeMap<String, ChannelName>,
    people: BTreeMap<String, Person>,
    agents: BTreeMap<String, (String, Bound)>,
    messages: BTreeMap<String, Message>,
    runs: BTreeMap<String, (String, RunState)>,
    steps: BTreeMap<(String, u64), RunEvent>,
}

impl State {
    /// What the API says now.
    fn fresh(store: &dyn Read) -> Self {
        let mut state = Self::default();
        for person in store.people().unwrap() {
            state.people.insert(person.name.clone(), view::person(person));
        }
        for channel in store.channels().unwrap() {
            for binding in store.bindings(Some(&channel.id)).unwrap() {
                state.agents.insert(binding.id.0.clone(), (channel.name.clone(), bound(binding)));
            }
            let top = store.history(&channel.id, None, None, 10_000).unwrap();
            let mut all = top.clone();
            // Threads of deleted roots too: a client that had them open still shows their replies.
            let roots = store.channel_events(&channel.id, 0, 10_000).unwrap();
            for root in roots.into_iter().map(|event| event.message) {
                if let Ok(thread) = store.history(&channel.id, Some(&root), None, 10_000) {
                    all.extend(thread);
                }
            }
            for stored in all {
                state.messages.insert(stored.row.id.0.clone(), view::message(stored, &channel.name));
            }
            let (id, name) = (channel.id.0, channel.name);
            let made = ChannelName { id, name, direct: channel.direct, created_at: channel.created_at };
            state.channels.insert(made.id.clone(), made);
        }
        for run in store.runs(None, 10_000).unwrap() {
            let name = store.channel_by_id(&run.key.channel).unwrap().name;
            let agent = store.binding(&run.key.binding).unwrap().spec.handle;
            for step in store.run_events(&run.id).unwrap() {
                state.steps.insert((run.id.0.clone(), step.n), view::step(step));
            }
            state.runs.insert(run.id.0.clone(), (name, run_state(run, agent)));
        }
        state
    }

    /// What docs/events.md tells a client to do with an event.
    fn apply(&mut self, event: Event) {
        let channel = event.channel.unwrap_or_default();
        match event.what {
            Happened::ChannelAdded { added } => {
                self.channels.insert(added.id.clone(), added);
            }
            Happened::PersonAdded { person } => {
                self.people.insert(person.name.clone(), person);
            }
            Happened::AgentAdded { agent } => {
                self.agents.insert(agent.binding_id.clone(), (channel, agent));
            }
            Happened::AgentRemoved { agent } => {
                self.agents.remove(&agent.binding_id);
            }
            Happened::MessageAdded { message }
            | Happened::MessageEdited { message }
            | Happened::MessageDeleted { message } => {
                if message.deleted {
                    self.messages.remove(&message.id);
                } else {
                    self.messages.insert(message.id.clone(), message);
                }
            }
            Happened::RunQueued { run } | Happened::RunStarted { run } | Happened::RunEnded { run } => {
                self.runs.insert(run.id.clone(), (channel, run));
            }
            Happened::RunStep { run_id, step } | Happened::Permission { run_id, step } => {
                self.steps.insert((run_id, step.n), step);
            }
            Happened::Hello
            | Happened::Resync { .. }
            | Happened::Heartbeat
            | Happened::Answer { .. }
            | Happened::AgentState { .. }
            | Happened::Unknown => {}
        }
    }
}

/// What people and agents do; numbers choose among what there is.
#[derive(Clone, Debug)]
enum Act {
    Channel,
    Person,
    Agent(usize),
    RemoveAgent(usize),
    Post(usize),
    Reply(usize),
    Edit(usize),
    Delete(usize),
    Queue(usize, usize),
    Stage(usize),
    Unstage(usize),
    Step(usize),
    End(usize, bool),
    /// The client reads some events.
    Follow(usize),
    /// The client asks for a place, and reads everything afresh some acts later.
    Place,
    Refresh,
}

fn act() -> impl Strategy<Value = Act> {
    let n = 0..40_usize;
    prop_oneof![
        1 => Just(Act::Channel),
        1 => Just(Act::Person),
        2 => n.clone().prop_map(Act::Agent),
        1 => n.clone().prop_map(Act::RemoveAgent),
        6 => n.clone().prop_map(Act::Post),
        3 => n.clone().prop_map(Act::Reply),
        3 => n.clone().prop_map(Act::Edit),
        2 => n.clone().prop_map(Act::Delete),
        4 => (n.clone(), n.clone()).prop_map(|(message, binding)| Act::Queue(message, binding)),
        3 => n.clone().prop_map(Act::Stage),
        1 => n.clone().prop_map(Act::Unstage),
        2 => n.clone().prop_map(Act::Step),
        3 => (n, any::<bool>()).prop_map(|(run, good)| Act::End(run, good)),
        3 => (0..6_usize).prop_map(Act::Follow),
        1 => Just(Act::Place),
        1 => Just(Act::Refresh),
    ]
}

/// The store with what was made in it.
struct Workspace {
    store: Sqlite,
    channels: Vec<ChannelId>,
    keys: Vec<Key>,
    messages: Vec<(ChannelId, MessageId)>,
    runs: Vec<RunId>,
    people: usize,
    clock: i64,
}

fn pick<T: Clone>(all: &[T], n: usize) -> Option<T> {
    if all.is_empty() { None } else { all.get(n % all.len()).cloned() }
}

impl Workspace {
    fn new(folder: &std::path::Path) -> Self {
        let store = Sqlite::open(folder, Timestamp { ms: 0 }).unwrap();
        let (channels, keys, messages, runs) = (vec![], vec![], vec![], vec![]);
        Self { store, channels, keys, messages, runs, people: 0, clock: 0 }
    }

    /// Does it; what the store refuses is no change, and must look like none.
    fn act(&mut self, act: &Act) -> Option<()> {
        self.clock += 1;
        let at = Timestamp { ms: self.clock };
        match *act {
            Act::Channel => {
                let name = format!("channel-{}", self.channels.len());
                self.channels.push(self.store.add_channel(&name, None, at).ok()?.id);
            }
            Act::Person => {
                self.people += 1;
                self.store.add_person(&format!("person-{}", self.people), Role::Member, at).ok()?;
            }
            Act::Agent(n) => {
                let channel = pick(&self.channels, n)?;
                let new = binding(&channel, ["claude", "codex"][n / 7 % 2]);
                let binding = self.store.add_binding(&new, at).ok()?.id;
                self.keys.push(Key { channel, binding });
            }
            Act::RemoveAgent(n) => {
                let key = pick(&self.keys, n)?;
                self.store.remove_binding(&key.binding, at).ok()?;
            }
            Act::Post(n) => {
                let channel = pick(&self.channels, n)?;
                self.append(&message(&channel, &format!("text {n}")), at)?;
            }
            Act::Reply(n) => {
                let (channel, root) = pick(&self.messages, n)?;
                let new = NewMessage { thread: Some(root), ..message(&channel, &format!("reply {n}")) };
                self.append(&new, at)?;
            }
            Act::Edit(n) => {
                let (_, id) = pick(&self.messages, n)?;
                self.store.edit(&id, &format!("edited {n}"), at).ok()?;
            }
            Act::Delete(n) => {
                let (_, id) = pick(&self.messages, n)?;
                self.store.delete(&id, at).ok()?;
            }
            Act::Queue(message, key) => {
                let key = pick(&self.keys, key)?;
                let there: Vec<_> =
                    self.messages.iter().filter(|(at, _)| *at == key.channel).cloned().collect();
                let (_, message) = pick(&there, message)?;
                self.runs.push(self.store.add_run(&key, &message, None, at).ok()?.id);
            }
            Act::Stage(n) => self.store.stage(&pick(&self.runs, n)?, &staged(), at).ok()?,
            Act::Unstage(n) => self.store.unstage(&pick(&self.runs, n)?, at).ok()?,
            Act::Step(n) => {
                let kind = ["tool_call", "permission"][n % 2];
                self.store.add_run_event(&pick(&self.runs, n)?, kind, "{\"x\":1}", at).ok()?;
            }
            Act::End(n, good) => {
                let (status, error) = match good {
                    true => (RunStatus::Succeeded, None),
                    false => (RunStatus::Failed, Some("it broke".to_owned())),
                };
                let ending = Ending { status, error, usage: None, told: None };
                self.store.end_run(&pick(&self.runs, n)?, &ending, at).ok()?;
            }
            Act::Follow(_) | Act::Place | Act::Refresh => {}
        }
        Some(())
    }

    fn append(&mut self, new: &NewMessage, at: Timestamp) -> Option<()> {
        let Appended::New(made) = self.store.append(new, at).ok()? else { return None };
        self.messages.push((new.channel.clone(), made.row.id));
        Some(())
    }
}

/// A client: its state, and the entry up to which it has followed.
#[derive(Default)]
struct Client {
    state: State,
    after: u64,
    /// A place that it asked for before it reads everything afresh.
    place: u64,
}

impl Client {
    fn follow(&mut self, store: &dyn Read, limit: usize) {
        let mut renderer = Renderer::new(store, [0; 8]);
        for entry in store.log(self.after, limit).unwrap() {
            self.after = entry.n;
            self.state.apply(renderer.item(entry).unwrap().event().clone());
        }
    }

    fn act(&mut self, store: &dyn Read, act: &Act) {
        match *act {
            Act::Follow(limit) => self.follow(store, limit),
            Act::Place => self.place = store.log_span().unwrap().head,
            Act::Refresh => {
                self.state = State::fresh(store);
                self.after = self.place;
            }
            Act::Channel
            | Act::Person
            | Act::Agent(_)
            | Act::RemoveAgent(_)
            | Act::Post(_)
            | Act::Reply(_)
            | Act::Edit(_)
            | Act::Delete(_)
            | Act::Queue(..)
            | Act::Stage(_)
            | Act::Unstage(_)
            | Act::Step(_)
            | Act::End(..) => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn state_plus_events_equals_fresh_state(acts in prop::collection::vec(act(), 1..120)) {
        // I15
        let folder = tempfile::tempdir().unwrap();
        let mut workspace = Workspace::new(folder.path());
        let mut client = Client::default();
        for act in [Act::Channel, Act::Agent(0), Act::Post(0)].iter().chain(&acts) {
            let before = workspace.store.log_span().unwrap().head;
            let done = workspace.act(act);
            let after = workspace.store.log_span().unwrap().head;
            prop_assert!(done.is_some() || after == before, "{act:?} was refused and is in the log");
            client.act(&workspace.store, act);
        }
        client.follow(&workspace.store, usize::MAX);
        let fresh = State::fresh(&workspace.store);
        prop_assert_eq!(client.state, fresh);
    }
}
