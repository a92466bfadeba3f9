//! Clients that read the state once and then follow events, against ones that read everything afresh.

mod state;
mod workspace;

use proptest::prelude::*;
use storage::{Read, Role};

use self::state::State;
use self::workspace::{Act, Workspace, act};
use crate::events::Watcher;
use crate::events::item::Renderer;
use crate::events::sight::{Look, Looker, may_see};
use crate::rights::Principal;

/// A client: its state, and the entry up to which it has followed.
struct Client {
    watcher: Watcher,
    state: State,
    after: u64,
    /// A place that it asked for before it reads everything afresh.
    place: u64,
}

impl Client {
    fn new(store: &dyn Read, name: &str) -> Self {
        let watcher = watcher(store, name);
        let head = store.log_span().unwrap().head;
        let state = State::fresh(store, &watcher.principal);
        Self { watcher, state, after: head, place: head }
    }

    fn follow(&mut self, store: &dyn Read, limit: usize) {
        let entries = store.log(self.after, limit).unwrap();
        let sight = match Looker::new(store).unwrap().look(&self.watcher).unwrap() {
            Look::Sees(sight) => sight,
            Look::Changed => {
                // It is asked to look afresh, as who it is now.
                let name = store.person_by_id(&self.watcher.principal.person).unwrap().name;
                *self = Self::new(store, &name);
                return;
            }
            Look::Ended => unreachable!("nobody ends it"),
        };
        let mut renderer = Renderer::new(store, [0; 8]);
        for entry in entries {
            self.after = entry.n;
            let item = renderer.item(entry).unwrap();
            if may_see(item.audience(), &sight) {
                self.state.apply(store, &self.watcher.principal, item.event().clone());
            }
        }
    }

    fn act(&mut self, store: &dyn Read, act: &Act) {
        match *act {
            Act::Follow(limit) => self.follow(store, limit),
            Act::Place => self.place = store.log_span().unwrap().head,
            Act::Refresh => {
                let name = store.person_by_id(&self.watcher.principal.person).unwrap().name;
                self.watcher = watcher(store, &name);
                self.state = State::fresh(store, &self.watcher.principal);
                self.after = self.place;
            }
            Act::Change(_) => {}
        }
    }
}

fn watcher(store: &dyn Read, name: &str) -> Watcher {
    let principal = Principal::of(&store.person(name).unwrap());
    Watcher { principal, credential: None, until: None }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn state_plus_events_equals_fresh_state(acts in prop::collection::vec(act(), 1..160)) {
        // I15
        let folder = tempfile::tempdir().unwrap();
        let mut workspace = Workspace::new(folder.path());
        let roles = [Role::Owner, Role::Member, Role::Guest];
        let names = ["olive", "ben", "gus"];
        for (name, role) in names.iter().zip(roles) {
            workspace.person(name, role);
        }
        let mut clients = names.map(|name| Client::new(&workspace.store, name));
        for act in workspace::BEGIN.iter().chain(&acts) {
            let before = workspace.store.log_span().unwrap().head;
            let done = workspace.act(act);
            let after = workspace.store.log_span().unwrap().head;
            prop_assert!(done.is_some() || after == before, "{act:?} was refused and is in the log");
            for client in &mut clients {
                client.act(&workspace.store, act);
            }
        }
        for client in &mut clients {
            // The first look may be one that asks to begin anew.
            for _ in 0..2 {
                client.follow(&workspace.store, usize::MAX);
            }
            let fresh = State::fresh(&workspace.store, &client.watcher.principal);
            prop_assert_eq!(&client.state, &fresh);
        }
    }
}
