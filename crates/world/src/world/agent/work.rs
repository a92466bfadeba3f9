//! What a pretend agent does within a turn: answers, silence, tools, permissions, and ways to break.

use agents::{Ask, Choice, ChoiceKind, Closed, EventKind, Fault, Passing, Stop, Touches, Update};
use delivery::model::RunId;
use server::engine::{Input, Request, Tool, ToolCall};

use super::{Around, InTurn, Pretend};
use crate::dice::Dice;
use crate::setup::{INSIDE, MINUTE};
use crate::texts;

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

impl Pretend {
    /// Something within its turn.
    pub(super) fn work(&mut self, dice: &mut Dice, at: u64, turn: &InTurn, around: &Around) -> Vec<Input> {
        let run = &turn.run;
        if let Some(ask) = self.asking
            && let Some(inputs) = self.wait(dice, turn, ask)
        {
            return inputs;
        }
        let next = self.next(dice, turn, around);
        if !matches!(next, Next::Hang) {
            self.since = at;
        }
        match next {
            Next::Answer if turn.cancelled && dice.percent(80) => {
                self.answer(run, Stop::Cancelled, dice.percent(50).then(|| "half".to_owned()))
            }
            Next::Answer => {
                let text = self.reply(dice, around);
                // Most tell how full they are with each turn.
                let told = self.talents.usage && !self.forgot && dice.percent(60);
                let used = if told { self.update(run, Update::Used(self.book.used)) } else { Vec::new() };
                used.into_iter().chain(self.answer(run, Stop::EndTurn, Some(text))).collect()
            }
            Next::Silence => self.answer(run, Stop::EndTurn, None),
            Next::Cut => {
                let stop = if dice.percent(50) { Stop::MaxTokens } else { Stop::MaxRequests };
                let text = dice.percent(60).then(|| texts::body(dice));
                self.answer(run, stop, text)
            }
            Next::Refuse => self.answer(run, Stop::Refusal, None),
            Next::Fail => {
                let fault = fault(dice);
                self.fail(run, "its provider failed", fault)
            }
            Next::FailAndDie => {
                let mut failed = self.fail(run, "it broke the protocol", Fault::Lost);
                failed.extend(self.exit(Some("it was ended")));
                failed
            }
            Next::Die => self.die(dice, "it crashed"),
            Next::Say => {
                let long = if dice.percent(10) { 40_000 } else { 10 };
                self.update(run, Update::Text("x".repeat(long)))
            }
            Next::Look => {
                let (id, title) = ("t-1".to_owned(), "look".to_owned());
                self.update(run, Update::ToolCall { id, title, kind: "read".to_owned() })
            }
            Next::Use if self.talents.usage => {
                if !std::mem::take(&mut self.forgot) {
                    self.book.used += dice.below(3_000);
                }
                self.update(run, Update::Used(self.book.used))
            }
            Next::Compact => {
                self.book.used /= 2;
                let said = dice.percent(50) || !self.talents.usage;
                self.update(run, if said { Update::Compacted } else { Update::Used(self.book.used) })
            }
            Next::Ask if dice.percent(15) => self.refused(run),
            Next::Ask => vec![self.ask(dice, run)],
            Next::History => vec![self.history(dice, around)],
            Next::Post => vec![self.post(dice, around)],
            Next::Decline => vec![self.call(Tool::Decline { reason: "not my task".to_owned() })],
            Next::Roster => vec![self.call(Tool::Roster)],
            Next::Use | Next::Hang => Vec::new(),
        }
    }

    fn next(&self, dice: &mut Dice, turn: &InTurn, around: &Around) -> Next {
        match (turn.cancelled, self.forgot && self.talents.usage) {
            (true, _) => cancelled(dice),
            (false, true) if dice.percent(60) => Next::Use,
            (false, _) if self.talents.frail && dice.percent(40) => Next::Die,
            (false, _) if dice.percent(around.fails_percent) => {
                dice.weighed(&[(3, Next::Fail), (1, Next::Die)])
            }
            (false, _) => undisturbed(dice),
        }
    }

    /// While it waits for an answer it mostly does nothing; `None`: it goes on without one.
    fn wait(&mut self, dice: &mut Dice, turn: &InTurn, ask: u64) -> Option<Vec<Input>> {
        let run = turn.run.clone();
        let why = match (turn.cancelled, dice.below(100)) {
            (true, _) => Closed::Stopped,
            (false, 0..10) => Closed::Withdrawn,
            (false, 10..80) => return Some(Vec::new()),
            (false, _) => return None,
        };
        self.asking = None;
        Some(vec![self.event(EventKind::PermissionClosed { run, ask, why })])
    }

    /// It asked what nobody can be asked.
    fn refused(&self, run: &RunId) -> Vec<Input> {
        let (title, option) = ("too large to show".to_owned(), Some("reject".to_owned()));
        self.update(run, Update::PermissionRejected { title, option, why: "it is too large".to_owned() })
    }

    fn ask(&mut self, dice: &mut Dice, run: &RunId) -> Input {
        self.asked += 1;
        self.asking = Some(self.asked);
        let option = |name: &str, kind| Choice { name: name.to_owned(), kind };
        let mut options =
            vec![option("yes", ChoiceKind::AllowOnce), option("always", ChoiceKind::AllowAlways)];
        if dice.percent(80) {
            options.insert(dice.index(2), option("no", ChoiceKind::RejectOnce));
        }
        let kind = if dice.percent(50) { "read" } else { "execute" };
        let path = if dice.percent(50) { INSIDE } else { "/etc/" };
        let touches = Touches { paths: vec![format!("{path}file")], words: Vec::new() };
        let ask = Ask {
            n: self.asked,
            title: "look there".to_owned(),
            kind: kind.to_owned(),
            tool: None,
            details: Vec::new(),
            options,
            touches: Some(touches),
        };
        self.event(EventKind::PermissionAsked { run: run.clone(), ask: Box::new(ask) })
    }

    fn update(&self, run: &RunId, update: Update) -> Vec<Input> {
        vec![self.event(EventKind::Update { run: run.clone(), update })]
    }

    fn call(&self, tool: Tool) -> Input {
        let call = ToolCall { key: self.key.clone(), epoch: self.epoch, tool };
        Input::Request(Request::Tool(Box::new(call)))
    }

    /// A page of the channel or of a thread, from its end or before some message.
    pub(super) fn history(&self, dice: &mut Dice, around: &Around) -> Input {
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

/// Why a turn fails whose process goes on.
fn fault(dice: &mut Dice) -> Fault {
    let kind = dice.weighed(&[(2, Passing::RateLimit), (1, Passing::Overloaded), (1, Passing::Server)]);
    let retry_after_ms =
        dice.weighed(&[(4, None), (2, Some(3_000)), (2, Some(5 * MINUTE)), (1, Some(60 * MINUTE))]);
    dice.weighed(&[(5, Fault::Passing { kind, retry_after_ms }), (3, Fault::Invalid), (2, Fault::Other)])
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
        (8, Next::Ask),
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
