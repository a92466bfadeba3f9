//! Random work in a channel, against a list in memory.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;

stories![random_work_is_what_a_list_says];

/// What is done to a channel; numbers choose among what there is.
#[derive(Clone, Debug)]
enum Op {
    Append {
        thread: Option<usize>,
        client: Option<u8>,
        clock: i64,
    },
    Edit(usize, i64),
    Delete(usize, i64),
    /// Several, undone at the end or not.
    Part(Vec<Op>, Fate),
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    Kept,
    Undone,
}

fn op() -> impl Strategy<Value = Op> {
    let clock = 0..50_i64;
    let thread = proptest::option::weighted(0.3, 0..4_usize);
    let client = proptest::option::weighted(0.2, 0..4_u8);
    let leaf = prop_oneof![
        4 => (thread, client, clock.clone()).prop_map(|(thread, client, clock)| Op::Append { thread, client, clock }),
        1 => (any::<usize>(), clock.clone()).prop_map(|(n, clock)| Op::Edit(n, clock)),
        1 => (any::<usize>(), clock).prop_map(|(n, clock)| Op::Delete(n, clock)),
    ];
    leaf.prop_recursive(2, 12, 5, |inner| {
        let fate = prop_oneof![Just(Fate::Kept), Just(Fate::Undone)];
        (proptest::collection::vec(inner, 1..5), fate).prop_map(|(ops, fate)| Op::Part(ops, fate))
    })
}

/// Fault experiment 12: the clock gives the same time again and again, and goes back. I2
fn random_work_is_what_a_list_says(store: &mut dyn Store) {
    let config = Config { cases: 100, failure_persistence: None, ..Config::default() };
    let (store, count) = (RefCell::new(store), RefCell::new(0));
    let played = TestRunner::new(config).run(&proptest::collection::vec(op(), 1..40), |ops| {
        *count.borrow_mut() += 1;
        let name = format!("channel-{}", count.borrow());
        // One commit for all: what is tested is the work, not the disk.
        let done = store.borrow_mut().atomic(&mut |store| {
            let channel = store.add_channel(&name, ChannelKind::Public, at(0))?.id;
            let mut model = Model { channel, name: name.clone(), ..Model::default() };
            ops.iter().for_each(|op| model.step(store, op));
            model.check(store);
            Ok(())
        });
        done.map_err(|error| TestCaseError::fail(error.to_string()))
    });
    if let Err(error) = played {
        panic!("{error}");
    }
}

/// A channel as a list. Texts name the event that made them.
#[derive(Clone, Debug)]
struct Model {
    channel: ChannelId,
    name: String,
    messages: Vec<Message>,
    events: Vec<ChannelEvent>,
    clients: Vec<(String, MessageId)>,
}

impl Default for Model {
    fn default() -> Self {
        let (messages, events, clients) = (Vec::new(), Vec::new(), Vec::new());
        Self { channel: "c0".into(), name: String::new(), messages, events, clients }
    }
}

impl Model {
    fn step(&mut self, store: &mut dyn Store, op: &Op) {
        match op {
            Op::Append { thread, client, clock } => self.append(store, *thread, *client, *clock),
            Op::Edit(n, clock) => {
                let Some(index) = n.checked_rem(self.messages.len()) else { return };
                let (id, text) = (self.messages[index].row.id.clone(), self.text());
                let edited = store.edit(&id, &text, at(*clock));
                if self.messages[index].row.deleted_seq.is_some() {
                    return check_refused(op, edited, &format!("message {id} was deleted"));
                }
                let seq = self.event(ChannelEventKind::Edit, *clock, id).seq;
                let message = &mut self.messages[index];
                (message.row.text, message.row.edited_seq) = (text, Some(seq));
                message.revision += 1;
                check(op, &edited.unwrap(), message);
            }
            Op::Delete(n, clock) => {
                let Some(index) = n.checked_rem(self.messages.len()) else { return };
                let id = self.messages[index].row.id.clone();
                if self.messages[index].row.deleted_seq.is_none() {
                    let seq = self.event(ChannelEventKind::Deletion, *clock, id.clone()).seq;
                    let row = &mut self.messages[index].row;
                    (row.text, row.deleted_seq) = (String::new(), Some(seq));
                }
                check(op, &store.delete(&id, at(*clock)).unwrap(), &self.messages[index]);
            }
            Op::Part(ops, fate) => {
                let before = self.clone();
                let done = store.atomic(&mut |store| {
                    ops.iter().for_each(|op| self.step(store, op));
                    match fate {
                        Fate::Kept => Ok(()),
                        Fate::Undone => Err(Error::Conflict("undone".to_owned())),
                    }
                });
                match fate {
                    Fate::Kept => done.unwrap(),
                    Fate::Undone => {
                        check_refused(op, done, "undone");
                        *self = before;
                    }
                }
            }
        }
    }

    fn append(&mut self, store: &mut dyn Store, thread: Option<usize>, client: Option<u8>, clock: i64) {
        let picked = thread.and_then(|n| self.messages.get(n.checked_rem(self.messages.len())?));
        let thread = picked.map(|message| message.thread.clone().unwrap_or(message.row.id.clone()));
        // Ids of clients are the author's own, whatever the channel.
        let client_id = client.map(|n| format!("{}/{n}", self.name));
        let text = self.text();
        let new =
            NewMessage { thread: thread.clone(), client_id, ..new_message(&self.channel, "aiko", &text) };
        let appended = store.append(&new, at(clock));
        let find = |id: &MessageId| self.messages.iter().find(|message| message.row.id == *id);
        let before = self.clients.iter().find(|(client, _)| Some(client) == new.client_id.as_ref());
        if let Some(before) = before.and_then(|(_, id)| find(id)) {
            return check(&new, appended.unwrap(), Appended::Before(before.clone()));
        }
        if let Some(root) = thread.as_ref().and_then(find).filter(|root| root.row.deleted_seq.is_some()) {
            let expected = format!("message {} was deleted: its thread takes no more replies", root.row.id);
            return check_refused(&new, appended, &expected);
        }
        let message = message_of(appended.unwrap());
        let id = message.row.id.clone();
        let ChannelEvent { seq, at, .. } = self.event(ChannelEventKind::Message, clock, id.clone());
        let row = delivery::Row {
            id: id.clone(),
            seq,
            created_at: at,
            author: author("aiko"),
            native: None,
            text,
            edited_seq: None,
            deleted_seq: None,
        };
        let expected =
            Message { channel: self.channel.clone(), thread, run: None, person: None, row, revision: 1 };
        check(&new, &message, &expected);
        self.clients.extend(new.client_id.map(|client| (client, id)));
        self.messages.push(expected);
    }

    fn text(&self) -> String {
        format!("text {}", self.events.len() + 1)
    }

    fn event(&mut self, kind: ChannelEventKind, clock: i64, message: MessageId) -> ChannelEvent {
        let after = self.events.last().map(|event| Timestamp { ms: event.at.ms + 1 });
        let seq = self.events.len() as u64 + 1;
        let at = at(clock).max(after.unwrap_or(at(clock)));
        let event = ChannelEvent { channel: self.channel.clone(), seq, at, kind, message };
        self.events.push(event.clone());
        event
    }

    fn check(&self, store: &dyn Store) {
        let name = &self.name;
        check(name, store.channel_events(&self.channel, 0, 1_000).unwrap(), self.events.clone());
        check(name, store.channel(name).unwrap().last_seq, self.events.len() as u64);
        let alive = |message: &&Message| message.row.deleted_seq.is_none();
        let in_thread = |root: Option<&MessageId>| -> Vec<Message> {
            let mine = |m: &&Message| m.thread.as_ref() == root || Some(&m.row.id) == root;
            self.messages.iter().filter(alive).filter(mine).cloned().collect()
        };
        check(name, store.history(&self.channel, None, None, 1_000).unwrap(), in_thread(None));
        for root in self.messages.iter().filter(|message| message.thread.is_none()) {
            let id = Some(&root.row.id);
            check((name, id), store.history(&self.channel, id, None, 1_000).unwrap(), in_thread(id));
        }
        for message in &self.messages {
            check(name, &store.message(&message.row.id).unwrap(), message);
            let found =
                store.search(&format!("\"{}\"", message.row.text), Some(&self.channel), 1_000).unwrap();
            let expected = alive(&message) && !message.row.text.is_empty();
            check((name, &message.row.text), found.contains(message), expected);
        }
    }
}
