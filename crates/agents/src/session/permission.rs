//! Permissions that the agent asks for: told, and answered when somebody decided.

use delivery::model::RunId;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{Output, Phase, SHORT_CHARS_MAX, Session};
use crate::message::{Ask, Choice, Closed, Detail, EventKind, TOOL_SERVER, Update};
use crate::wire::{self, Call, Permission};

/// Permissions of a turn that wait at once: more than people can look at.
pub(crate) const PENDING_MAX: usize = 16;

/// A permission that waits for an answer.
#[derive(Debug)]
pub(super) struct Pending {
    n: u64,
    /// The request's id, which its answer has.
    id: Box<RawValue>,
    /// Ids of its options, in order.
    options: Vec<String>,
}

impl Session {
    /// Answers one of the options (`None`: cancelled), if the turn of this run still waits for that.
    pub(crate) fn answer(&mut self, run: &RunId, ask: u64, choice: Option<usize>, now: Instant) {
        let Phase::Turn(turn) = &mut self.phase else { return };
        let Some(at) = turn.pending.iter().position(|pending| turn.run == *run && pending.n == ask) else {
            return;
        };
        let pending = turn.pending.remove(at);
        // Its silence so far was ours.
        turn.heard = now;
        let option = choice.and_then(|choice| pending.options.get(choice)).map(String::as_str);
        let line = wire::answer(&pending.id, &wire::permission_answer(option));
        self.outputs.push_back(Output::Line(line));
    }

    pub(super) fn permission_requested(&mut self, id: &RawValue, params: &RawValue) {
        let Some(permission) = wire::permission(params) else {
            let line = wire::refusal(id, wire::INVALID_PARAMS, "not understood");
            self.outputs.push_back(Output::Line(line));
            return;
        };
        if let Some(allow) = self.own_tool(&permission, params) {
            let line = wire::answer(id, &wire::permission_answer(Some(allow)));
            self.outputs.push_back(Output::Line(line));
            return;
        }
        match self.asked(&permission) {
            Ok(ask) => self.wait_for(id, &permission, ask),
            Err(Refusal::Cancelled) => self.say(id, None),
            Err(Refusal::Silently) => self.say(id, permission.reject()),
            Err(Refusal::Because(why)) => {
                self.say(id, permission.reject());
                let title = self.shown(permission.title(&permission.call), SHORT_CHARS_MAX);
                let option = permission.reject().map(|option| self.shown(option, SHORT_CHARS_MAX));
                self.show(Update::PermissionRejected { title, option, why: why.to_owned() });
            }
        }
    }

    /// Keeps what an update tells of a tool call: requests for permission often tell the rest alone. Whether it is the first
    /// that is told of a call.
    pub(super) fn remember_call(&mut self, params: &RawValue) -> bool {
        let Phase::Turn(turn) = &mut self.phase else { return false };
        wire::called(params).is_some_and(|(id, call)| turn.calls.told(id, call))
    }

    /// The agent takes a request back.
    pub(super) fn request_cancelled(&mut self, params: &RawValue) {
        let Phase::Turn(turn) = &mut self.phase else { return };
        let Some(id) = wire::cancelled_request(params) else { return };
        let (gone, rest) =
            std::mem::take(&mut turn.pending).into_iter().partition(|pending| pending.id.get() == id.get());
        turn.pending = rest;
        self.close(gone, Closed::Withdrawn);
    }

    /// The turn is asked to stop: nothing that it asked for is waited for any more.
    pub(super) fn stop_waiting(&mut self) {
        if let Phase::Turn(turn) = &mut self.phase {
            let pending = std::mem::take(&mut turn.pending);
            self.close(pending, Closed::Stopped);
        }
    }

    /// The turn has ended: requests that it left open get an answer all the same.
    pub(super) fn drop_pending(&mut self, pending: Vec<Pending>) {
        for Pending { id, .. } in pending {
            self.say(&id, None);
        }
    }

    fn close(&mut self, gone: Vec<Pending>, why: Closed) {
        let Phase::Turn(turn) = &self.phase else { return };
        let run = turn.run.clone();
        for Pending { n, id, .. } in gone {
            self.say(&id, None);
            self.tell(EventKind::PermissionClosed { run: run.clone(), ask: n, why });
        }
    }

    /// The option that allows what is asked, if that is one of Highwater's own tools, which nobody needs to be asked
    /// about (6.10).
    fn own_tool<'a>(&self, permission: &'a Permission, params: &RawValue) -> Option<&'a str> {
        let tools = self.tools.as_ref()?;
        let tool = permission.call.tool.as_deref()?;
        let is_own = permission.session == self.native
            && tools.names.iter().any(|name| wire::is_tool_of(tool, TOOL_SERVER, name))
            && wire::tool_server(params).is_none_or(|server| server == TOOL_SERVER);
        permission.allow().filter(|_| is_own)
    }

    /// What people are to be asked, or why they are not.
    fn asked(&mut self, permission: &Permission) -> Result<Ask, Refusal> {
        if permission.session != self.native {
            return Err(Refusal::Silently);
        }
        let Phase::Turn(turn) = &self.phase else { return Err(Refusal::Silently) };
        if turn.stopping.is_some() {
            return Err(Refusal::Cancelled);
        }
        if !turn.written {
            return Err(Refusal::Silently);
        }
        if turn.pending.len() == PENDING_MAX {
            return Err(Refusal::Because("too many of its requests wait already"));
        }
        let call = turn.calls.with(&permission.call_id, permission.call.clone());
        if !call.is_whole() {
            return Err(Refusal::Because("it is too large to be shown whole"));
        }
        if permission.options.is_empty() {
            return Err(Refusal::Because("there is no option to answer with"));
        }
        let details = call.details(&self.secrets);
        let details = details.ok_or(Refusal::Because("what it is about is not understood"))?;
        Ok(self.question(permission, &call, details))
    }

    fn question(&mut self, permission: &Permission, call: &Call, details: Vec<Detail>) -> Ask {
        self.last_ask += 1;
        let options = permission
            .options
            .iter()
            .map(|option| Choice { name: self.shown(&option.name, SHORT_CHARS_MAX), kind: option.kind });
        Ask {
            n: self.last_ask,
            title: self.shown(permission.title(call), SHORT_CHARS_MAX),
            kind: self.shown(call.kind.as_deref().unwrap_or("other"), SHORT_CHARS_MAX),
            tool: call.tool.as_deref().map(|tool| self.shown(tool, SHORT_CHARS_MAX)),
            details,
            options: options.collect(),
            touches: call.touches(),
        }
    }

    fn wait_for(&mut self, id: &RawValue, permission: &Permission, ask: Ask) {
        let Phase::Turn(turn) = &mut self.phase else { return };
        let options = permission.options.iter().map(|option| option.id.clone()).collect();
        turn.pending.push(Pending { n: ask.n, id: id.to_owned(), options });
        let run = turn.run.clone();
        self.tell(EventKind::PermissionAsked { run, ask: Box::new(ask) });
    }

    /// Answers with an option, or cancelled.
    fn say(&mut self, id: &RawValue, option: Option<&str>) {
        let line = wire::answer(id, &wire::permission_answer(option));
        self.outputs.push_back(Output::Line(line));
    }
}

/// Why people are not asked.
enum Refusal {
    /// The turn is stopping.
    Cancelled,
    /// Of no turn of ours: there is nobody to tell.
    Silently,
    /// For this reason, which they are told.
    Because(&'static str),
}
