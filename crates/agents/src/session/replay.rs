//! A session's replayed history: what of it came, whether all of it did, and what of a turn is still of it.

use crate::message::HistoryEnd;
use crate::redact::Secrets;
use crate::wire::Replayed;

/// Bytes of the newest answer that are kept to recognise its end.
const ANSWER_BYTES: usize = 4 * 1024;

/// Bytes of an answer's end that say for certain that it is the old one, when it comes in the middle of a turn:
/// "done" may be a new answer, too.
const CERTAIN_BYTES: usize = 24;

/// What was replayed of a session, from the request that reloads it to the end of its first turn.
#[derive(Debug)]
pub(super) struct Replay {
    end: Option<HistoryEnd>,
    secrets: Secrets,
    /// Messages, tool calls and other things that happened.
    acts: u64,
    used: Option<u64>,
    /// Whose piece came last.
    last: Last,
    /// The end of the newest prompt, as far as its mark may begin in it.
    prompt: String,
    /// Whether the newest prompt has the mark of the history's newest.
    marked: bool,
    /// The end of the newest answer.
    answer: String,
    /// Whether all of it came.
    ended: bool,
    turn: Option<Turn>,
}

/// Whose piece it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    User,
    Agent,
}

/// The turn in which the rest of a replay may stand.
#[derive(Debug)]
struct Turn {
    prompt: String,
    /// What was put into it since (2.6).
    steers: Vec<String>,
    /// Bytes of the prompt that were echoed by the newest user message.
    echoed: usize,
    /// Whether what comes is still of the replay.
    old: bool,
}

/// What to do with an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is of the turn.
    Own,
    /// It is of the replay.
    Old,
    /// It is of the replay, and so is all that the turn said so far.
    OldAndBefore,
}

impl Replay {
    pub(super) fn new(end: Option<HistoryEnd>, secrets: Secrets) -> Self {
        Self {
            end,
            secrets,
            acts: 0,
            used: None,
            last: Last::Agent,
            prompt: String::new(),
            marked: false,
            answer: String::new(),
            ended: false,
            turn: None,
        }
    }

    /// Whether anything of a history came.
    pub(super) fn any(&self) -> bool {
        self.acts > 0
    }

    /// How full the agent said that the context is, if it did.
    pub(super) fn used(&self) -> Option<u64> {
        self.used
    }

    /// Whether the whole history came: its newest prompt and the end of the answer to it.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// A turn begins with this prompt.
    pub(super) fn turn(&mut self, prompt: &str) {
        self.turn = Some(Turn { prompt: prompt.to_owned(), steers: Vec::new(), echoed: 0, old: false });
    }

    /// A message is put into the turn.
    pub(super) fn steer(&mut self, text: &str) {
        if let Some(turn) = &mut self.turn {
            turn.steers.push(text.to_owned());
        }
    }

    /// Whether what came last in the turn was of the replay.
    pub(super) fn goes_on(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.old)
    }

    /// Takes a piece in that came before the first turn.
    pub(super) fn take(&mut self, piece: &Replayed) {
        match piece {
            Replayed::User(text) => self.prompted(text),
            Replayed::Agent(text) => self.answered(text),
            Replayed::Act => self.last = Last::Agent,
            Replayed::Used(used) => {
                self.used = Some(*used);
                return;
            }
            Replayed::Other => return,
        }
        self.acts += 1;
    }

    /// Takes a piece in that came in the first turn, and says whose it is.
    pub(super) fn take_in_turn(&mut self, piece: &Replayed) -> Verdict {
        let was_old = self.goes_on();
        match piece {
            Replayed::User(text) => {
                let echo = self.is_echo(text);
                self.set_old(!echo);
            }
            Replayed::Agent(_) | Replayed::Act | Replayed::Used(_) | Replayed::Other => {}
        }
        let expected = self.marked && !self.ended && self.is_certain();
        self.take(piece);
        let is_end = self.ended && (was_old || expected);
        if is_end {
            self.set_old(false);
        }
        match (was_old, self.goes_on() || is_end) {
            (true, true) => Verdict::Old,
            (false, true) => Verdict::OldAndBefore,
            (true | false, false) => Verdict::Own,
        }
    }

    fn set_old(&mut self, old: bool) {
        if let Some(turn) = &mut self.turn {
            turn.old = old;
        }
    }

    /// Whether a piece of a user message repeats the turn's own prompt, or what it was steered by, as some agents do.
    fn is_echo(&mut self, text: &str) -> bool {
        let goes_on = self.last == Last::User;
        let Some(turn) = &mut self.turn else { return false };
        let from = if goes_on { turn.echoed } else { 0 };
        let rest = turn.prompt.get(from..).and_then(|rest| rest.trim_start().strip_prefix(text.trim()));
        turn.echoed = rest.map_or(0, |rest| turn.prompt.len() - rest.len());
        rest.is_some() || turn.steers.iter().any(|steer| steer.contains(text.trim()))
    }

    fn prompted(&mut self, text: &str) {
        if self.last == Last::Agent {
            self.last = Last::User;
            (self.marked, self.ended) = (false, false);
            self.prompt.clear();
        }
        self.answer.clear();
        let Some(end) = &self.end else { return };
        self.prompt.push_str(text);
        self.marked |= self.prompt.contains(&end.prompt);
        keep_end(&mut self.prompt, end.prompt.len());
    }

    fn answered(&mut self, text: &str) {
        self.last = Last::Agent;
        let Some(end) = self.end.as_ref().filter(|_| self.marked) else { return };
        self.answer.push_str(text);
        keep_end(&mut self.answer, ANSWER_BYTES);
        self.ended = self.secrets.redact(&self.answer).trim_end().ends_with(end.reply.trim_end());
    }

    /// Whether the end of the history's last answer is long enough to be told from another answer.
    fn is_certain(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.reply.trim_end().len() >= CERTAIN_BYTES)
    }
}

/// Cuts a text to about its last `bytes`.
fn keep_end(text: &mut String, bytes: usize) {
    let over = text.len().saturating_sub(bytes);
    text.drain(..text.floor_char_boundary(over));
}
