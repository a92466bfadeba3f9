//! What a client shows: read afresh through the rights, or kept true by events as docs/events.md says.

use std::collections::BTreeMap;

use delivery::Timestamp;
use delivery::model::ChannelId;
use storage::{Access, Channel, Read, Role, Which};

use crate::events::item::{bound, channel_info, run_state};
use crate::rights::Principal;
use crate::wire::{
    Bound, ChannelInfo, Event, Happened, Member, Message, Permission, Person, RunEvent, RunState,
};
use crate::{reach, view};

/// All that a client can show. What belongs to a channel stands with its id.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    channels: BTreeMap<String, ChannelInfo>,
    /// For who knows all people.
    people: BTreeMap<String, Person>,
    members: BTreeMap<(String, String), Member>,
    agents: BTreeMap<String, (String, Bound)>,
    messages: BTreeMap<String, (String, Message)>,
    runs: BTreeMap<String, (String, RunState)>,
    steps: BTreeMap<(String, u64), (String, RunEvent)>,
    permissions: BTreeMap<String, (String, Permission)>,
    paused_at: Option<Timestamp>,
}

impl State {
    /// What the API says now.
    pub(super) fn fresh(store: &dyn Read, who: &Principal) -> Self {
        let mut state = Self { paused_at: store.paused_at().unwrap(), ..Self::default() };
        if who.role != Role::Guest {
            for person in reach::people(store, who).unwrap() {
                state.people.insert(person.id.0.clone(), view::person(person));
            }
        }
        for channel in reach::channels(store, who).unwrap() {
            state.load(store, channel);
        }
        state
    }

    /// Reads all of one channel.
    fn load(&mut self, store: &dyn Read, channel: Channel) {
        let id = channel.id.clone();
        self.drop_channel(&id.0);
        for member in store.members(&id).unwrap() {
            self.members.insert((id.0.clone(), member.person.id.0.clone()), view::member(member));
        }
        for binding in store.bindings(Some(&id)).unwrap() {
            let hold = store.hold(&binding.id).unwrap();
            self.agents.insert(binding.id.0.clone(), (id.0.clone(), bound(binding, hold)));
        }
        let mut all = store.history(&id, None, None, 10_000).unwrap();
        // Threads of deleted roots too: a client that had them open still shows their replies.
        for event in store.channel_events(&id, 0, 10_000).unwrap() {
            all.extend(store.history(&id, Some(&event.message), None, 10_000).unwrap_or_default());
        }
        for stored in all {
            let message = view::message(stored, &channel.name);
            self.messages.insert(message.id.clone(), (id.0.clone(), message));
        }
        for run in store.runs_in(std::slice::from_ref(&id), 10_000).unwrap() {
            let agent = store.binding(&run.key.binding).unwrap().spec.handle;
            for step in store.run_events(&run.id).unwrap() {
                self.steps.insert((run.id.0.clone(), step.n), (id.0.clone(), view::step(step)));
            }
            self.runs.insert(run.id.0.clone(), (id.0.clone(), run_state(run, agent)));
        }
        for card in store.permissions_in(std::slice::from_ref(&id), Which::All, 10_000).unwrap() {
            let card = view::permission(store, card).unwrap();
            self.permissions.insert(card.id.clone(), (id.0.clone(), card));
        }
        self.channels.insert(id.0, channel_info(channel));
    }

    fn drop_channel(&mut self, id: &str) {
        self.channels.remove(id);
        self.members.retain(|(of, _), _| of != id);
        self.agents.retain(|_, (of, _)| of != id);
        self.messages.retain(|_, (of, _)| of != id);
        self.runs.retain(|_, (of, _)| of != id);
        self.steps.retain(|_, (of, _)| of != id);
        self.permissions.retain(|_, (of, _)| of != id);
    }

    /// Reads a channel that is new to the client, if it still reaches it.
    fn meet(&mut self, store: &dyn Read, who: &Principal, id: &str) {
        let Ok(channel) = store.channel_by_id(&ChannelId(id.to_owned())) else { return };
        if let Ok(channel) = reach::channel(store, who, &channel.name) {
            self.load(store, channel);
        }
    }

    fn close(&mut self, who: &Principal, id: &str) {
        if !self.is_member(who, id) && who.role != Role::Owner {
            self.drop_channel(id);
        } else if let Some(channel) = self.channels.get_mut(id) {
            channel.access = Access::Private;
        }
    }

    fn remove_member(&mut self, who: &Principal, id: &str, person: String) {
        let private = self.channels.get(id).is_none_or(|channel| channel.access == Access::Private);
        let gone = match who.role {
            Role::Owner => false,
            Role::Member => private,
            Role::Guest => true,
        };
        if person == who.person.0 && gone {
            self.drop_channel(id);
        }
        self.members.remove(&(id.to_owned(), person));
    }

    fn is_member(&self, who: &Principal, channel: &str) -> bool {
        self.members.contains_key(&(channel.to_owned(), who.person.0.clone()))
    }

    fn take_message(&mut self, channel: String, message: Message) {
        if message.deleted {
            self.messages.remove(&message.id);
        } else {
            self.messages.insert(message.id.clone(), (channel, message));
        }
    }

    /// What docs/events.md tells a client to do with an event.
    pub(super) fn apply(&mut self, store: &dyn Read, who: &Principal, event: Event) {
        let id = event.channel_id.unwrap_or_default();
        match event.what {
            Happened::ChannelAdded { added } => {
                self.channels.insert(id, added);
            }
            Happened::ChannelChanged { .. } if !self.channels.contains_key(&id) => self.meet(store, who, &id),
            Happened::ChannelChanged { changed } => {
                for (_, message) in self.messages.values_mut().filter(|(of, _)| *of == id) {
                    message.channel.clone_from(&changed.name);
                }
                for (_, card) in self.permissions.values_mut().filter(|(of, _)| *of == id) {
                    card.channel.clone_from(&changed.name);
                }
                self.channels.insert(id, changed);
            }
            Happened::ChannelClosed => self.close(who, &id),
            Happened::MemberAdded { member } => {
                if member.person.id == who.person.0 && !self.channels.contains_key(&id) {
                    self.meet(store, who, &id);
                }
                self.members.insert((id, member.person.id.clone()), member);
            }
            Happened::MemberRemoved { person_id } => self.remove_member(who, &id, person_id),
            Happened::PersonAdded { person } | Happened::PersonChanged { person } => {
                for ((_, of), member) in &mut self.members {
                    if *of == person.id {
                        member.person = person.clone();
                    }
                }
                if who.role != Role::Guest {
                    self.people.insert(person.id.clone(), person);
                }
            }
            Happened::AgentAdded { agent } => {
                self.agents.insert(agent.binding_id.clone(), (id, agent));
            }
            Happened::AgentChanged { agent } => {
                if let Some((_, known)) = self.agents.get_mut(&agent.binding_id) {
                    *known = agent;
                }
            }
            Happened::AgentRemoved { agent } => {
                self.agents.remove(&agent.binding_id);
            }
            Happened::MessageAdded { message }
            | Happened::MessageEdited { message }
            | Happened::MessageDeleted { message } => self.take_message(id, message),
            Happened::RunQueued { run }
            | Happened::RunStarted { run }
            | Happened::RunEnded { run }
            | Happened::RunUsage { run } => {
                self.runs.insert(run.id.clone(), (id, run));
            }
            Happened::RunStep { run_id, step } | Happened::Permission { run_id, step } => {
                self.steps.insert((run_id, step.n), (id, step));
            }
            Happened::PermissionAsked { permission } | Happened::PermissionDecided { permission } => {
                self.permissions.insert(permission.id.clone(), (id, permission));
            }
            Happened::PauseChanged { paused_at } => self.paused_at = paused_at,
            Happened::Hello
            | Happened::Resync { .. }
            | Happened::Heartbeat
            | Happened::Answer { .. }
            | Happened::AgentState { .. }
            | Happened::Unknown => {}
        }
    }
}
