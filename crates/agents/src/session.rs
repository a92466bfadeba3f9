//! The conversation with one agent as a state machine without I/O: lines, orders and time in, lines and events out.
//!
//! One session, at most one prompt in flight. An answer counts only for the request that waits for it and only
//! once that was written: late, repeated and invented ones change nothing.

use std::collections::VecDeque;
use std::path::PathBuf;

use agent_client_protocol_schema::v1 as schema;
use delivery::model::{NativeId, RunId};
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::fault::Fault;
use crate::message::{Begun, EventKind, Manner, Reload, Spec, Started, TimeLimits, ToolServer, Update};
use crate::redact::Secrets;
use crate::wire::{self, Failed, Halves, Incoming, McpOver, Stored};

mod permission;
mod proof;
mod reload;
mod replay;
mod start;
mod steer;
#[cfg(test)]
mod tests;
mod turn;

pub(crate) use permission::PENDING_MAX;
use reload::Reloading;
use start::Asked;
pub use steer::STEERS_MAX;
use turn::{InFlight, Why};

/// Lines in a row that are not the protocol before the agent is given up: a few are warnings of a package
/// manager or a start script, more is a program that does not speak it.
const FOREIGN_LINES_MAX: u32 = 200;

/// Bytes that an idle agent may write before it is given up: news of commands and modes are far less.
const IDLE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes of a history that are read when it is replayed, with all that its tools told; more is no history.
const REPLAY_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// Characters of a title, an id or a message of an error shown.
const SHORT_CHARS_MAX: usize = 500;

/// Characters of a plan shown.
const PLAN_CHARS_MAX: usize = 8_000;

/// What is to be done.
#[derive(Debug, PartialEq)]
pub(crate) enum Output {
    /// Write this line.
    Line(Vec<u8>),
    /// Write this prompt and tell when it was ([`Session::written`]).
    Prompt {
        /// The line.
        line: Vec<u8>,
        /// Its run.
        run: RunId,
    },
    /// Tell this.
    Event(EventKind),
    /// End the process: it cannot be talked with, for this reason.
    Unfit(String),
}

/// The conversation.
#[derive(Debug)]
pub(crate) struct Session {
    phase: Phase,
    /// A prompt that waits for a sign of life.
    held: Option<(RunId, String)>,
    cwd: PathBuf,
    system_prompt: Option<String>,
    model: Option<String>,
    manner: Manner,
    tools: Option<ToolServer>,
    mcp: McpOver,
    stored: Stored,
    limits: TimeLimits,
    secrets: Secrets,
    /// The session to reload, until that is begun.
    reload: Option<Reload>,
    /// The session that is reloaded, until its first turn has ended or its history is known to have come.
    reloading: Option<Box<Reloading>>,
    native: String,
    started: Started,
    /// Number of the last request; they are never used twice.
    last_id: u64,
    /// Number of the last permission that was asked for.
    last_ask: u64,
    /// Lines since the last message that were none.
    foreign_lines: u32,
    /// Bytes heard since the last turn.
    idle_bytes: usize,
    outputs: VecDeque<Output>,
}

#[derive(Debug)]
enum Phase {
    /// A request of the start waits for its answer.
    Asked { asked: Asked, id: u64, until: Instant },
    /// A session was reloaded; the rest of its replay may come.
    Draining,
    /// The session waits for a prompt.
    Idle,
    /// A prompt waits for its answer.
    Turn(Box<InFlight>),
    /// Nothing more is said or heard.
    Over,
}

impl Session {
    /// Begins with `initialize`. `pid` and `notices` are told with [`EventKind::Started`].
    pub(crate) fn new(spec: &Spec, pid: u32, notices: Vec<String>, now: Instant) -> Self {
        let mut session = Self {
            phase: Phase::Over,
            held: None,
            cwd: spec.cwd.clone(),
            system_prompt: spec.system_prompt.clone(),
            model: spec.model.clone(),
            manner: spec.manner.clone(),
            tools: spec.tools.clone(),
            mcp: McpOver::Stdio,
            stored: Stored::default(),
            limits: spec.limits,
            secrets: spec.secrets.clone(),
            reload: spec.reload.clone(),
            reloading: None,
            native: String::new(),
            started: Started {
                native: NativeId(String::new()),
                begun: Begun::New,
                reloadable: false,
                system_prompt: false,
                steering: false,
                pid,
                notices,
            },
            last_id: 0,
            last_ask: 0,
            foreign_lines: 0,
            idle_bytes: 0,
            outputs: VecDeque::new(),
        };
        session.initialize(now);
        session
    }

    /// What is to be done next.
    pub(crate) fn next_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When [`Self::handle_timeout`] is to be called.
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Asked { until, .. } => Some(*until),
            Phase::Draining => self.reloading.as_ref().map(|reloading| reloading.due()),
            Phase::Turn(turn) => Some(turn.due(&self.limits).0),
            Phase::Idle | Phase::Over => None,
        }
    }

    /// Time went on. Called too early it does nothing.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.next_timeout().is_none_or(|due| now < due) {
            return;
        }
        match &mut self.phase {
            Phase::Asked { asked: Asked::Alive, .. } => {
                let reason = self.no_proof();
                self.unfit(reason);
            }
            Phase::Asked { asked, .. } => {
                let reason = format!(
                    "the agent did not answer {} within {}",
                    asked.name(),
                    turn::seconds(self.limits.start)
                );
                self.unfit(reason);
            }
            Phase::Draining => self.drained(now),
            Phase::Turn(turn) => {
                let why = turn.due(&self.limits).1;
                match turn.stopping {
                    None => self.stop(why, now),
                    Some((asked_for, _)) => {
                        let reason = asked_for.reason_unanswered(&self.limits);
                        self.unfit(reason);
                    }
                }
            }
            Phase::Idle | Phase::Over => {}
        }
    }

    /// Nothing was read for a while although there may have been something: the agent is not to blame.
    pub(crate) fn excuse_silence(&mut self, now: Instant) {
        if let Phase::Turn(turn) = &mut self.phase {
            turn.heard = now;
        }
    }

    /// Sends a prompt.
    pub(crate) fn prompt(&mut self, run: RunId, text: &str, now: Instant) {
        let reason = match &self.phase {
            Phase::Idle => {
                let prompt = vec![schema::ContentBlock::from(text)];
                let params = schema::PromptRequest::new(self.native.clone(), prompt);
                let id = self.next_id();
                let line = wire::request(id, "session/prompt", &params);
                if let Some(reloading) = &mut self.reloading {
                    reloading.turn(text);
                }
                let turn = InFlight::new(id, run.clone(), self.secrets.stream(), now);
                self.phase = Phase::Turn(Box::new(turn));
                self.idle_bytes = 0;
                self.outputs.push_back(Output::Prompt { line, run });
                return;
            }
            // Its end answers the prompt, which was not written.
            Phase::Over => return,
            Phase::Asked { asked: Asked::Alive, .. } if self.held.is_none() => {
                self.held = Some((run, text.to_owned()));
                return;
            }
            Phase::Turn(_) => "another turn of this agent is in flight",
            Phase::Asked { .. } | Phase::Draining => "the agent's session has not begun",
        };
        self.tell(EventKind::TurnFailed { run, reason: reason.to_owned(), fault: Fault::Other });
    }

    /// The prompt of this run was handed to the agent.
    pub(crate) fn written(&mut self, run: RunId) {
        if let Phase::Turn(turn) = &mut self.phase
            && turn.run == run
        {
            turn.written = true;
            self.tell(EventKind::PromptWritten { run });
        }
    }

    /// Cancels the turn of this run, if it is the one in flight.
    pub(crate) fn cancel(&mut self, run: &RunId, now: Instant) {
        if let Phase::Turn(turn) = &mut self.phase
            && turn.run == *run
            && turn.stopping.is_none()
        {
            self.stop(Why::Cancelled, now);
        }
        self.cancel_held(run);
    }

    /// The agent is lost or let go: a turn in flight, or the reload of a session, has failed for this reason, and
    /// nothing more is said.
    pub(crate) fn lost(&mut self, reason: &str) {
        let reason = reason.to_owned();
        match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Turn(turn) => {
                self.tell(EventKind::TurnFailed { run: turn.run, reason, fault: Fault::Lost });
            }
            Phase::Asked { asked, .. } if asked.reloads() => self.tell(EventKind::ReloadFailed { reason }),
            Phase::Draining => self.tell(EventKind::ReloadFailed { reason }),
            Phase::Asked { .. } | Phase::Idle | Phase::Over => {}
        }
    }

    /// The agent broke the transport, for instance by an endless line.
    pub(crate) fn broken(&mut self, what: &str) {
        self.unfit(what.to_owned());
    }

    /// A line of the agent's.
    pub(crate) fn handle_line(&mut self, line: &str, now: Instant) {
        if matches!(self.phase, Phase::Over) || line.trim().is_empty() {
            return;
        }
        let mended = wire::mended(line);
        let Some(incoming) = wire::read(&mended.line) else {
            self.foreign(line);
            return;
        };
        self.foreign_lines = 0;
        if let Phase::Turn(turn) = &mut self.phase {
            turn.heard = now;
        } else if self.idles_too_loudly(line) {
            return;
        }
        match incoming {
            Incoming::Answer { id, answer } => self.answered(id, answer, now),
            Incoming::Request { id, method, params } => self.requested(id, &method, params),
            Incoming::Notification { method, params } => match &*method {
                "session/update" => self.updated(params, mended.halves, now),
                "$/cancel_request" => self.request_cancelled(params),
                _ => {}
            },
        }
    }

    /// A turn has limits of time; between turns there are none, so what is written is counted.
    fn idles_too_loudly(&mut self, line: &str) -> bool {
        self.idle_bytes += line.len();
        let (bytes_max, told) = match &self.phase {
            Phase::Asked { asked, .. } if asked.reloads() => {
                (REPLAY_BYTES_MAX, "a history of more than 1 GiB")
            }
            Phase::Draining => (REPLAY_BYTES_MAX, "a history of more than 1 GiB"),
            Phase::Asked { .. } | Phase::Idle | Phase::Turn(_) | Phase::Over => {
                (IDLE_BYTES_MAX, "more than 16 MiB without being asked")
            }
        };
        let too_loud = self.idle_bytes > bytes_max;
        if too_loud {
            self.unfit(format!("the agent wrote {told}"));
        }
        too_loud
    }

    fn foreign(&mut self, line: &str) {
        self.foreign_lines += 1;
        tracing::debug!(lines = self.foreign_lines, "an agent wrote a line that is not the protocol");
        if self.foreign_lines > FOREIGN_LINES_MAX {
            let line = self.shown(line, SHORT_CHARS_MAX);
            let reason = format!(
                "the agent does not speak the Agent Client Protocol: {FOREIGN_LINES_MAX} lines in a row are not it, \
                 the last: {line}"
            );
            self.unfit(reason);
        }
    }

    fn answered(&mut self, id: u64, answer: Result<&RawValue, Failed>, now: Instant) {
        match &mut self.phase {
            Phase::Asked { asked, id: waiting, .. } if *waiting == id => match *asked {
                Asked::Initialize => self.initialized(answer, now),
                Asked::NewSession => self.opened(answer, now),
                Asked::List => self.listed(answer, now),
                Asked::Resume | Asked::Load => self.reloaded(answer, now),
                Asked::Model => self.model_set(answer, now),
                Asked::Mode => self.mode_set(answer, now),
                Asked::Title => self.title_set(answer),
                Asked::Alive => self.proved(now),
            },
            Phase::Turn(turn) if turn.id == id && turn.written => {
                if let Phase::Turn(turn) = std::mem::replace(&mut self.phase, Phase::Idle) {
                    self.turn_answered(*turn, answer);
                }
            }
            Phase::Turn(turn) if turn.steers.iter().any(|(waiting, _)| *waiting == id) => {
                self.steered(id, answer);
            }
            Phase::Asked { .. } | Phase::Draining | Phase::Turn(_) | Phase::Idle | Phase::Over => {
                tracing::debug!(id, "an agent answered a request that waits for nothing");
            }
        }
    }

    fn requested(&mut self, id: &RawValue, method: &str, params: &RawValue) {
        match method {
            "session/request_permission" => self.permission_requested(id, params),
            _ => {
                let line = wire::refusal(id, wire::METHOD_NOT_FOUND, "method not found");
                self.outputs.push_back(Output::Line(line));
            }
        }
    }

    fn updated(&mut self, params: &RawValue, halves: Halves, now: Instant) {
        let Some((session, update)) = wire::update(params) else { return };
        if session != self.native || self.is_replayed(params, now) {
            return;
        }
        let is_first = self.remember_call(params);
        let update = match update {
            Update::Text(piece) => {
                self.text(&piece, halves, wire::message_id(params).as_deref());
                return;
            }
            Update::ToolCall { id, title, kind } => {
                self.tool_call();
                Update::ToolCall {
                    id: self.shown(&id, SHORT_CHARS_MAX),
                    title: self.shown(&title, SHORT_CHARS_MAX),
                    kind: self.shown(&kind, SHORT_CHARS_MAX),
                }
            }
            Update::ToolUpdate { id, status, title } => {
                // Some agents tell of a call only once it was permitted.
                if is_first {
                    self.tool_call();
                }
                Update::ToolUpdate {
                    id: self.shown(&id, SHORT_CHARS_MAX),
                    status: status.map(|status| self.shown(&status, SHORT_CHARS_MAX)),
                    title: title.map(|title| self.shown(&title, SHORT_CHARS_MAX)),
                }
            }
            Update::Plan(plan) => Update::Plan(self.shown(&plan, PLAN_CHARS_MAX)),
            update @ (Update::Used(_)
            | Update::Cost(_)
            | Update::Compacted
            | Update::Notice(_)
            | Update::PermissionRejected { .. }
            | Update::Other) => update,
        };
        self.show(update);
        if let Some(cost) = wire::cost(params) {
            self.show(Update::Cost(cost));
        }
    }

    /// Tells an update of the turn in flight; between turns there is nobody to tell.
    fn show(&mut self, update: Update) {
        if let Phase::Turn(turn) = &self.phase {
            let run = turn.run.clone();
            self.tell(EventKind::Update { run, update });
        }
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn tell(&mut self, kind: EventKind) {
        self.outputs.push_back(Output::Event(kind));
    }

    fn unfit(&mut self, reason: String) {
        self.lost(&reason);
        self.outputs.push_back(Output::Unfit(reason));
    }

    /// Text of the agent's as people may see it: redacted, then cut.
    fn shown(&self, text: &str, chars_max: usize) -> String {
        let text = self.secrets.redact(text);
        match text.char_indices().nth(chars_max) {
            Some((at, _)) => format!("{}…", &text[..at]),
            None => text,
        }
    }
}
