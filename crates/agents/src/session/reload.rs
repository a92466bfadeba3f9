//! Reloading a saved session (6.6): `session/resume` where the agent's list has it, else `session/load`.
//!
//! What cannot be shown to have been restored was not. A load shows it by what it replays; a resume replays nothing, so
//! there the agent's own list of sessions has to name it, or its context has to be as full as it was. All that is
//! replayed is swallowed. A process reloads one session in its life, and is ended when that fails.

use std::time::Duration;

use agent_client_protocol_schema::v1 as schema;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::replay::{Replay, Verdict};
use super::start::Asked;
use super::turn::seconds;
use super::{Output, Phase, SHORT_CHARS_MAX, Session};
use crate::message::{Begun, EventKind, Reload};
use crate::wire::{self, Failed, ModelSetting};

/// How long nothing more of a replay has come when it is over, where its end is not recognised.
const QUIET: Duration = Duration::from_millis(250);

/// Pages of an agent's list that are looked through: far more than the sessions of one folder.
const LIST_PAGES_MAX: u32 = 20;

/// A context of less than one part in so many of what it was is not the same session's.
const SHRINKS_BY_MAX: u64 = 2;

/// A session that is being reloaded.
#[derive(Debug)]
pub(super) struct Reloading {
    wanted: Reload,
    replay: Replay,
    /// How it is reloaded.
    by: By,
    /// Pages of the list that were read.
    pages: u32,
    /// Whether the agent's list has it.
    listed: bool,
    /// When it is given up, whatever comes.
    until: Instant,
    /// When its replay is taken to be over.
    quiet_at: Instant,
    model: ModelSetting,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Resume,
    Load,
}

impl Reloading {
    pub(super) fn due(&self) -> Instant {
        self.quiet_at.min(self.until)
    }

    /// A turn begins with this prompt.
    pub(super) fn turn(&mut self, prompt: &str) {
        self.replay.turn(prompt);
    }

    /// A message is put into it.
    pub(super) fn steer(&mut self, text: &str) {
        self.replay.steer(text);
    }

    /// Whether the turn's last words were of the replay.
    pub(super) fn goes_on(&self) -> bool {
        self.replay.goes_on()
    }

    /// How the session began again, if that can be said; the error is for people.
    fn proof(&self) -> Result<Begun, String> {
        // No use is what a process tells that has not asked a model yet.
        let (held, holds) = (self.wanted.used, self.replay.used().filter(|holds| *holds > 0));
        // Instructions and tools fill most of a young session: less than it held proves nothing.
        let is_as_full = held.is_some_and(|held| held > 0 && holds >= Some(held));
        if self.replay.any() || is_as_full {
            return Ok(Begun::Restored);
        }
        match (self.by, held.zip(holds)) {
            (By::Resume, Some((held, holds))) if holds < held / SHRINKS_BY_MAX => Err(format!(
                "the agent resumed something else: its context holds {holds} tokens instead of {held}"
            )),
            (By::Resume, _) if self.listed => Ok(Begun::Resumed),
            (By::Resume, _) => {
                Err("the agent said that it resumed the session, and nothing shows that".to_owned())
            }
            (By::Load, _) => {
                Err("the agent said that it loaded the session, and restored nothing".to_owned())
            }
        }
    }
}

impl Session {
    /// Begins to reload a session.
    pub(super) fn reload(&mut self, wanted: Reload, now: Instant) {
        let by = match (self.stored.resume, self.stored.load) {
            (true, _) if self.stored.list => By::Resume,
            (_, true) => By::Load,
            (true, false) => By::Resume,
            (false, false) => {
                self.reload_failed("the agent can neither resume nor load sessions".to_owned());
                return;
            }
        };
        self.native.clone_from(&wanted.native.0);
        let replay = Replay::new(wanted.end.clone(), self.secrets.clone());
        self.reloading = Some(Box::new(Reloading {
            wanted,
            replay,
            by,
            pages: 0,
            listed: false,
            until: now + self.limits.turn,
            quiet_at: now,
            model: ModelSetting::Absent,
        }));
        match by {
            By::Resume if self.stored.list => self.list(None, now),
            By::Resume => self.resume(now),
            By::Load => self.load(now),
        }
    }

    fn list(&mut self, cursor: Option<&str>, now: Instant) {
        let cwd = self.cwd.clone();
        self.ask(Asked::List, "session/list", &wire::ListSessions { cwd: &cwd, cursor }, now);
    }

    /// A page of the agent's sessions. A list that cannot be read says nothing.
    pub(super) fn listed(&mut self, answer: Result<&RawValue, Failed>, now: Instant) {
        let page = answer.ok().and_then(|raw| wire::listed(raw, &self.native));
        let Some(reloading) = &mut self.reloading else { return };
        reloading.pages += 1;
        let more = reloading.pages < LIST_PAGES_MAX;
        match page {
            Some(page) if page.found => {
                reloading.listed = true;
                self.resume(now);
            }
            Some(wire::Listed { next: Some(next), .. }) if more => self.list(Some(&next), now),
            Some(_) | None if self.stored.load => {
                reloading.by = By::Load;
                self.load(now);
            }
            Some(_) | None => self.resume(now),
        }
    }

    fn resume(&mut self, now: Instant) {
        let params = schema::ResumeSessionRequest::new(self.native.clone(), self.cwd.clone())
            .mcp_servers(self.tool_servers())
            .system_prompt(self.true_system_prompt())
            .meta(self.meta());
        self.ask(Asked::Resume, "session/resume", &params, now);
    }

    fn load(&mut self, now: Instant) {
        let params = schema::LoadSessionRequest::new(self.native.clone(), self.cwd.clone())
            .mcp_servers(self.tool_servers())
            .system_prompt(self.true_system_prompt())
            .meta(self.meta());
        self.ask(Asked::Load, "session/load", &params, now);
    }

    /// The answer to a resume or load. One without an id is about the session that was asked for.
    pub(super) fn reloaded(&mut self, answer: Result<&RawValue, Failed>, now: Instant) {
        let Some(reloading) = &mut self.reloading else { return };
        let name = match reloading.by {
            By::Resume => Asked::Resume.name(),
            By::Load => Asked::Load.name(),
        };
        let opened = match answer.map(|raw| (raw, wire::opened(raw))) {
            Ok((_, Some(opened))) => opened,
            Ok((raw, None)) => {
                let raw = self.shown(raw.get(), SHORT_CHARS_MAX);
                self.reload_failed(format!("the agent's answer to {name} is not understood: {raw}"));
                return;
            }
            Err(error) => {
                let error = self.shown(&error.text, SHORT_CHARS_MAX);
                self.reload_failed(format!("the agent answered {name} with an error: {error}"));
                return;
            }
        };
        if opened.native.is_some_and(|native| native != self.native) {
            self.reload_failed("the agent reloaded another session than it was asked for".to_owned());
            return;
        }
        reloading.model = opened.model;
        reloading.quiet_at = now + QUIET;
        reloading.until = now + self.limits.start;
        let ended = reloading.replay.ended();
        self.phase = Phase::Draining;
        if ended {
            self.drained(now);
        }
    }

    /// The replay is over, or does not end.
    pub(super) fn drained(&mut self, now: Instant) {
        let Some(reloading) = &self.reloading else { return };
        let proof = if now < reloading.quiet_at && !reloading.replay.ended() {
            Err(format!("its history did not end within {}", seconds(self.limits.start)))
        } else {
            reloading.proof()
        };
        let model = reloading.model;
        // A history that is known to be over, and one of which nothing came, cannot go on in the next turn.
        let is_over = reloading.replay.ended() || !reloading.replay.any();
        match proof {
            Ok(begun) => self.started.begun = begun,
            Err(doubt) => {
                self.reload_failed(doubt);
                return;
            }
        }
        if is_over {
            self.reloading = None;
        }
        self.set_model(model, now);
    }

    /// Whether an update is of the history that is replayed. Its news push the end of the replay away.
    pub(super) fn is_replayed(&mut self, params: &RawValue, now: Instant) -> bool {
        let Some(reloading) = &mut self.reloading else { return false };
        let piece = wire::replayed(params);
        match &mut self.phase {
            Phase::Turn(_) => {
                let verdict = reloading.replay.take_in_turn(&piece);
                if reloading.replay.ended() {
                    self.reloading = None;
                }
                match verdict {
                    Verdict::Own => return false,
                    Verdict::Old => {}
                    Verdict::OldAndBefore => self.forget_answer(),
                }
            }
            Phase::Asked { until, .. } => {
                reloading.replay.take(&piece);
                *until = reloading.until.min(now + self.limits.start);
            }
            Phase::Draining => {
                reloading.replay.take(&piece);
                reloading.quiet_at = now + QUIET;
                if reloading.replay.ended() {
                    self.drained(now);
                }
            }
            Phase::Idle | Phase::Over => reloading.replay.take(&piece),
        }
        true
    }

    /// The session has to begin anew, with another process: this one may hold half of it.
    fn reload_failed(&mut self, reason: String) {
        self.phase = Phase::Over;
        self.tell(EventKind::ReloadFailed { reason: reason.clone() });
        self.outputs.push_back(Output::Unfit(reason));
    }
}
