//! A world for the engine: a real store, pretend agents, virtual time.

use std::sync::Arc;

use agents::{Begun, Event, EventKind, Fault, Reload, Started, Stop, Turn};
use delivery::model::{Epoch, Key, NativeId, Policy, RunId, SessionPolicy};
use delivery::residency::Pool;
use delivery::{Limits, Moment, Timestamp, Watermark};
use storage::{Message, NewBinding, Read, Role, Run, RunStatus, Sqlite, Store};
use tempfile::TempDir;

use super::super::{Command, Engine, Input, Now, Post, Reply, Request, Rules, Tool, ToolCall, key_of};
use crate::error::ApiError;
use crate::settings::{CacheAlert, Cold};

pub(super) struct World {
    folder: TempDir,
    pub(super) store: Sqlite,
    pub(super) engine: Engine,
    pub(super) mono: u64,
    /// How far the wall clock was set away from the other.
    pub(super) wall_set: i64,
    /// Whether the agents let their turns be steered.
    pub(super) steering: bool,
    /// Commands that were given and not looked at yet.
    pub(super) given: Vec<Command>,
}

/// Where stores lie: in memory where the system offers that.
fn folder() -> TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { TempDir::new_in(memory).unwrap() } else { TempDir::new().unwrap() }
}

impl World {
    pub(super) fn new() -> Self {
        let folder = folder();
        let mut store = Sqlite::open(folder.path(), Timestamp { ms: 0 }).unwrap();
        let at = Timestamp { ms: 1 };
        store.add_person("aiko", Role::Owner, at).unwrap();
        let channel = store.add_channel("general", storage::ChannelKind::Public, at).unwrap();
        let new = NewBinding {
            channel: channel.id,
            handle: "claude".to_owned(),
            preset: "custom".to_owned(),
            profile: storage::Profile::Own,
            command: vec!["claude".to_owned()],
            delivery: Policy::Lean,
            session: SessionPolicy::Resident,
            when_cold: delivery::model::WhenCold::Reload,
            supervised: true,
            env: vec![],
            model: None,
            cwd: None,
            instructions: None,
            addressed_by: storage::AddressedBy::Members,
            permissions: storage::PermissionRules::default(),
            limits: storage::OwnLimits::default(),
        };
        store.add_binding(&new, at).unwrap();
        store.add_binding(&NewBinding { handle: "codex".to_owned(), ..new }, at).unwrap();
        let engine = recover(&mut store, 0);
        Self { folder, store, engine, mono: 0, wall_set: 0, steering: false, given: Vec::new() }
    }

    /// A new server on the same folder, as after a crash.
    pub(super) fn restart(self) -> Self {
        let Self { folder, store, mono, wall_set, steering, .. } = self;
        drop(store);
        let mut store = Sqlite::open(folder.path(), Timestamp { ms: 0 }).unwrap();
        let mut engine = recover(&mut store, mono);
        let given = std::iter::from_fn(|| engine.next_command()).collect();
        Self { folder, store, engine, mono, wall_set, steering, given }
    }

    /// A server on what a backup has of this one, which goes on.
    pub(super) fn restored(&self) -> Self {
        let (folder, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let (file, data) = (elsewhere.path().join("backup.db"), folder.path());
        storage::back_up(self.folder.path(), &file, storage::Present::Keep, &mut |_, _| ()).unwrap();
        storage::restore(&file, data, &mut |_, _| ()).unwrap();
        let mut store = Sqlite::open(data, Timestamp { ms: 0 }).unwrap();
        let mut engine = recover(&mut store, self.mono);
        let given = std::iter::from_fn(|| engine.next_command()).collect();
        Self {
            folder,
            store,
            engine,
            mono: self.mono,
            wall_set: self.wall_set,
            steering: self.steering,
            given,
        }
    }

    /// The folder of its files.
    pub(super) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub(super) fn step(&mut self, input: &Input) -> Result<Reply, ApiError> {
        let mut now = now(self.mono);
        now.wall.ms += self.wall_set;
        let mut answer = None;
        let engine = &mut self.engine;
        let stepped = self.store.atomic(&mut |tx| {
            let result = engine.step(tx, input.clone(), now);
            let failed = result.is_err();
            answer = Some(result);
            if failed { Err(storage::Error::Conflict("undone".to_owned())) } else { Ok(()) }
        });
        let answer = answer.unwrap();
        assert_eq!(stepped.is_ok(), answer.is_ok());
        self.given.extend(std::iter::from_fn(|| self.engine.next_command()));
        answer
    }

    pub(super) fn ask(&mut self, request: Request) -> Result<Reply, ApiError> {
        self.step(&Input::Request(request))
    }

    pub(super) fn post(&mut self, text: &str) -> (Message, Vec<Run>) {
        let Reply::Posted { message, runs } = self.ask(post_of(text)).unwrap() else {
            unreachable!("a post is answered by what was posted")
        };
        (*message, runs)
    }

    /// Calls a tool with the token of a process; what it tells.
    pub(super) fn call(&mut self, handle: &str, epoch: Epoch, tool: Tool) -> Result<String, ApiError> {
        let call = ToolCall { key: self.key(handle), epoch, tool };
        let Reply::Told(told) = self.ask(Request::Tool(Box::new(call)))? else {
            unreachable!("a tool is answered by what it tells")
        };
        Ok(told)
    }

    pub(super) fn key(&self, handle: &str) -> Key {
        let bindings = self.store.bindings(None).unwrap();
        key_of(bindings.iter().find(|binding| binding.spec.handle == handle).unwrap())
    }

    /// The start of the newest process: its epoch, what it reloads and its system prompt.
    pub(super) fn start(&mut self, handle: &str) -> (Epoch, Option<Reload>, Option<String>) {
        let key = self.key(handle);
        let at = self
            .given
            .iter()
            .position(|command| matches!(command, Command::Start { key: at, .. } if *at == key));
        let Command::Start { epoch, reload, system_prompt, .. } =
            self.given.remove(at.expect("a process is started"))
        else {
            unreachable!("it is a start")
        };
        (epoch, reload, system_prompt)
    }

    /// A process that is to reload a session does so.
    pub(super) fn reloaded(&mut self, handle: &str) -> Epoch {
        let (epoch, reload, system_prompt) = self.start(handle);
        let reload = reload.expect("a session is reloaded");
        self.began(handle, epoch, &reload.native, Begun::Restored, system_prompt.is_some());
        epoch
    }

    pub(super) fn began(
        &mut self,
        handle: &str,
        epoch: Epoch,
        native: &NativeId,
        begun: Begun,
        system_prompt: bool,
    ) {
        let native = native.clone();
        let started = Started {
            native,
            begun,
            reloadable: true,
            system_prompt,
            steering: self.steering,
            pid: 1,
            notices: vec![],
        };
        self.event(handle, epoch, EventKind::Started(started));
    }

    /// A process that was told to end, or ends by itself, is gone.
    pub(super) fn exited(&mut self, handle: &str, epoch: Epoch, reason: Option<&str>) {
        self.event(handle, epoch, EventKind::Exited { reason: reason.map(str::to_owned) });
    }

    /// Time passes until idle processes end; the one of this agent is gone then.
    pub(super) fn idles(&mut self, handle: &str, epoch: Epoch) {
        self.mono += 31 * super::MINUTE;
        self.step(&Input::Tick).unwrap();
        let key = self.key(handle);
        let ended = |command: &Command| matches!(command, Command::End { key: at, .. } if *at == key);
        let at = self.given.iter().position(ended).expect("an idle process ends");
        self.given.remove(at);
        self.exited(handle, epoch, None);
    }

    /// A mention that is answered by the process that lives.
    pub(super) fn answers(&mut self, handle: &str, epoch: Epoch, text: &str) -> RunId {
        let (run, _) = self.prompt(handle);
        self.answered(handle, epoch, &run, text);
        run
    }

    /// The epoch under which the newest process was started.
    pub(super) fn start_command(&mut self, handle: &str) -> Epoch {
        self.start(handle).0
    }

    pub(super) fn event(&mut self, handle: &str, epoch: Epoch, kind: EventKind) {
        let key = self.key(handle);
        self.step(&Input::Agent(Event { key, epoch, kind })).unwrap();
    }

    pub(super) fn started(&mut self, handle: &str, native: &str) -> Epoch {
        let epoch = self.start_command(handle);
        self.began(handle, epoch, &NativeId::from(native), Begun::New, false);
        epoch
    }

    /// The prompt that was given; it counts as written.
    pub(super) fn prompt(&mut self, handle: &str) -> (RunId, String) {
        let key = self.key(handle);
        let at = self
            .given
            .iter()
            .position(|command| matches!(command, Command::Prompt { key: at, .. } if *at == key));
        let Command::Prompt { epoch, run, text, .. } = self.given.remove(at.expect("a prompt is sent"))
        else {
            unreachable!("it is a prompt")
        };
        self.event(handle, epoch, EventKind::PromptWritten { run: run.clone() });
        (run, text)
    }

    pub(super) fn answered(&mut self, handle: &str, epoch: Epoch, run: &RunId, text: &str) {
        let turn =
            Turn { stop: Stop::EndTurn, text: Some(text.to_owned()).filter(|t| !t.is_empty()), usage: None };
        self.event(handle, epoch, EventKind::TurnEnded { run: run.clone(), turn });
    }

    pub(super) fn failed(&mut self, handle: &str, epoch: Epoch, run: &RunId) {
        self.failed_by(handle, epoch, run, Fault::Other);
    }

    pub(super) fn failed_by(&mut self, handle: &str, epoch: Epoch, run: &RunId, fault: Fault) {
        let reason = "it broke".to_owned();
        self.event(handle, epoch, EventKind::TurnFailed { run: run.clone(), reason, fault });
    }

    /// Time goes on.
    pub(super) fn after(&mut self, ms: u64) {
        self.mono += ms;
        self.step(&Input::Tick).unwrap();
    }

    /// How many commands of a kind were given and not looked at yet.
    pub(super) fn given(&self, is_it: impl Fn(&Command) -> bool) -> usize {
        self.given.iter().filter(|command| is_it(command)).count()
    }

    pub(super) fn mark(&self, handle: &str) -> Option<Watermark> {
        let key = self.key(handle);
        self.store.watermark(&key.binding, &key.channel, None).unwrap()
    }

    pub(super) fn status(&self, run: &RunId) -> RunStatus {
        self.store.run(run).unwrap().status
    }

    /// The newest texts of the channel, as `name: text`.
    pub(super) fn tail(&self, n: usize) -> Vec<String> {
        let channel = self.store.channel("general").unwrap();
        let messages = self.store.history(&channel.id, None, None, n).unwrap();
        messages
            .into_iter()
            .map(|message| format!("{}: {}", message.row.author.name, message.row.text))
            .collect()
    }
}

/// A post of the owner's.
pub(super) fn post_of(text: &str) -> Request {
    Request::Post(Box::new(Post {
        channel: "general".to_owned(),
        author: "aiko".to_owned(),
        text: text.to_owned(),
        thread: None,
        client_id: None,
    }))
}

pub(super) fn now(mono: u64) -> Now {
    Now { wall: Timestamp { ms: 1_000 + i64::try_from(mono).unwrap() }, mono: Moment { ms: mono } }
}

fn recover(store: &mut Sqlite, mono: u64) -> Engine {
    let rules = Rules {
        limits: Limits::default(),
        cold: Cold { tokens: 50_000, cache_ms: 60 * super::MINUTE },
        cache_alert: CacheAlert::default(),
        pool: Pool { processes_max: 4, idle_ms: 30 * super::MINUTE },
        max_recipients: 3,
        reachable: Arc::new(|_| true),
        permission_ms: 30 * super::MINUTE,
        inside: Arc::new(|_, touches| {
            !touches.paths.is_empty() && touches.paths.iter().all(|path| path.starts_with("/work/"))
        }),
    };
    let mut engine = None;
    store
        .atomic(&mut |tx| {
            engine = Some(Engine::recover(tx, &rules, now(mono)).unwrap());
            Ok(())
        })
        .unwrap();
    engine.unwrap()
}
