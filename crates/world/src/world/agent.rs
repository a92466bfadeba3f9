//! A pretend agent: what `crates/agents` would report of a process, one event at a time, with all that agents do wrong.

mod work;

use agents::{Begun, Event, EventKind, Fault, Started, Stop, Turn, Usage};
use delivery::model::{Epoch, Key, NativeId, RunId};
use delivery::prose::FRAMING;
use server::engine::Input;
use storage::{Binding, OwnLimits};

use crate::breach::{Checked, ensure};
use crate::dice::Dice;
use crate::setup::MINUTE;
use crate::texts;

/// Milliseconds without a sign of life after which a turn is given up.
pub(crate) const INACTIVITY_MS: u64 = 10 * MINUTE;
/// Milliseconds that a turn may take.
pub(crate) const TURN_MS: u64 = 120 * MINUTE;
/// Milliseconds that a start may take.
pub(crate) const START_MS: u64 = MINUTE;

/// A process.
#[derive(Clone, Debug)]
pub(crate) struct Pretend {
    key: Key,
    pub(crate) epoch: Epoch,
    handle: String,
    /// The session that it is to reload.
    reload: Option<NativeId>,
    book: Book,
    talents: Talents,
    phase: Phase,
    turn: Option<InTurn>,
    ending: bool,
    /// The last sign of life.
    since: u64,
    /// When its turn began, and how long that and a silence may take.
    began: u64,
    limits: OwnLimits,
    /// The permission that it waits for, and how many it asked for.
    asking: Option<u64>,
    asked: u64,
    /// Whether it is to prove that it lives.
    proving: bool,
    /// Whether it forgot its session, and will tell so by how full that is.
    forgot: bool,
}

/// What it keeps of a session, byte by byte: its system prompt, then the prompts that reached it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Book {
    /// Its own id for it.
    native: Option<NativeId>,
    pub(crate) system: Option<String>,
    prompts: Vec<String>,
    used: u64,
}

/// An id that an agent gives to a new session.
pub(crate) enum Id {
    Own(NativeId),
    /// Another session has it already: nothing is kept under it.
    Taken(NativeId),
}

/// What a process begins with.
pub(crate) enum Start {
    /// A new session, with this system prompt if it takes one.
    Anew(Option<String>),
    /// A session by its id, and what it kept of it.
    Reload(NativeId, Option<Book>),
}

/// What a program can do.
#[derive(Clone, Copy, Debug)]
struct Talents {
    /// It takes a system prompt.
    system: bool,
    /// It tells how full it is.
    usage: bool,
    /// It can reload its sessions.
    reloads: bool,
    /// It crashes often.
    frail: bool,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Starting,
    Running,
    /// Its end was reported.
    Gone,
}

/// A turn that it has.
#[derive(Clone, Debug)]
struct InTurn {
    run: RunId,
    text: String,
    written: bool,
    cancelled: bool,
}

/// What a process is told to do.
pub(crate) enum Order {
    Prompt { run: RunId, text: String, at: u64 },
    Cancel(RunId),
    Answer { run: RunId, ask: u64, at: u64 },
    Prove,
    End,
}

/// What it may name: messages and handles of its channel.
pub(crate) struct Around {
    pub(crate) messages: Vec<delivery::model::MessageId>,
    pub(crate) roots: Vec<delivery::model::MessageId>,
    pub(crate) handles: Vec<String>,
    /// How often a reply begins with handles.
    pub(crate) calls_percent: u64,
    /// How often a turn fails without more.
    pub(crate) fails_percent: u64,
}

impl Pretend {
    pub(crate) fn new(key: Key, epoch: Epoch, binding: &Binding, start: Start, at: u64) -> Self {
        // The same program every time: what it can do hangs on its name.
        let seed = binding.id.as_str().bytes().fold(7_u64, |sum, byte| sum * 31 + u64::from(byte));
        let mut dice = Dice::new(seed);
        let (reload, book) = match start {
            Start::Anew(system) => (None, Book { system, ..Book::default() }),
            Start::Reload(native, book) => (Some(native), book.unwrap_or_default()),
        };
        Self {
            key,
            epoch,
            handle: binding.spec.handle.clone(),
            reload,
            book,
            talents: Talents {
                system: dice.percent(50),
                usage: dice.percent(50),
                reloads: dice.percent(75),
                frail: dice.percent(15),
            },
            phase: Phase::Starting,
            turn: None,
            ending: false,
            since: at,
            began: at,
            limits: binding.spec.limits,
            asking: None,
            asked: 0,
            proving: false,
            forgot: false,
        }
    }

    /// What it keeps of its session, if that has an id of its own.
    pub(crate) fn book(&self) -> Option<(NativeId, Book)> {
        self.book.native.clone().map(|native| (native, self.book.clone()))
    }

    /// The run that it has a turn of.
    pub(crate) fn run(&self) -> Option<RunId> {
        self.turn.as_ref().map(|turn| turn.run.clone())
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.phase == Phase::Gone
    }

    /// Whether it has something to do.
    pub(crate) fn is_busy(&self) -> bool {
        self.phase == Phase::Starting || self.turn.is_some() || self.ending || self.proving
    }

    pub(crate) fn obey(&mut self, order: Order) -> Checked {
        match order {
            Order::Prompt { run, text, at } => {
                ensure!(
                    self.turn.is_none(),
                    "2.6",
                    "{} has two turns: {:?} and {run}",
                    self.handle,
                    self.run()
                );
                ensure!(!self.ending && self.phase == Phase::Running, "6.4", "{run} is sent to no process");
                (self.since, self.began) = (at, at);
                self.turn = Some(InTurn { run, text, written: false, cancelled: false });
            }
            Order::Cancel(run) => {
                if let Some(turn) = self.turn.as_mut().filter(|turn| turn.run == run) {
                    turn.cancelled = true;
                }
            }
            Order::Answer { run, ask, at } => {
                if self.run() == Some(run) && self.asking == Some(ask) {
                    self.asking = None;
                    self.since = at;
                }
            }
            Order::Prove => self.proving = true,
            Order::End => self.ending = true,
        }
        Ok(())
    }

    /// Something that it may do now.
    pub(crate) fn act(&mut self, dice: &mut Dice, at: u64, id: Id, around: &Around) -> Checked<Vec<Input>> {
        if std::mem::take(&mut self.proving) && self.phase == Phase::Running && dice.percent(25) {
            return Ok(self.die(dice, "it did not answer after the sleep"));
        }
        match (self.phase, self.turn.clone()) {
            (Phase::Gone, _) => Ok(Vec::new()),
            (Phase::Starting, _) => Ok(self.start(dice, at, id)),
            (Phase::Running, None) if self.ending => Ok(self.exit(None)),
            (Phase::Running, None) => Ok(self.idle(dice, around)),
            (Phase::Running, Some(turn)) if !turn.written => self.take(dice, at),
            (Phase::Running, Some(_)) if self.ending => Ok(self.exit(None)),
            (Phase::Running, Some(turn)) => Ok(self.work(dice, at, &turn, around)),
        }
    }

    /// What it does so that everything comes to its end.
    pub(crate) fn finish(&mut self, dice: &mut Dice, at: u64, id: Id) -> Checked<Vec<Input>> {
        self.proving = false;
        match (self.phase, self.turn.clone()) {
            (Phase::Gone, _) => Ok(Vec::new()),
            (Phase::Starting, _) if self.ending => Ok(self.exit(None)),
            (Phase::Starting, _) => Ok(self.begin(dice, at, id)),
            (Phase::Running, _) if self.ending => Ok(self.exit(None)),
            (Phase::Running, Some(turn)) if turn.written => {
                let text = texts::body(dice);
                Ok(self.answer(&turn.run, Stop::EndTurn, Some(text)))
            }
            (Phase::Running, Some(_)) => self.write(at),
            (Phase::Running, None) => Ok(Vec::new()),
        }
    }

    /// What its time limits do to it.
    pub(crate) fn time_out(&mut self, at: u64) -> Vec<Input> {
        let waited = at.saturating_sub(self.since);
        // A pending permission stops the clock of silences (6.9).
        let silent = self.asking.is_none() && waited >= self.limits.inactivity_ms.unwrap_or(INACTIVITY_MS);
        let long = at.saturating_sub(self.began) >= self.limits.turn_ms.unwrap_or(TURN_MS);
        match self.phase {
            Phase::Starting if waited >= START_MS => self.exit(Some("it did not start in time")),
            Phase::Running if silent || long => match self.turn.clone() {
                // Told to stop, it does so in its grace, and lives on.
                Some(turn) if turn.written && at.is_multiple_of(3) => {
                    self.fail(&turn.run, "it took too long", Fault::Other)
                }
                Some(turn) if turn.written => {
                    let mut failed = self.fail(&turn.run, "no sign of life", Fault::Lost);
                    failed.extend(self.exit(Some("it hung")));
                    failed
                }
                Some(_) => self.exit(Some("it takes no prompt")),
                None => Vec::new(),
            },
            Phase::Starting | Phase::Running | Phase::Gone => Vec::new(),
        }
    }

    fn event(&self, kind: EventKind) -> Input {
        Input::Agent(Event { key: self.key.clone(), epoch: self.epoch, kind })
    }

    fn exit(&mut self, reason: Option<&str>) -> Vec<Input> {
        self.phase = Phase::Gone;
        let reason = reason.filter(|_| !self.ending).map(str::to_owned);
        vec![self.event(EventKind::Exited { reason })]
    }

    fn start(&mut self, dice: &mut Dice, at: u64, id: Id) -> Vec<Input> {
        match dice.below(100) {
            0..8 => self.exit(Some("it cannot be started")),
            8..20 => Vec::new(),
            20..60 if self.ending => self.exit(None),
            20..30 if self.reload.is_some() => self.cannot_reload(),
            _ => self.begin(dice, at, id),
        }
    }

    fn cannot_reload(&mut self) -> Vec<Input> {
        let failed = self.event(EventKind::ReloadFailed { reason: "not found".to_owned() });
        let mut inputs = vec![failed];
        inputs.extend(self.exit(Some("it could not reload its session")));
        inputs
    }

    /// A session begins, or goes on. One that goes on has what it was told; now and then it says so and has nothing, or its
    /// program does not take the system prompt any more.
    fn begin(&mut self, dice: &mut Dice, at: u64, id: Id) -> Vec<Input> {
        let (native, begun) = match self.reload.clone() {
            None => {
                let (native, kept) = match id {
                    Id::Own(native) => (native.clone(), Some(native)),
                    Id::Taken(native) => (native, None),
                };
                self.book.native = kept;
                (native, Begun::New)
            }
            Some(native) if self.book.native.as_ref() != Some(&native) => {
                self.reload = Some(native);
                return self.cannot_reload();
            }
            Some(native) if dice.percent(65) => (native, Begun::Restored),
            Some(native) => {
                if dice.percent(60) {
                    self.book.prompts.clear();
                    self.book.used = 1 + self.book.used / 10;
                    self.forgot = true;
                }
                (native, Begun::Resumed)
            }
        };
        self.phase = Phase::Running;
        self.since = at;
        let takes_it = self.talents.system && (begun == Begun::New || dice.percent(95));
        let system_prompt = takes_it && self.book.system.is_some();
        if !system_prompt {
            self.book.system = None;
        }
        let (reloadable, notices) = (self.talents.reloads, Vec::new());
        vec![self.event(EventKind::Started(Started {
            native,
            begun,
            reloadable,
            system_prompt,
            steering: false,
            pid: 1,
            notices,
        }))]
    }

    /// It goes away by itself; now and then nobody knows whether all of it is gone.
    fn die(&mut self, dice: &mut Dice, reason: &str) -> Vec<Input> {
        let lost = dice.percent(10).then(|| self.event(EventKind::TreeLost));
        lost.into_iter().chain(self.exit(Some(reason))).collect()
    }

    fn idle(&mut self, dice: &mut Dice, around: &Around) -> Vec<Input> {
        match dice.below(100) {
            0..5 => self.die(dice, "it fell over"),
            5..10 => vec![self.history(dice, around)],
            _ => Vec::new(),
        }
    }

    fn take(&mut self, dice: &mut Dice, at: u64) -> Checked<Vec<Input>> {
        match dice.below(100) {
            _ if self.ending => Ok(self.exit(None)),
            0..9 => Ok(self.die(dice, "it was dead")),
            9..14 => Ok(Vec::new()),
            _ => self.write(at),
        }
    }

    /// A prompt reaches it. Its framing is what it was told first, once, and all else comes behind.
    fn write(&mut self, at: u64) -> Checked<Vec<Input>> {
        let Some(turn) = self.turn.as_mut() else { return Ok(Vec::new()) };
        turn.written = true;
        self.since = at;
        self.book.prompts.push(turn.text.clone());
        let run = turn.run.clone();
        let mut told = self.book.system.iter().chain(&self.book.prompts);
        let is_framed = told.next().is_some_and(|text| text.starts_with(FRAMING));
        // What it was told before, it forgot.
        let forgot = self.reload.is_some();
        ensure!(is_framed || forgot, "3.4", "{} was never told what it is", self.handle);
        Ok(vec![self.event(EventKind::PromptWritten { run })])
    }

    fn answer(&mut self, run: &RunId, stop: Stop, text: Option<String>) -> Vec<Input> {
        self.turn = None;
        self.asking = None;
        self.book.used += 1_000;
        let usage =
            self.talents.usage.then(|| Usage { input: self.book.used, output: 10, ..Usage::default() });
        vec![self.event(EventKind::TurnEnded { run: run.clone(), turn: Turn { stop, text, usage } })]
    }

    fn fail(&mut self, run: &RunId, reason: &str, fault: Fault) -> Vec<Input> {
        self.turn = None;
        self.asking = None;
        vec![self.event(EventKind::TurnFailed { run: run.clone(), reason: reason.to_owned(), fault })]
    }
}
