//! A pretend agent: what `crates/agents` would report of a process, one event at a time, with all that agents do wrong.

use agents::{Event, EventKind, Started, Stop, Turn, Update, Usage};
use delivery::model::{Epoch, Key, NativeId, RunId};
use delivery::prose::FRAMING;
use server::engine::{Input, Request, Tool, ToolCall};
use storage::Binding;

use crate::breach::{Checked, ensure};
use crate::dice::Dice;
use crate::setup::MINUTE;
use crate::texts;

/// Milliseconds without a sign of life after which a turn is given up.
pub(crate) const INACTIVITY_MS: u64 = 10 * MINUTE;
/// Milliseconds that a start may take.
pub(crate) const START_MS: u64 = MINUTE;

/// A process.
#[derive(Clone, Debug)]
pub(crate) struct Pretend {
    key: Key,
    pub(crate) epoch: Epoch,
    handle: String,
    /// What it was told, byte by byte: its system prompt, then the prompts that reached it.
    system: Option<String>,
    prompts: Vec<String>,
    /// Whether it can take a system prompt, and tells how full it is.
    talents: (bool, bool),
    phase: Phase,
    turn: Option<InTurn>,
    ending: bool,
    /// The last sign of life.
    since: u64,
    used: u64,
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
    End,
}

/// What it does next.
#[derive(Clone, Copy)]
enum Next {
    Answer,
    Silence,
    Cut,
    Refuse,
    Fail,
    FailAndDie,
    Die,
    Say,
    Look,
    Use,
    Compact,
    Ask,
    History,
    Post,
    Decline,
    Roster,
    Hang,
}

/// What it may name: messages and handles of its channel.
pub(crate) struct Around {
    pub(crate) messages: Vec<delivery::model::MessageId>,
    pub(crate) roots: Vec<delivery::model::MessageId>,
    pub(crate) handles: Vec<String>,
    /// How often a reply begins with handles.
    pub(crate) calls_percent: u64,
}

impl Pretend {
    pub(crate) fn new(key: Key, epoch: Epoch, binding: &Binding, system: Option<String>, at: u64) -> Self {
        // The same program every time: what it can do hangs on its name.
        let seed = binding.id.as_str().bytes().fold(7_u64, |sum, byte| sum * 31 + u64::from(byte));
        let mut dice = Dice::new(seed);
        Self {
            key,
            epoch,
            handle: binding.spec.handle.clone(),
            system,
            prompts: Vec::new(),
            talents: (dice.percent(50), dice.percent(50)),
            phase: Phase::Starting,
            turn: None,
            ending: false,
            since: at,
            used: 0,
        }
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
        self.phase == Phase::Starting || self.turn.is_some() || self.ending
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
                self.since = at;
                self.turn = Some(InTurn { run, text, written: false, cancelled: false });
            }
            Order::Cancel(run) => {
                if let Some(turn) = self.turn.as_mut().filter(|turn| turn.run == run) {
                    turn.cancelled = true;
                }
            }
            Order::End => self.ending = true,
        }
        Ok(())
    }

    /// Something that it may do now.
    pub(crate) fn act(
        &mut self,
        dice: &mut Dice,
        at: u64,
        id: NativeId,
        around: &Around,
    ) -> Checked<Vec<Input>> {
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
    pub(crate) fn finish(&mut self, dice: &mut Dice, at: u64, id: NativeId) -> Checked<Vec<Input>> {
        match (self.phase, self.turn.clone()) {
            (Phase::Gone, _) => Ok(Vec::new()),
            (Phase::Starting, _) if self.ending => Ok(self.exit(None)),
            (Phase::Starting, _) => Ok(self.begin(at, id)),
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
        match self.phase {
            Phase::Starting if waited >= START_MS => self.exit(Some("it did not start in time")),
            Phase::Running if waited >= INACTIVITY_MS => match self.turn.clone() {
                Some(turn) if turn.written => {
                    let mut failed = self.fail(&turn.run, "no sign of life");
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

    fn start(&mut self, dice: &mut Dice, at: u64, id: NativeId) -> Vec<Input> {
        match dice.below(100) {
            0..8 => self.exit(Some("it cannot be started")),
            8..20 => Vec::new(),
            20..60 if self.ending => self.exit(None),
            _ => self.begin(at, id),
        }
    }

    fn begin(&mut self, at: u64, native: NativeId) -> Vec<Input> {
        self.phase = Phase::Running;
        self.since = at;
        let system_prompt = self.talents.0 && self.system.is_some();
        if !system_prompt {
            self.system = None;
        }
        vec![self.event(EventKind::Started(Started { native, system_prompt, pid: 1, notices: Vec::new() }))]
    }

    fn idle(&mut self, dice: &mut Dice, around: &Around) -> Vec<Input> {
        match dice.below(100) {
            0..5 => self.exit(Some("it fell over")),
            5..10 => vec![self.history(dice, around)],
            _ => Vec::new(),
        }
    }

    fn take(&mut self, dice: &mut Dice, at: u64) -> Checked<Vec<Input>> {
        match dice.below(100) {
            _ if self.ending => Ok(self.exit(None)),
            0..9 => Ok(self.exit(Some("it was dead"))),
            9..14 => Ok(Vec::new()),
            _ => self.write(at),
        }
    }

    /// A prompt reaches it. Its framing is what it was told first, once, and all else comes behind.
    fn write(&mut self, at: u64) -> Checked<Vec<Input>> {
        let Some(turn) = self.turn.as_mut() else { return Ok(Vec::new()) };
        turn.written = true;
        self.since = at;
        self.prompts.push(turn.text.clone());
        let run = turn.run.clone();
        let told = self.system.iter().chain(&self.prompts);
        let framed: Vec<bool> = told.map(|text| text.starts_with(FRAMING)).collect();
        let is_once = framed.iter().filter(|framed| **framed).count() == 1 && framed[0];
        ensure!(is_once, "3.4", "{} has its framing where {framed:?} says", self.handle);
        Ok(vec![self.event(EventKind::PromptWritten { run })])
    }

    fn answer(&mut self, run: &RunId, stop: Stop, text: Option<String>) -> Vec<Input> {
        self.turn = None;
        self.used += 1_000;
        let usage = self.talents.1.then(|| Usage { input: self.used, output: 10, ..Usage::default() });
        vec![self.event(EventKind::TurnEnded { run: run.clone(), turn: Turn { stop, text, usage } })]
    }

    fn fail(&mut self, run: &RunId, reason: &str) -> Vec<Input> {
        self.turn = None;
        vec![self.event(EventKind::TurnFailed { run: run.clone(), reason: reason.to_owned() })]
    }

    fn work(&mut self, dice: &mut Dice, at: u64, turn: &InTurn, around: &Around) -> Vec<Input> {
        let next = if turn.cancelled { cancelled(dice) } else { undisturbed(dice) };
        if !matches!(next, Next::Hang) {
            self.since = at;
        }
        let run = &turn.run;
        match next {
            Next::Answer if turn.cancelled && dice.percent(80) => {
                self.answer(run, Stop::Cancelled, dice.percent(50).then(|| "half".to_owned()))
            }
            Next::Answer => {
                let text = self.reply(dice, around);
                self.answer(run, Stop::EndTurn, Some(text))
            }
            Next::Silence => self.answer(run, Stop::EndTurn, None),
            Next::Cut => {
                let stop = if dice.percent(50) { Stop::MaxTokens } else { Stop::MaxRequests };
                let text = dice.percent(60).then(|| texts::body(dice));
                self.answer(run, stop, text)
            }
            Next::Refuse => self.answer(run, Stop::Refusal, None),
            Next::Fail => self.fail(run, "its provider failed"),
            Next::FailAndDie => {
                let mut failed = self.fail(run, "it broke the protocol");
                failed.extend(self.exit(Some("it was ended")));
                failed
            }
            Next::Die => self.exit(Some("it crashed")),
            Next::Say => {
                let long = if dice.percent(10) { 40_000 } else { 10 };
                self.update(run, Update::Text("x".repeat(long)))
            }
            Next::Look => {
                let (id, title) = ("t-1".to_owned(), "look".to_owned());
                self.update(run, Update::ToolCall { id, title, kind: "read".to_owned() })
            }
            Next::Use if self.talents.1 => {
                self.used += dice.below(5_000);
                self.update(run, Update::Used(self.used))
            }
            Next::Compact => {
                self.used /= 2;
                let said = dice.percent(50) || !self.talents.1;
                self.update(run, if said { Update::Compacted } else { Update::Used(self.used) })
            }
            Next::Ask => {
                let (title, option) = ("rm -rf build".to_owned(), Some("reject".to_owned()));
                self.update(run, Update::PermissionRejected { title, option })
            }
            Next::History => vec![self.history(dice, around)],
            Next::Post => vec![self.post(dice, around)],
            Next::Decline => vec![self.call(Tool::Decline { reason: "not my task".to_owned() })],
            Next::Roster => vec![self.call(Tool::Roster)],
            Next::Use | Next::Hang => Vec::new(),
        }
    }

    fn update(&self, run: &RunId, update: Update) -> Vec<Input> {
        vec![self.event(EventKind::Update { run: run.clone(), update })]
    }

    fn call(&self, tool: Tool) -> Input {
        let call = ToolCall { key: self.key.clone(), epoch: self.epoch, tool };
        Input::Request(Request::Tool(Box::new(call)))
    }

    /// A page of the channel or of a thread, from its end or before some message.
    fn history(&self, dice: &mut Dice, around: &Around) -> Input {
        let some = |dice: &mut Dice| dice.pick(&around.messages).cloned();
        let before = if dice.percent(40) { some(dice) } else { None };
        let thread = match dice.below(10) {
            0 => some(dice),
            1..=4 => dice.pick(&around.roots).cloned(),
            _ => None,
        };
        let limit = dice.weighed(&[(3, None), (2, Some(1)), (3, Some(3)), (1, Some(100)), (1, Some(101))]);
        self.call(Tool::History { before, thread, limit })
    }

    fn post(&self, dice: &mut Dice, around: &Around) -> Input {
        let to = if dice.percent(50) { some_handles(dice, around) } else { Vec::new() };
        let thread = match dice.below(10) {
            0 => dice.pick(&around.messages).cloned(),
            1..=3 => dice.pick(&around.roots).cloned(),
            _ => None,
        };
        self.call(Tool::Post { text: texts::body(dice), to, thread })
    }

    fn reply(&self, dice: &mut Dice, around: &Around) -> String {
        if !dice.percent(around.calls_percent) {
            return texts::body(dice);
        }
        let handles: Vec<String> =
            some_handles(dice, around).into_iter().map(|handle| format!("@{handle}")).collect();
        format!("{} {}", handles.join(" "), texts::body(dice))
    }
}

fn some_handles(dice: &mut Dice, around: &Around) -> Vec<String> {
    let count = 1 + dice.below(3);
    (0..count).filter_map(|_| dice.pick(&around.handles).cloned()).collect()
}

fn undisturbed(dice: &mut Dice) -> Next {
    dice.weighed(&[
        (30, Next::Answer),
        (4, Next::Silence),
        (4, Next::Cut),
        (2, Next::Refuse),
        (6, Next::Fail),
        (3, Next::FailAndDie),
        (4, Next::Die),
        (9, Next::Say),
        (3, Next::Look),
        (4, Next::Use),
        (3, Next::Compact),
        (3, Next::Ask),
        (10, Next::History),
        (9, Next::Post),
        (3, Next::Decline),
        (1, Next::Roster),
        (4, Next::Hang),
    ])
}

fn cancelled(dice: &mut Dice) -> Next {
    dice.weighed(&[
        (75, Next::Answer),
        (10, Next::Fail),
        (7, Next::Die),
        (4, Next::FailAndDie),
        (4, Next::Hang),
    ])
}
