//! The turn in flight: its text, its limits and how it ends.

use std::time::Duration;

use agent_client_protocol_schema::v1 as schema;
use delivery::answer::{ANSWER_BYTES_MAX, Answer};
use delivery::model::{MessageId, RunId};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::permission::Pending;
use super::{Output, Phase, SHORT_CHARS_MAX, Session};
use crate::fault::Fault;
use crate::message::{EventKind, Stop, TimeLimits, Turn, Update};
use crate::redact::Stream;
use crate::wire::{self, Calls, Failed, Halves, Joiner};

/// A prompt that waits for its answer.
#[derive(Debug)]
pub(super) struct InFlight {
    pub(super) id: u64,
    pub(super) run: RunId,
    /// Whether the prompt was handed to the agent: before that it can answer nothing.
    pub(super) written: bool,
    began: Instant,
    pub(super) heard: Instant,
    /// Why and since when it is asked to stop.
    pub(super) stopping: Option<(Why, Instant)>,
    answer: Answer,
    /// The message that the last piece was of, where the agent tells that.
    message: Option<String>,
    joiner: Joiner,
    stream: Stream,
    /// Bytes of text told as updates.
    told_bytes: usize,
    /// Permissions that wait for an answer.
    pub(super) pending: Vec<Pending>,
    /// Tool calls that were told of.
    pub(super) calls: Calls,
    /// Messages that were put into it, by the request that did, until that is answered.
    pub(super) steers: Vec<(u64, MessageId)>,
}

/// Why a turn is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Cancelled,
    Inactivity,
    Limit,
}

impl Why {
    /// Why a turn failed that stopped when asked to.
    fn reason(self, limits: &TimeLimits) -> String {
        match self {
            Self::Cancelled => "cancelled".to_owned(),
            Self::Inactivity => {
                format!(
                    "the agent gave no sign of life for {}; its turn was cancelled",
                    seconds(limits.inactivity)
                )
            }
            Self::Limit => {
                format!("the turn took longer than {} and was cancelled", seconds(limits.turn))
            }
        }
    }

    /// Why a turn failed that did not.
    pub(super) fn reason_unanswered(self, limits: &TimeLimits) -> String {
        format!(
            "{}; the agent did not stop within {} and was ended",
            self.reason(limits),
            seconds(limits.grace)
        )
    }
}

/// A duration in words.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

impl InFlight {
    pub(super) fn new(id: u64, run: RunId, stream: Stream, now: Instant) -> Self {
        Self {
            id,
            run,
            written: false,
            began: now,
            heard: now,
            stopping: None,
            answer: Answer::default(),
            message: None,
            joiner: Joiner::default(),
            stream,
            told_bytes: 0,
            pending: Vec::new(),
            calls: Calls::default(),
            steers: Vec::new(),
        }
    }

    /// What was held back of a text that is complete.
    fn rest(&mut self) -> String {
        let half = self.joiner.flush().map(String::from).unwrap_or_default();
        self.stream.push(&half) + &self.stream.flush()
    }

    /// Whether a piece of `message` begins another message than the last piece was of.
    fn turns_to(&mut self, message: Option<&str>) -> bool {
        let Some(message) = message else { return false };
        let before = self.message.replace(message.to_owned());
        before.is_some_and(|before| before != message)
    }

    /// When it is next due, and for what.
    pub(super) fn due(&self, limits: &TimeLimits) -> (Instant, Why) {
        if let Some((why, since)) = self.stopping {
            return (since + limits.grace, why);
        }
        let (silent, over) = (self.heard + limits.inactivity, self.began + limits.turn);
        // Who waits for people may be silent (6.9).
        if silent < over && self.pending.is_empty() { (silent, Why::Inactivity) } else { (over, Why::Limit) }
    }
}

impl Session {
    /// Asks the agent to stop the turn in flight.
    pub(super) fn stop(&mut self, why: Why, now: Instant) {
        if let Phase::Turn(turn) = &mut self.phase {
            turn.stopping = Some((why, now));
            let params = schema::CancelNotification::new(self.native.clone());
            self.outputs.push_back(Output::Line(wire::notification("session/cancel", &params)));
            self.stop_waiting();
        }
    }

    /// What was said so far was not of this turn.
    pub(super) fn forget_answer(&mut self) {
        if let Phase::Turn(turn) = &mut self.phase {
            turn.answer = Answer::default();
            turn.joiner = Joiner::default();
            turn.stream = self.secrets.stream();
        }
    }

    /// A piece of the answer, from a line with these halves. Two messages are two paragraphs.
    pub(super) fn text(&mut self, piece: &str, halves: Halves, message: Option<&str>) {
        if let Phase::Turn(turn) = &mut self.phase
            && turn.turns_to(message)
        {
            let rest = turn.rest();
            self.tell_text(rest);
            if let Phase::Turn(turn) = &self.phase
                && turn.answer.has_begun()
            {
                self.tell_text("\n\n".to_owned());
            }
        }
        if let Phase::Turn(turn) = &mut self.phase {
            let shown = turn.stream.push(&turn.joiner.push(piece, halves));
            self.tell_text(shown);
        }
    }

    /// A tool call: the text before it is complete.
    pub(super) fn tool_call(&mut self) {
        if let Phase::Turn(turn) = &mut self.phase {
            let rest = turn.rest();
            if !rest.is_empty() {
                self.tell_text(rest);
            }
        }
        if let Phase::Turn(turn) = &mut self.phase {
            turn.answer.tool_call();
        }
    }

    /// Takes a redacted piece into the answer and tells it. Past what an answer keeps, the piece is told as a sign
    /// of life alone: a flood of text must not fill the queue of events.
    fn tell_text(&mut self, piece: String) {
        let Phase::Turn(turn) = &mut self.phase else { return };
        turn.answer.text(&piece);
        turn.told_bytes = turn.told_bytes.saturating_add(piece.len());
        // What may yet turn out to be of an old answer is not shown.
        let held = self.reloading.is_some();
        let update = if piece.is_empty() || held || turn.told_bytes > ANSWER_BYTES_MAX {
            Update::Other
        } else {
            Update::Text(piece)
        };
        self.show(update);
    }

    /// The agent answered the prompt; the session is idle by now.
    pub(super) fn turn_answered(&mut self, mut turn: InFlight, answer: Result<&RawValue, Failed>) {
        self.drop_pending(std::mem::take(&mut turn.pending));
        let rest = turn.rest();
        let run = turn.run;
        if self.reloading.take().is_some_and(|reloading| reloading.goes_on()) {
            let reason = "the agent told its earlier messages again instead of answering".to_owned();
            self.tell(EventKind::TurnFailed { run, reason: reason.clone(), fault: Fault::Lost });
            self.unfit(reason);
            return;
        }
        if !rest.is_empty() {
            turn.answer.text(&rest);
            self.tell(EventKind::Update { run: run.clone(), update: Update::Text(rest) });
        }
        let text = turn.answer.final_text();
        let why = turn.stopping.map(|(why, _)| why);
        let kind = match (why, answer) {
            (Some(why @ (Why::Inactivity | Why::Limit)), _) => {
                EventKind::TurnFailed { run, reason: why.reason(&self.limits), fault: Fault::Other }
            }
            (Some(Why::Cancelled), Err(_)) => {
                EventKind::TurnEnded { run, turn: Turn { stop: Stop::Cancelled, text, usage: None } }
            }
            (None, Err(error)) => {
                let text = self.shown(&error.text, SHORT_CHARS_MAX);
                let reason = format!("the agent answered with an error: {text}");
                EventKind::TurnFailed { run, reason, fault: error.fault }
            }
            (Some(Why::Cancelled) | None, Ok(raw)) => match wire::turn(raw) {
                Some(turn) => EventKind::TurnEnded { run, turn: Turn { text, ..turn } },
                None => {
                    let raw = self.shown(raw.get(), SHORT_CHARS_MAX);
                    EventKind::TurnFailed {
                        run,
                        reason: format!("the agent's answer is not understood: {raw}"),
                        fault: Fault::Other,
                    }
                }
            },
        };
        self.tell(kind);
    }
}
