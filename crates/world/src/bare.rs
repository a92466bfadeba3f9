//! An engine on a store of its own whose agents answer at once, without a model beside it: for measuring what stays.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use agents::{Begun, Event, EventKind, Started, Stop, Turn};
use delivery::model::{NativeId, Policy, SessionPolicy, WhenCold};
use delivery::residency::Pool;
use delivery::{Limits, Moment, Timestamp};
use server::engine::{Command, Engine, Footprint, Input, Now, Post, Request, Rules};
use server::settings::{CacheAlert, Cold};
use storage::{AddressedBy, ChannelKind, NewBinding, OwnLimits, PermissionRules, Role, Sqlite, Store};
use tempfile::TempDir;

use crate::breach::{Breach, Checked, ensure};
use crate::setup::IDLE_MS;

/// Processes at once, as by default.
const POOL: usize = 4;

/// The engine, its store and its agents.
pub struct Bare {
    store: Sqlite,
    engine: Engine,
    mono: u64,
    sessions: u64,
    /// What happens next.
    inputs: VecDeque<Input>,
    /// Dropped last: the store lies in it.
    _folder: TempDir,
}

impl Bare {
    /// So many channels, numbered from 0, with an agent each.
    ///
    /// # Errors
    ///
    /// If there is no place for the store.
    pub fn new(folder: &Path, channels: u64) -> Result<Self, Breach> {
        let folder = TempDir::new_in(folder).map_err(|error| Breach::new("store", error.to_string()))?;
        let at = Timestamp { ms: 1 };
        let mut store = Sqlite::open(folder.path(), at)?;
        let rules = Rules {
            limits: Limits::default(),
            pool: Pool { processes_max: POOL, idle_ms: IDLE_MS },
            max_recipients: 3,
            cold: Cold { tokens: 50_000, cache_ms: 3_600_000 },
            cache_alert: CacheAlert::default(),
            permission_ms: IDLE_MS,
            inside: Arc::new(|_, _| false),
            reachable: Arc::new(|_| true),
        };
        let mut engine = None;
        store.atomic(&mut |tx| {
            tx.add_person("aiko", Role::Owner, at)?;
            for n in 0..channels {
                let channel = tx.add_channel(&name(n), ChannelKind::Public, at)?;
                tx.add_binding(&NewBinding { channel: channel.id, ..binding(n) }, at)?;
            }
            let now = Now { wall: at, mono: Moment { ms: 0 } };
            let recovered = Engine::recover(tx, &rules, now);
            engine = Some(recovered.map_err(|error| storage::Error::Conflict(error.message))?);
            Ok(())
        })?;
        let engine = engine.ok_or_else(|| Breach::new("2.8", "no server begins"))?;
        Ok(Self { store, engine, mono: 0, sessions: 0, inputs: VecDeque::new(), _folder: folder })
    }

    /// A mention of a channel's agent, and all that comes of it, to its answer.
    ///
    /// # Errors
    ///
    /// If it is not taken.
    pub fn mention(&mut self, channel: u64) -> Result<(), Breach> {
        let post = Post {
            channel: name(channel),
            author: "aiko".to_owned(),
            text: format!("@{} what do you think?", handle(channel)),
            thread: None,
            client_id: None,
        };
        self.inputs.push_back(Input::Request(Request::Post(Box::new(post))));
        self.settle()
    }

    /// Time passes, and what is due then happens.
    ///
    /// # Errors
    ///
    /// If it cannot be stored.
    pub fn pass(&mut self, ms: u64) -> Result<(), Breach> {
        self.mono += ms;
        self.inputs.push_back(Input::Tick);
        self.settle()
    }

    /// What the engine holds.
    pub fn footprint(&self) -> Footprint {
        self.engine.footprint()
    }

    fn settle(&mut self) -> Checked {
        while !self.inputs.is_empty() {
            self.mono += 1;
            let wall = Timestamp { ms: i64::try_from(self.mono).unwrap_or(i64::MAX) };
            let now = Now { wall, mono: Moment { ms: self.mono } };
            let inputs = std::mem::take(&mut self.inputs);
            let engine = &mut self.engine;
            let mut refused = None;
            self.store.atomic(&mut |tx| {
                for input in &inputs {
                    refused = refused.take().or(engine.step_apart(tx, input, now)?.err());
                }
                Ok(())
            })?;
            ensure!(refused.is_none(), "2.1", "{refused:?}");
            while let Some(command) = self.engine.next_command() {
                self.carry_out(command);
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, command: Command) {
        match command {
            Command::Start { key, epoch, reload, .. } => {
                self.sessions += 1;
                let (native, begun) = match reload {
                    Some(reload) => (reload.native, Begun::Restored),
                    None => (NativeId(format!("s-{}", self.sessions)), Begun::New),
                };
                let notices = Vec::new();
                let started = Started {
                    native,
                    begun,
                    reloadable: true,
                    system_prompt: false,
                    steering: false,
                    pid: 1,
                    notices,
                };
                let kind = EventKind::Started(started);
                self.inputs.push_back(Input::Agent(Event { key, epoch, kind }));
            }
            Command::Prompt { key, epoch, run, .. } => {
                let turn = Turn { stop: Stop::EndTurn, text: Some("I agree.".to_owned()), usage: None };
                let written = EventKind::PromptWritten { run: run.clone() };
                for kind in [written, EventKind::TurnEnded { run, turn }] {
                    self.inputs.push_back(Input::Agent(Event { key: key.clone(), epoch, kind }));
                }
            }
            Command::End { key, epoch } => {
                let kind = EventKind::Exited { reason: None };
                self.inputs.push_back(Input::Agent(Event { key, epoch, kind }));
            }
            Command::Cancel { .. }
            | Command::Prove { .. }
            | Command::Answer { .. }
            | Command::Steer { .. }
            | Command::ReadTranscript { .. }
            | Command::Tidy(_)
            | Command::Stream { .. }
            | Command::RunsEnded => {}
        }
    }
}

fn name(channel: u64) -> String {
    format!("room-{channel}")
}

fn handle(channel: u64) -> String {
    format!("agent-{channel}")
}

fn binding(channel: u64) -> NewBinding {
    NewBinding {
        channel: delivery::model::ChannelId(String::new()),
        handle: handle(channel),
        preset: "custom".to_owned(),
        profile: storage::Profile::Own,
        command: vec!["agent".to_owned()],
        delivery: Policy::Lean,
        session: SessionPolicy::Resident,
        when_cold: WhenCold::Reload,
        supervised: true,
        env: Vec::new(),
        model: None,
        cwd: None,
        permissions: PermissionRules::default(),
        limits: OwnLimits::default(),
        instructions: None,
        addressed_by: AddressedBy::Members,
    }
}
