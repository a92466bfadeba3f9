//! Permission requests: what is asked, and what may be answered.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Call;
use crate::message::ChoiceKind;

/// Options of a request at most: a card has to show them all.
const OPTIONS_MAX: usize = 16;

/// Bytes of an option's id at most.
const OPTION_ID_BYTES_MAX: usize = 1024;

/// Bytes of an option's name at most.
const OPTION_NAME_BYTES_MAX: usize = 4096;

/// A permission that was asked for.
#[derive(Debug)]
pub(crate) struct Permission {
    /// Session.
    pub(crate) session: String,
    /// Id of the tool call that it is for.
    pub(crate) call_id: String,
    /// What the request itself tells of the call.
    pub(crate) call: Call,
    /// What may be answered: ids differ from each other.
    pub(crate) options: Vec<PermissionOption>,
}

/// What may be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PermissionOption {
    /// The agent's id for it.
    pub(crate) id: String,
    /// The agent's words for it.
    pub(crate) name: String,
    /// What it means.
    pub(crate) kind: ChoiceKind,
}

impl Permission {
    /// What it is for: in the request's words, else in those told of the call before.
    pub(crate) fn title<'a>(&'a self, call: &'a Call) -> &'a str {
        call.title.as_deref().or(call.kind.as_deref()).unwrap_or(&self.call_id)
    }

    /// The id of the option that allows, if there is one: for this once before for ever.
    pub(crate) fn allow(&self) -> Option<&str> {
        self.of_kinds(ChoiceKind::AllowOnce, ChoiceKind::AllowAlways)
    }

    /// The id of the option that rejects, if there is one: for this once before for ever.
    pub(crate) fn reject(&self) -> Option<&str> {
        self.of_kinds(ChoiceKind::RejectOnce, ChoiceKind::RejectAlways)
    }

    fn of_kinds(&self, once: ChoiceKind, ever: ChoiceKind) -> Option<&str> {
        let of_kind = |kind| self.options.iter().find(|option| option.kind == kind);
        of_kind(once).or_else(|| of_kind(ever)).map(|option| option.id.as_str())
    }
}

/// Whether an agent means tool `name` of MCP server `server`: agents join the two in their own ways.
pub(crate) fn is_tool_of(tool: &str, server: &str, name: &str) -> bool {
    let joined = |prefix: &str, between: &str| {
        tool.strip_prefix(prefix)
            .and_then(|rest| rest.strip_prefix(server))
            .and_then(|rest| rest.strip_prefix(between))
            .is_some_and(|rest| rest == name)
    };
    joined("mcp__", "__") || joined("mcp_", "_") || joined("", "_")
}

/// The server that Claude's adapter says a call's tool is of, if it says one.
pub(crate) fn tool_server(params: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        tool_call: ToolCall,
    }
    #[derive(Deserialize)]
    struct ToolCall {
        #[serde(rename = "_meta")]
        meta: Option<Meta>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Meta {
        claude_code: Option<ClaudeCode>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ClaudeCode {
        mcp_server: Option<serde_json::Value>,
    }
    let params: Params = serde_json::from_str(params.get()).ok()?;
    let server = params.tool_call.meta?.claude_code?.mcp_server?;
    server.as_str().or_else(|| server.get("name")?.as_str()).map(ToOwned::to_owned)
}

/// Reads the parameters of `session/request_permission`; `None` if they are none, or no answer to them would be clear.
pub(crate) fn permission(params: &RawValue) -> Option<Permission> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        session_id: String,
        #[serde(borrow)]
        tool_call: &'a RawValue,
        options: Vec<Told>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Told {
        option_id: String,
        #[serde(default)]
        name: String,
        kind: String,
    }
    let params: Params<'_> = serde_json::from_str(params.get()).ok()?;
    let (call_id, call) = Call::read(params.tool_call)?;
    let mut options: Vec<PermissionOption> = Vec::new();
    for Told { option_id: id, name, kind } in params.options {
        let fits = id.len() <= OPTION_ID_BYTES_MAX && name.len() <= OPTION_NAME_BYTES_MAX;
        if !fits || options.len() == OPTIONS_MAX || options.iter().any(|option| option.id == id) {
            return None;
        }
        let kind = choice_kind(&kind);
        options.push(PermissionOption { id, name, kind });
    }
    Some(Permission { session: params.session_id, call_id, call, options })
}

/// The id in the parameters of `$/cancel_request`, as it came.
pub(crate) fn cancelled_request(params: &RawValue) -> Option<&RawValue> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        #[serde(borrow)]
        request_id: &'a RawValue,
    }
    Some(serde_json::from_str::<Params<'_>>(params.get()).ok()?.request_id)
}

/// What the parameters of `session/update` tell of a tool call, with the call's id.
pub(crate) fn called(params: &RawValue) -> Option<(String, Call)> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        update: &'a RawValue,
    }
    let params: Params<'_> = serde_json::from_str(params.get()).ok()?;
    Call::read(params.update)
}

fn choice_kind(word: &str) -> ChoiceKind {
    match word {
        "allow_once" => ChoiceKind::AllowOnce,
        "allow_always" => ChoiceKind::AllowAlways,
        "reject_once" => ChoiceKind::RejectOnce,
        "reject_always" => ChoiceKind::RejectAlways,
        _ => ChoiceKind::Other,
    }
}
