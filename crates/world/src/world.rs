//! A world: the real engine on a real store, pretend agents and people, virtual time, one thread.

mod act;
pub(crate) mod agent;
mod calm;
mod commit;
mod people;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use delivery::model::{Epoch, Key, MessageId, NativeId, RunId};
use delivery::residency::Pool;
use delivery::{Limits, Moment, Timestamp};
use server::engine::{Engine, Footprint, Input, Now, Post, Rules};
use server::settings::{CacheAlert, Cold};
use storage::{ChannelKind, NewBinding, Sqlite, Store};
use tempfile::TempDir;

pub(crate) use self::act::{Act, draw};
use self::agent::{Book, Pretend};
use crate::breach::{Breach, Checked};
use crate::dice::Dice;
use crate::model::Model;
use crate::setup::{CARD_MS, COLD_MS, COLD_TOKENS, IDLE_MS, INSIDE, PEOPLE, Setup};
use crate::tally::Tally;

/// Lines of the trace that are kept.
const TRACE_MAX: usize = 80;
/// When worlds begin: 2026-11-30, in milliseconds of the wall clock.
const BEGIN_MS: i64 = 1_796_032_800_000;

/// A world.
pub(crate) struct World {
    /// Holds the store's files; dropped last.
    folder: TempDir,
    setup: Setup,
    store: Option<Sqlite>,
    engine: Engine,
    model: Model,
    agents: BTreeMap<Key, Pretend>,
    /// What agents keep of their sessions, by their own ids for them.
    books: BTreeMap<NativeId, Book>,
    /// Processes that are gone, for what may still come of them.
    graves: Vec<(Key, Epoch, Option<RunId>)>,
    /// Native sessions so far.
    sessions: u64,
    mono: u64,
    /// What the wall clock is ahead of the monotonic one.
    ahead: i64,
    missing: Arc<Mutex<BTreeSet<String>>>,
    /// Events of agents that could not be stored yet.
    kept: Vec<agents::Event>,
    /// Inputs that share the next transaction.
    batch: Vec<Input>,
    /// What was posted last with a client's own id.
    posted: VecDeque<Post>,
    /// Numbers of client ids so far.
    clients: u64,
    trace: VecDeque<String>,
    digest: u64,
    pub(crate) tally: Tally,
}

impl World {
    /// The world of a setup, before anything happens.
    pub(crate) fn new(setup: Setup, root: &std::path::Path) -> Checked<Self> {
        let failed = |error: std::io::Error| Breach::new("store", error.to_string());
        let folder = TempDir::new_in(root).map_err(failed)?;
        let at = Timestamp { ms: BEGIN_MS };
        let mut store = Sqlite::open(folder.path(), at)?;
        let mut model = Model::new(&setup);
        store.atomic(&mut |tx| begin(tx, &setup, &mut model, at))?;
        let missing = Arc::new(Mutex::new(BTreeSet::new()));
        let now = Now { wall: at, mono: Moment { ms: 0 } };
        let rules = rules(&setup, &missing);
        let mut engine = None;
        store.atomic(&mut |tx| {
            let recovered = Engine::recover(tx, &rules, now);
            engine = Some(recovered.map_err(|error| storage::Error::Conflict(error.message))?);
            Ok(())
        })?;
        let engine = engine.ok_or_else(|| Breach::new("2.8", "no server begins"))?;
        Ok(Self {
            folder,
            setup,
            store: Some(store),
            engine,
            model,
            agents: BTreeMap::new(),
            books: BTreeMap::new(),
            graves: Vec::new(),
            sessions: 0,
            mono: 0,
            ahead: BEGIN_MS,
            missing,
            kept: Vec::new(),
            batch: Vec::new(),
            posted: VecDeque::new(),
            clients: 0,
            trace: VecDeque::new(),
            digest: 0xCBF2_9CE4_8422_2325,
            tally: Tally::default(),
        })
    }

    /// The last lines of what happened.
    pub(crate) fn trace(&self) -> impl Iterator<Item = &str> {
        self.trace.iter().map(String::as_str)
    }

    fn note(&mut self, line: impl FnOnce() -> String) {
        let at = self.mono;
        if self.trace.len() == TRACE_MAX {
            self.trace.pop_front();
        }
        let line = format!("{:>9}.{:03} {}", at / 1_000, at % 1_000, line());
        // FNV-1a, 64 bits.
        for byte in line.bytes() {
            self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        self.trace.push_back(line);
    }

    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }

    fn now(&self) -> Now {
        let wall = self.ahead.saturating_add(i64::try_from(self.mono).unwrap_or(i64::MAX));
        Now { wall: Timestamp { ms: wall }, mono: Moment { ms: self.mono } }
    }

    fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn store(&self) -> Checked<&Sqlite> {
        self.store.as_ref().ok_or_else(|| Breach::new("store", "it is closed"))
    }

    fn rules(&self) -> Rules {
        rules(&self.setup, &self.missing)
    }

    fn missing(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Entries of the engine's memory.
    pub(crate) fn footprint(&self) -> Footprint {
        self.engine.footprint()
    }

    /// Messages of a channel that may be named: people see them all.
    fn messages(&self) -> Vec<MessageId> {
        self.model.chat.lines.iter().map(|line| line.id.clone()).collect()
    }

    /// One of the last messages more often than an old one.
    fn some_message(&self, dice: &mut Dice) -> Option<MessageId> {
        let messages = self.messages();
        let recent = messages.len().saturating_sub(8);
        let from = if dice.percent(70) { &messages[recent..] } else { &messages[..] };
        dice.pick(from).cloned()
    }
}

fn rules(setup: &Setup, missing: &Arc<Mutex<BTreeSet<String>>>) -> Rules {
    let missing = Arc::clone(missing);
    Rules {
        limits: Limits::default(),
        pool: Pool { processes_max: setup.pool, idle_ms: IDLE_MS },
        max_recipients: setup.recipients_max,
        permission_ms: CARD_MS,
        inside: Arc::new(|_, touches| touches.paths.iter().all(|path| path.starts_with(INSIDE))),
        cold: Cold { tokens: COLD_TOKENS, cache_ms: COLD_MS.unsigned_abs() },
        cache_alert: CacheAlert::default(),
        reachable: Arc::new(move |binding| {
            !missing.lock().unwrap_or_else(PoisonError::into_inner).contains(&binding.spec.handle)
        }),
    }
}

/// People, channels and agents, in store and model alike.
fn begin(tx: &mut dyn Store, setup: &Setup, model: &mut Model, at: Timestamp) -> Result<(), storage::Error> {
    for (name, role) in PEOPLE {
        let person = tx.add_person(name, role, at)?;
        model.chat.ids.insert(name.to_owned(), person.id);
        model.chat.people.insert(name.to_owned(), role);
    }
    for place in &setup.channels {
        let kind = match &place.direct {
            Some(handle) => ChannelKind::Direct(handle),
            None => ChannelKind::Public,
        };
        let channel = tx.add_channel(&place.name, kind, at)?;
        model.chat.add_room(channel.id.clone(), place.name.clone(), place.direct.clone());
        for agent in &place.agents {
            let new = NewBinding { channel: channel.id.clone(), ..agent.clone() };
            model.chat.add_binding(&tx.add_binding(&new, at)?);
        }
    }
    Ok(())
}
