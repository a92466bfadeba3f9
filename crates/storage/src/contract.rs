//! The contract of a store, as stories that every backend is taken through.

pub(crate) mod channels;
pub(crate) mod deletions;
pub(crate) mod deliveries;
pub(crate) mod fetched;
pub(crate) mod identity;
pub(crate) mod life;
pub(crate) mod logs;
pub(crate) mod messages;
pub(crate) mod permissions;
pub(crate) mod projects;
pub(crate) mod runs;
pub(crate) mod saved;
pub(crate) mod searches;
pub(crate) mod sequence;
pub(crate) mod sessions;
pub(crate) mod transactions;
pub(crate) mod transfers;
pub(crate) mod usage;
pub(crate) mod watermarks;

use std::fmt::Debug;

use delivery::model::{
    BindingId, ChannelId, Epoch, Key, MessageId, NativeId, RunId, SessionPolicy, WhenCold,
};
use delivery::turn::Lease;
use delivery::{Author, AuthorKind, Policy, Timestamp, Watermark};

use crate::*;

/// A story: it gets an empty store.
pub(crate) type Story = fn(&mut dyn Store);

/// Lists a module's stories with their names.
macro_rules! stories {
    ($($story:ident),* $(,)?) => {
        pub(crate) const STORIES: &[(&str, $crate::contract::Story)] =
            &[$((stringify!($story), $story)),*];
    };
}
use stories;

/// Compares a whole value, named by what was asked.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "so that a call reads like a row of a table")]
pub(crate) fn check<T: PartialEq + Debug>(what: impl Debug, got: T, expected: T) {
    assert!(got == expected, "{what:?}\n     got {got:#?}\nexpected {expected:#?}");
}

/// Compares an error's text.
#[track_caller]
pub(crate) fn check_refused<T: Debug>(what: impl Debug, got: Result<T, Error>, expected: &str) {
    check(what, got.map_err(|error| error.to_string()).err().as_deref(), Some(expected));
}

/// The n-th second of a day.
pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp { ms: 1_796_000_000_000 + second * 1_000 }
}

/// `@codex` is an agent, `host` the host, anyone else a person.
pub(crate) fn author(name: &str) -> Author {
    let kind = match name {
        "host" => AuthorKind::System,
        agent if agent.starts_with('@') => AuthorKind::Agent,
        _ => AuthorKind::User,
    };
    Author { kind, name: name.to_owned() }
}

pub(crate) fn new_message(channel: &ChannelId, name: &str, text: &str) -> NewMessage {
    NewMessage {
        channel: channel.clone(),
        thread: None,
        author: author(name),
        native: None,
        run: None,
        text: text.to_owned(),
        client_id: None,
    }
}

pub(crate) fn new_binding(channel: &ChannelId, handle: &str) -> NewBinding {
    NewBinding {
        channel: channel.clone(),
        handle: handle.to_owned(),
        preset: "custom".to_owned(),
        profile: Profile::Own,
        command: vec!["agent".to_owned(), "--acp".to_owned()],
        delivery: Policy::Lean,
        session: SessionPolicy::Resident,
        when_cold: WhenCold::Reload,
        supervised: true,
        env: vec![
            EnvVar { name: "TOKEN".to_owned(), value: Some("s3cret".to_owned()) },
            EnvVar { name: "EDITOR".to_owned(), value: None },
        ],
        model: None,
        cwd: Some("/srv/project".to_owned()),
        instructions: None,
        addressed_by: AddressedBy::Members,
        permissions: PermissionRules::default(),
        limits: OwnLimits::default(),
    }
}

pub(crate) fn message_of(appended: Appended) -> Message {
    match appended {
        Appended::New(message) | Appended::Before(message) => message,
    }
}

/// A message on one line, with all that is set: `m2 #2 ben: hello (in m1, revision 2, edited 3)`.
pub(crate) fn line(message: &Message) -> String {
    let Message { thread, run, row, revision, .. } = message;
    let facts = [
        thread.as_ref().map(|root| format!("in {root}")),
        run.as_ref().map(|run| format!("of {run}")),
        row.native.as_ref().map(|native| format!("by {native}")),
        (*revision > 1).then(|| format!("revision {revision}")),
        row.edited_seq.map(|seq| format!("edited {seq}")),
        row.deleted_seq.map(|seq| format!("deleted {seq}")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    format!("{} #{} {}: {}{facts}", row.id, row.seq, row.author.name, row.text)
}

pub(crate) fn lines(messages: &[Message]) -> Vec<String> {
    messages.iter().map(line).collect()
}

/// A channel with people and `@claude`, in a store that has nothing else.
pub(crate) struct World<'a> {
    pub(crate) store: &'a mut dyn Store,
    pub(crate) channel: ChannelId,
    pub(crate) key: Key,
    second: i64,
}

impl<'a> World<'a> {
    pub(crate) fn new(store: &'a mut dyn Store) -> Self {
        let channel = store.add_channel("general", ChannelKind::Public, at(0)).unwrap().id;
        for name in ["aiko", "ben"] {
            store.add_person(name, Role::Member, at(0)).unwrap();
        }
        let binding = store.add_binding(&new_binding(&channel, "claude"), at(0)).unwrap().id;
        let key = Key { channel: channel.clone(), binding };
        Self { store, channel, key, second: 0 }
    }

    /// The next second.
    pub(crate) fn now(&mut self) -> Timestamp {
        self.second += 1;
        at(self.second)
    }

    pub(crate) fn append(&mut self, new: &NewMessage) -> Message {
        let now = self.now();
        message_of(self.store.append(new, now).unwrap())
    }

    pub(crate) fn post(&mut self, name: &str, text: &str) -> MessageId {
        self.append(&new_message(&self.channel.clone(), name, text)).row.id
    }

    pub(crate) fn reply(&mut self, root: &MessageId, name: &str, text: &str) -> MessageId {
        let thread = Some(root.clone());
        self.append(&NewMessage { thread, ..new_message(&self.channel.clone(), name, text) }).row.id
    }

    /// What a session of `@claude` writes by itself.
    pub(crate) fn post_as(&mut self, native: &str, text: &str) -> MessageId {
        let native = Some(NativeId::from(native));
        self.append(&NewMessage { native, ..new_message(&self.channel.clone(), "@claude", text) }).row.id
    }

    pub(crate) fn edit(&mut self, id: &MessageId, text: &str) {
        let now = self.now();
        self.store.edit(id, text, now).unwrap();
    }

    pub(crate) fn delete(&mut self, id: &MessageId) {
        let now = self.now();
        self.store.delete(id, now).unwrap();
    }

    pub(crate) fn history(&self) -> Vec<String> {
        lines(&self.store.history(&self.channel, None, None, 1_000).unwrap())
    }

    pub(crate) fn begin(&mut self, native: &str, epoch: u64) {
        let now = self.now();
        self.store.begin_session(&self.key, &native.into(), Epoch(epoch), None, now).unwrap();
    }

    /// A queued run for a message.
    pub(crate) fn queue(&mut self, message: &MessageId) -> RunId {
        let now = self.now();
        self.store.add_run(&self.key, message, None, now).unwrap().id
    }

    pub(crate) fn stage(&mut self, run: &RunId, staged: &Staged) {
        let now = self.now();
        self.store.stage(run, staged, now).unwrap();
    }

    pub(crate) fn end(&mut self, run: &RunId, status: RunStatus) -> bool {
        let now = self.now();
        self.store.end_run(run, &ending(status), now).unwrap()
    }
}

pub(crate) fn ending(status: RunStatus) -> Ending {
    Ending { status, error: None, told: None }
}

/// A turn that shows these lines, in their first revision.
pub(crate) fn staged(native: &str, epoch: u64, shown: &[&MessageId]) -> Staged {
    Staged {
        native: native.into(),
        epoch: Epoch(epoch),
        lease: Lease::Cold,
        why: "this is its first session in the channel".to_owned(),
        sent: "what was sent".to_owned(),
        system: Some("framing".to_owned()),
        parts: Vec::new(),
        shown: shown.iter().map(|id| ((*id).clone(), 1)).collect(),
        omitted: 0,
        watermark_before: None,
        watermark_after: Some(watermark(native, 9)),
    }
}

pub(crate) fn watermark(native: &str, last_seq: u64) -> Watermark {
    Watermark {
        native: native.into(),
        last_at: at(i64::try_from(last_seq).unwrap()),
        last_seq: Some(last_seq),
        ids: vec!["m1".into(), "m2".into()],
        waiting: vec!["m3".into()],
    }
}

pub(crate) fn binding_id(text: &str) -> BindingId {
    text.into()
}
