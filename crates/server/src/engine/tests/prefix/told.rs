//! Agents that keep their sessions as agents do, and what their provider is told of them, byte by byte.

use std::collections::BTreeMap;

use agents::{Begun, Event, EventKind, Fault, Started, Stop, Turn, Update};
use delivery::model::{Epoch, Key, MessageId, NativeId, RunId};
use delivery::prose;
use storage::Read;

use super::super::world::World;
use crate::engine::{Command, Input, Request, Tool, ToolCall};

/// A session as its provider knows it.
#[derive(Debug, Default)]
struct Session {
    /// The system prompt, with which a reload has to agree.
    head: String,
    said: String,
    /// Whether it was made shorter since the last request.
    compacted: bool,
    requests: Vec<String>,
}

impl Session {
    /// One more piece, and the request that has it: the one before and this behind it.
    #[track_caller]
    fn say(&mut self, who: &str, text: &str) {
        self.said.push_str(&format!("\u{0}{who}: {text}"));
        let request = format!("{}{}", self.head, self.said);
        let last = self.requests.last().filter(|_| !std::mem::take(&mut self.compacted));
        let last = last.map_or("", String::as_str);
        assert!(request.starts_with(last), "{request}\n--- does not go on from\n{last}");
        self.requests.push(request);
    }
}

/// A process.
#[derive(Debug)]
struct Process {
    epoch: Epoch,
    native: NativeId,
    /// The run whose turn it has.
    turn: Option<RunId>,
    /// Whether it had a prompt.
    warm: bool,
}

/// A world, with agents that do what they are told.
pub(super) struct Play {
    pub(super) world: World,
    /// Whether the agents take a system prompt.
    takes_system: bool,
    sessions: BTreeMap<NativeId, Session>,
    processes: BTreeMap<Key, Process>,
    /// What each run was sent.
    sent: BTreeMap<RunId, String>,
    /// What people wrote, for those who change it.
    pub(super) messages: Vec<MessageId>,
    natives: usize,
}

impl Play {
    /// On a server whose wall clock is `ahead_ms` ahead.
    pub(super) fn new(takes_system: bool, ahead_ms: i64) -> Self {
        let mut world = World::new();
        world.steering = true;
        world.wall_set = ahead_ms;
        Self {
            world,
            takes_system,
            sessions: BTreeMap::new(),
            processes: BTreeMap::new(),
            sent: BTreeMap::new(),
            messages: Vec::new(),
            natives: 0,
        }
    }

    /// Asks the engine; what it refuses changes nothing.
    pub(super) fn ask(&mut self, request: Request) {
        if let Ok(crate::engine::Reply::Posted { message, .. }) = self.world.ask(request) {
            self.messages.push(message.row.id);
        }
        self.settle();
    }

    /// The server is killed; another one begins.
    pub(super) fn kill(self) -> Self {
        let world = self.world.restart();
        let mut play = Self { world, processes: BTreeMap::new(), ..self };
        play.settle();
        play
    }

    pub(super) fn pass(&mut self, ms: u64) {
        self.world.mono += ms;
        self.world.step(&Input::Tick).unwrap();
        self.settle();
    }

    /// The n-th of the turns that are under way.
    fn in_turn(&self, n: u8) -> Option<(Key, RunId)> {
        let mut turns: Vec<_> =
            self.processes.iter().filter_map(|(key, at)| Some((key.clone(), at.turn.clone()?))).collect();
        let at = usize::from(n).checked_rem(turns.len())?;
        Some(turns.swap_remove(at))
    }

    pub(super) fn answer(&mut self, n: u8, text: &str) {
        let Some((key, run)) = self.in_turn(n) else { return };
        let text = format!("{text} ({run})");
        self.session(&key).said.push_str(&format!("\u{0}assistant: {text}"));
        self.end_turn(&key, Stop::EndTurn, Some(text));
    }

    fn end_turn(&mut self, key: &Key, stop: Stop, text: Option<String>) {
        let Some(run) = self.processes.get_mut(key).and_then(|process| process.turn.take()) else { return };
        self.event(key, EventKind::TurnEnded { run, turn: Turn { stop, text, usage: None } });
        self.settle();
    }

    /// A turn reads the channel back.
    pub(super) fn look_back(&mut self) {
        let Some((key, _)) = self.in_turn(0) else { return };
        let tool = Tool::History { before: None, thread: None, limit: Some(5) };
        let call = ToolCall { key: key.clone(), epoch: self.processes[&key].epoch, tool };
        let Ok(crate::engine::Reply::Told(told)) = self.world.ask(Request::Tool(Box::new(call))) else {
            return;
        };
        self.session(&key).say("tool", &told);
        self.settle();
    }

    /// The run that has a turn, if any.
    pub(super) fn running(&self) -> Option<RunId> {
        self.in_turn(0).map(|(_, run)| run)
    }

    pub(super) fn fail(&mut self) {
        let Some((key, run)) = self.in_turn(0) else { return };
        self.processes.get_mut(&key).unwrap().turn = None;
        let reason = "its provider failed".to_owned();
        self.event(&key, EventKind::TurnFailed { run, reason, fault: Fault::Other });
        self.settle();
    }

    /// An agent makes its history shorter by itself: its own break, behind which all goes on as before.
    pub(super) fn compact(&mut self) {
        let Some((key, run)) = self.in_turn(0) else { return };
        let session = self.session(&key);
        (session.said, session.compacted) = ("\u{0}assistant: a summary".to_owned(), true);
        self.event(&key, EventKind::Update { run, update: Update::Compacted });
        self.settle();
    }

    /// A process goes away by itself.
    pub(super) fn crash(&mut self) {
        let Some(key) = self.processes.keys().next().cloned() else { return };
        self.exit(&key, Some("it crashed"));
        self.settle();
    }

    fn exit(&mut self, key: &Key, reason: Option<&str>) {
        self.event(key, EventKind::Exited { reason: reason.map(str::to_owned) });
        self.processes.remove(key);
    }

    fn session(&mut self, key: &Key) -> &mut Session {
        let native = &self.processes[key].native;
        self.sessions.get_mut(native).unwrap()
    }

    fn event(&mut self, key: &Key, kind: EventKind) {
        let Some(epoch) = self.processes.get(key).map(|process| process.epoch) else { return };
        self.world.step(&Input::Agent(Event { key: key.clone(), epoch, kind })).unwrap();
    }

    /// Carries out what the engine commands.
    fn settle(&mut self) {
        while !self.world.given.is_empty() {
            for command in std::mem::take(&mut self.world.given) {
                self.carry_out(command);
            }
        }
    }

    fn carry_out(&mut self, command: Command) {
        match command {
            Command::Start { key, epoch, system_prompt, reload, .. } => {
                let begun = if reload.is_some() { Begun::Restored } else { Begun::New };
                let native = reload.map_or_else(
                    || {
                        self.natives += 1;
                        NativeId(format!("s-{}", self.natives))
                    },
                    |reload| reload.native,
                );
                let system = system_prompt.filter(|_| self.takes_system);
                let session = self.sessions.entry(native.clone()).or_default();
                session.head = system.clone().unwrap_or_default();
                let process = Process { epoch, native: native.clone(), turn: None, warm: false };
                self.processes.insert(key.clone(), process);
                let started = Started {
                    native,
                    begun,
                    reloadable: true,
                    system_prompt: system.is_some(),
                    steering: true,
                    pid: 1,
                    notices: vec![],
                };
                self.event(&key, EventKind::Started(started));
            }
            Command::Prompt { key, run, text, .. } => {
                let process = self.processes.get_mut(&key).unwrap();
                assert!(!process.warm || !text.contains(prose::FRAMING), "a warm turn is framed: {text}");
                (process.turn, process.warm) = (Some(run.clone()), true);
                self.session(&key).say("user", &text);
                self.sent.insert(run.clone(), text);
                self.event(&key, EventKind::PromptWritten { run });
            }
            Command::Steer { key, run, message, text, .. } => {
                self.session(&key).say("user", &text);
                self.event(&key, EventKind::Steered { run, message, taken: Ok(()) });
            }
            Command::Cancel { key, .. } => self.end_turn(&key, Stop::Cancelled, None),
            Command::End { key, .. } => self.exit(&key, None),
            Command::Prove { .. }
            | Command::Answer { .. }
            | Command::Stream { .. }
            | Command::ReadTranscript { .. }
            | Command::Tidy(_)
            | Command::RunsEnded => {}
        }
    }

    /// What was sent is kept as it was sent, whatever came after: that is what a reload is compared with.
    pub(super) fn check_kept(&self) {
        for (run, sent) in &self.sent {
            let kept = self.world.store.run(run).unwrap().staged.map(|staged| staged.sent);
            assert_eq!(kept.as_ref(), Some(sent), "{run}");
        }
    }

    /// The system prompt of each session, and its requests.
    pub(super) fn told(&self) -> Vec<(&str, &[String])> {
        self.sessions.values().map(|session| (&*session.head, &*session.requests)).collect()
    }
}
