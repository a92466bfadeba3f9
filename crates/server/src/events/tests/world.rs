//! A store with a hub over it, and readers that are waited for with a deadline.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use delivery::model::{ChannelId, Epoch, Key, MessageId, Policy, RunId, SessionPolicy};
use delivery::turn::Lease;
use delivery::{Author, AuthorKind, Timestamp};
use storage::{
    AddressedBy, Appended, ChannelKind, CredentialId, CredentialKind, Ending, NewBinding, NewCredential,
    NewMessage, PersonId, Rank, Read, Role, RunStatus, Scopes, Sqlite, Staged, Store, StoreIdentity,
};
use tempfile::TempDir;

use super::super::{Cursor, Follower, Hub, Item, Watcher, Wish, spawn};
use crate::rights::Principal;
use crate::shell::Readers;

/// Not a measurement: it only ends what hangs.
const PATIENCE: Duration = Duration::from_secs(60);
const AT: Timestamp = Timestamp { ms: 1_000 };

pub(super) struct World {
    _folder: TempDir,
    store: Mutex<Sqlite>,
    pub(super) channel: ChannelId,
    key: Key,
    pub(super) hub: Hub,
}

impl World {
    pub(super) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let mut store = Sqlite::open(folder.path(), AT).unwrap();
        let (channel, key) = fill(&mut store);
        let readers = Readers::new(folder.path().to_owned());
        let hub = Hub::new(readers, store.log_span().unwrap());
        spawn(hub.clone());
        Self { _folder: folder, store: Mutex::new(store), channel, key, hub }
    }

    fn store(&self) -> MutexGuard<'_, Sqlite> {
        self.store.lock().unwrap()
    }

    fn told<T>(&self, value: T) -> T {
        self.hub.committed([].into());
        value
    }

    pub(super) fn head(&self) -> u64 {
        self.store().log_span().unwrap().head
    }

    pub(super) fn cursor(&self, n: u64) -> Cursor {
        Cursor { origin: self.hub.origin(), n }
    }

    pub(super) fn reader(&self, since: Option<Cursor>) -> Follower {
        self.reader_with(Wish { watcher: self.watcher("aiko"), channel: None, since: since.map(Ok) })
    }

    /// A person who follows with what the data folder holds.
    pub(super) fn watcher(&self, name: &str) -> Watcher {
        let principal = Principal::of(&self.store().person(name).unwrap());
        Watcher { principal, credential: None, until: None }
    }

    pub(super) fn reader_with(&self, wish: Wish) -> Follower {
        Follower::new(self.hub.clone(), wish)
    }

    pub(super) async fn next(&self, reader: &mut Follower) -> Option<Arc<Item>> {
        tokio::time::timeout(PATIENCE, reader.next()).await.expect("an event, or the end")
    }

    /// Numbers of the entries that a reader gets, up to this one.
    pub(super) async fn numbers(&self, reader: &mut Follower, last: u64) -> Vec<u64> {
        let mut numbers = Vec::new();
        while numbers.last().is_none_or(|n| *n < last) {
            let item = self.next(reader).await.expect("more events");
            numbers.extend(item.n());
        }
        numbers
    }

    pub(super) fn post_many(&self, count: usize) {
        self.post_unseen(count);
        self.told(());
    }

    pub(super) fn post_unseen(&self, count: usize) {
        for n in 0..count {
            self.store().append(&message(&self.channel, &format!("message {n}")), AT).unwrap();
        }
    }

    pub(super) fn post_to(&self, channel: &ChannelId, text: &str) -> MessageId {
        let Appended::New(new) = self.store().append(&message(channel, text), AT).unwrap() else {
            unreachable!("it has no client id")
        };
        self.told(new.row.id)
    }

    pub(super) fn edit(&self, id: &MessageId, text: &str) {
        self.store().edit(id, text, AT).unwrap();
        self.told(());
    }

    pub(super) fn delete(&self, id: &MessageId) {
        self.store().delete(id, AT).unwrap();
        self.told(());
    }

    pub(super) fn add_channel(&self, name: &str) -> ChannelId {
        let channel = self.store().add_channel(name, ChannelKind::Public, AT).unwrap();
        self.told(channel.id)
    }

    pub(super) fn add_private_channel(&self, name: &str) -> ChannelId {
        let channel = self.store().add_channel(name, ChannelKind::Private, AT).unwrap();
        self.told(channel.id)
    }

    pub(super) fn add_person(&self, name: &str) -> PersonId {
        let person = self.store().add_person(name, Role::Member, AT).unwrap();
        self.told(person.id)
    }

    pub(super) fn add_guest(&self, name: &str) -> PersonId {
        let person = self.store().add_person(name, Role::Guest, AT).unwrap();
        self.told(person.id)
    }

    pub(super) fn join(&self, channel: &ChannelId, person: &PersonId) {
        self.store().add_membership(channel, person, Rank::Member, AT).unwrap();
        self.told(());
    }

    pub(super) fn leave(&self, channel: &ChannelId, person: &PersonId) {
        self.store().remove_membership(channel, person, AT).unwrap();
        self.told(());
    }

    pub(super) fn set_role(&self, person: &PersonId, role: Role) {
        self.store().set_role(person, role, AT).unwrap();
        self.told(());
    }

    pub(super) fn deactivate(&self, person: &PersonId) {
        self.store().set_deactivated(person, Some(AT), AT).unwrap();
        self.told(());
    }

    /// A credential of a person.
    pub(super) fn link(&self, person: &PersonId) -> CredentialId {
        let link = NewCredential {
            kind: CredentialKind::Link,
            hash: "aa".to_owned(),
            proof: None,
            person: person.clone(),
            label: "link".to_owned(),
            scopes: Scopes::all(),
            expires_at: None,
        };
        self.store().add_credential(&link, AT).unwrap().id
    }

    pub(super) fn end_link(&self, link: &CredentialId) {
        self.store().end_credential(link, AT).unwrap();
        self.told(());
    }

    pub(super) fn prune(&self, keep: u64) {
        self.store().prune_log(keep).unwrap();
    }

    /// A run of the agent that has its turn; nobody was told.
    pub(super) fn begin_run(&self, text: &str) -> (Key, RunId) {
        let Appended::New(new) = self.store().append(&message(&self.channel, text), AT).unwrap() else {
            unreachable!("it has no client id")
        };
        let id = new.row.id;
        let run = self.store().add_run(&self.key, &id, None, AT).unwrap().id;
        self.store().begin_session(&self.key, &"s1".into(), Epoch(1), None, AT).unwrap();
        self.store().stage(&run, &staged(), AT).unwrap();
        (self.key.clone(), run)
    }

    /// A run of the agent that has its turn.
    pub(super) async fn running(&self, text: &str) -> (Key, RunId) {
        let begun = self.begin_run(text);
        self.told(());
        // A reader that joins afterwards is told of none of this.
        let handed_out = async {
            while self.hub.head() < self.head() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, handed_out).await.expect("all is handed out");
        begun
    }

    pub(super) fn end(&self, run: &RunId) {
        let ending = Ending { status: RunStatus::Succeeded, error: None, told: None };
        self.store().end_run(run, &ending, AT).unwrap();
        self.told(());
    }
}

fn fill(store: &mut Sqlite) -> (ChannelId, Key) {
    let channel = store.add_channel("general", ChannelKind::Public, AT).unwrap().id;
    let aiko = store.add_person("aiko", Role::Owner, AT).unwrap().id;
    store.add_membership(&channel, &aiko, Rank::Manager, AT).unwrap();
    let binding = store.add_binding(&binding(&channel, "claude"), AT).unwrap().id;
    (channel.clone(), Key { channel, binding })
}

pub(crate) fn binding(channel: &ChannelId, handle: &str) -> NewBinding {
    NewBinding {
        channel: channel.clone(),
        handle: handle.to_owned(),
        preset: "custom".to_owned(),
        profile: storage::Profile::Own,
        command: vec!["agent".to_owned()],
        delivery: Policy::Lean,
        session: SessionPolicy::Resident,
        when_cold: delivery::model::WhenCold::Reload,
        supervised: true,
        addressed_by: AddressedBy::Members,
        permissions: storage::PermissionRules::default(),
        limits: storage::OwnLimits::default(),
        env: vec![],
        model: None,
        cwd: None,
        instructions: None,
    }
}

pub(crate) fn message(channel: &ChannelId, text: &str) -> NewMessage {
    NewMessage {
        channel: channel.clone(),
        thread: None,
        author: Author { kind: AuthorKind::User, name: "aiko".to_owned() },
        native: None,
        run: None,
        text: text.to_owned(),
        client_id: None,
    }
}

pub(crate) fn staged() -> Staged {
    Staged {
        native: "s1".into(),
        epoch: Epoch(1),
        lease: Lease::Cold,
        why: String::new(),
        sent: String::new(),
        system: None,
        parts: vec![],
        shown: vec![],
        omitted: 0,
        watermark_before: None,
        watermark_after: None,
    }
}
