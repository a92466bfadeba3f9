//! A server's data to export and to import into, with random histories.

use std::io;

use delivery::model::{ChannelId, Key, MessageId, Policy, RunId, SessionPolicy};
use delivery::{Author, AuthorKind, Timestamp};
use storage::{
    Access, AddressedBy, Appended, Binding, ChannelChange, ChannelKind, Ending, EnvVar, NewBinding,
    NewMessage, PersonId, Rank, Read, Role, RunStatus, Sqlite, Store, StoreIdentity as _, StoreUsage as _,
    TurnUsage, Usage, UsageSource,
};
use tempfile::TempDir;

use super::super::{Brought, bring, check, export};
use crate::error::ApiError;
use crate::spool::Spool;

/// A store in a folder that goes with it.
pub(super) struct World {
    folder: TempDir,
    pub(super) store: Sqlite,
    now: i64,
}

impl World {
    /// As after the first start of a server.
    pub(super) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let mut store = Sqlite::open(&folder.path().join("data"), Timestamp { ms: 0 }).unwrap();
        let owner = store.add_person("olive", Role::Owner, Timestamp { ms: 5 }).unwrap();
        let general = store.add_channel("general", ChannelKind::Public, Timestamp { ms: 5 }).unwrap();
        store.add_membership(&general.id, &owner.id, Rank::Manager, Timestamp { ms: 5 }).unwrap();
        Self { folder, store, now: 1_796_000_000_000 }
    }

    pub(super) fn now(&mut self) -> Timestamp {
        self.now += 1_000;
        Timestamp { ms: self.now }
    }

    pub(super) fn bind(&mut self, channel: &ChannelId, handle: &str) -> Binding {
        let env = EnvVar { name: "KEY".to_owned(), value: Some("canary-of-env".to_owned()) };
        let new = NewBinding {
            channel: channel.clone(),
            handle: handle.to_owned(),
            preset: "custom".to_owned(),
            profile: storage::Profile::Own,
            command: vec!["agent".to_owned(), "--key=canary-of-command".to_owned()],
            delivery: Policy::Lean,
            session: SessionPolicy::Resident,
            when_cold: delivery::model::WhenCold::Reload,
            supervised: true,
            env: vec![env],
            model: None,
            cwd: None,
            instructions: Some("canary-of-instructions".to_owned()),
            addressed_by: AddressedBy::Members,
            permissions: storage::PermissionRules::default(),
            limits: storage::OwnLimits::default(),
        };
        let now = self.now();
        self.store.add_binding(&new, now).unwrap()
    }

    pub(super) fn append(
        &mut self,
        channel: &ChannelId,
        thread: Option<&MessageId>,
        name: &str,
        text: &str,
    ) -> MessageId {
        let kind = match name {
            "Highwater" => AuthorKind::System,
            agent if agent.starts_with('@') => AuthorKind::Agent,
            _ => AuthorKind::User,
        };
        let new = NewMessage {
            channel: channel.clone(),
            thread: thread.cloned(),
            author: Author { kind, name: name.to_owned() },
            native: None,
            run: None,
            text: text.to_owned(),
            client_id: Some(format!("client-{}", self.now)),
        };
        let now = self.now();
        match self.store.append(&new, now).unwrap() {
            Appended::New(message) | Appended::Before(message) => message.row.id,
        }
    }

    pub(super) fn export(&mut self, names: &[&str]) -> String {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let now = self.now();
        let mut out = Vec::new();
        export(&self.store, &names, now, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    pub(super) fn spool(&self, text: &[u8]) -> Spool {
        Spool::written::<io::Error>(self.folder.path(), |out| out.write_all(text)).unwrap()
    }

    /// As the service does it: checked first, then in one transaction.
    pub(super) fn import(&mut self, text: &str) -> Result<Brought, ApiError> {
        let spool = self.spool(text.as_bytes());
        check(&spool)?;
        let now = self.now();
        let mut result = None;
        let stored = self.store.atomic(&mut |store| {
            let brought = bring::bring(store, &spool, now);
            let kept = brought.is_ok();
            result = Some(brought);
            if kept { Ok(()) } else { Err(storage::Error::Conflict("undone".to_owned())) }
        });
        let result = result.unwrap();
        assert_eq!(stored.is_ok(), result.is_ok());
        result
    }
}

/// A history in which anything may happen.
pub(super) fn history(seed: u64) -> World {
    let mut random = Random(seed);
    let mut world = World::new();
    for (name, role) in [("aiko", Role::Member), ("ben", Role::Guest), ("zoe", Role::Member)] {
        let now = world.now();
        let person = world.store.add_person(name, role, now).unwrap();
        world.store.set_password(&person.id, "canary-of-password").unwrap();
    }
    for (name, kind) in [("board", ChannelKind::Public), ("tutor", ChannelKind::Direct("guide"))] {
        let now = world.now();
        world.store.add_channel(name, kind, now).unwrap();
    }
    let channels = world.store.channels().unwrap();
    let mut places: Vec<Place> = channels
        .into_iter()
        .map(|channel| Place {
            agent: world.bind(&channel.id, "guide"),
            roots: Vec::new(),
            all: Vec::new(),
            ended: Vec::new(),
        })
        .collect();
    for step in 0..150 {
        let at = random.below(places.len());
        places[at].live(&mut world, &mut random, step);
    }
    world
}

/// A channel with what happened in it.
struct Place {
    agent: Binding,
    roots: Vec<MessageId>,
    all: Vec<MessageId>,
    ended: Vec<RunId>,
}

impl Place {
    /// Something happens.
    fn live(&mut self, world: &mut World, random: &mut Random, step: usize) {
        let channel = self.agent.spec.channel.clone();
        let some = random.of(&self.all).cloned();
        match (random.below(12), some) {
            (0..=4, _) => {
                let names = ["olive", "aiko", "ben", "zoe", "gone", "@guide", "Highwater"];
                let text = format!("message {step} \u{1F980} \"quoted\"\n@guide");
                let id = world.append(&channel, None, names[random.below(names.len())], &text);
                self.roots.push(id.clone());
                self.all.push(id);
            }
            (5 | 6, _) => {
                if let Some(root) = random.of(&self.roots).cloned()
                    && world.store.message(&root).unwrap().row.deleted_seq.is_none()
                {
                    self.all.push(world.append(&channel, Some(&root), "aiko", &format!("reply {step}")));
                }
            }
            (7, Some(id)) => {
                let now = world.now();
                // One that was deleted cannot be.
                let _ = world.store.edit(&id, &format!("edited {step}"), now);
            }
            (8, Some(id)) => {
                let now = world.now();
                world.store.delete(&id, now).unwrap();
            }
            (9, Some(id)) => {
                let again = random.of(&self.ended).cloned();
                self.ended.push(world.run(&self.agent, &id, again.as_ref(), random.below(3)));
            }
            (10, _) => {
                let person = world.store.people().unwrap()[random.below(4)].id.clone();
                let now = world.now();
                world.store.add_membership(&channel, &person, Rank::Member, now).unwrap();
            }
            _ => world.change(&channel, step),
        }
    }
}

impl World {
    fn run(&mut self, agent: &Binding, message: &MessageId, again: Option<&RunId>, how: usize) -> RunId {
        let key = Key { channel: agent.spec.channel.clone(), binding: agent.id.clone() };
        let now = self.now();
        let run = self.store.add_run(&key, message, again, now).unwrap().id;
        let status = [RunStatus::Failed, RunStatus::Cancelled, RunStatus::Succeeded][how];
        let usage = Some(Usage { input: Some(7), ..Usage::default() }).filter(|_| how == 2);
        let error = Some("for a reason".to_owned()).filter(|_| how < 2);
        let new = NewMessage {
            channel: agent.spec.channel.clone(),
            thread: None,
            author: Author { kind: AuthorKind::Agent, name: "@guide".to_owned() },
            native: Some("canary-of-session".into()),
            run: Some(run.clone()),
            text: format!("of {run}"),
            client_id: None,
        };
        let now = self.now();
        self.store.append(&new, now).unwrap();
        if let Some(usage) = usage {
            let took = TurnUsage { usage, source: Some(UsageSource::Agent), ..TurnUsage::default() };
            let now = self.now();
            self.store.add_turn(&run, &took, now).unwrap();
        }
        let ending = Ending { status, error, told: None };
        let now = self.now();
        self.store.end_run(&run, &ending, now).unwrap();
        run
    }

    fn change(&mut self, channel: &ChannelId, n: usize) {
        let now = self.now();
        let zoe: PersonId = self.store.people().unwrap().pop().unwrap().id;
        self.store.rename_person(&zoe, &format!("zoe{n}"), now).unwrap();
        self.store.set_deactivated(&zoe, n.is_multiple_of(2).then_some(now), now).unwrap();
        self.store.change_channel(channel, &ChannelChange::Topic(format!("topic {n}")), now).unwrap();
        let archived = (!n.is_multiple_of(2)).then_some(now);
        self.store.change_channel(channel, &ChannelChange::ArchivedAt(archived), now).unwrap();
        if self.store.channel_by_id(channel).unwrap().direct.is_none() {
            self.store.change_channel(channel, &ChannelChange::Access(Access::Private), now).unwrap();
        }
    }
}

/// A small generator (xorshift), so that a printed seed makes the same history again.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { Some(&all[self.below(all.len())]) }
    }
}
