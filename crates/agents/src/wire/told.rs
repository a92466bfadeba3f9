//! What an agent tells: its answers, updates and permission requests, read for the fields that are used.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{MODEL_CONFIG_ID, usage};
use crate::message::{Stop, Turn, Update};

/// What the answer to `initialize` tells.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Initialized {
    /// Version of the protocol that the agent speaks.
    pub(crate) version: u64,
    /// Its own version.
    pub(crate) agent: Option<String>,
    /// Whether `session/new` takes a system prompt.
    pub(crate) takes_system_prompt: bool,
    /// How it reaches tool servers.
    pub(crate) mcp: McpOver,
    /// What it can do with sessions that it had before.
    pub(crate) stored: Stored,
    /// Whether a running turn can be steered.
    pub(crate) steering: bool,
    /// Whether a session takes a title.
    pub(crate) titles: bool,
}

/// What an agent can do with sessions of its earlier processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    /// `session/load`: it replays the session's history.
    pub(crate) load: bool,
    /// `session/resume`: it goes on without a replay.
    pub(crate) resume: bool,
    /// `session/list`: it tells which there are.
    pub(crate) list: bool,
}

/// How an agent reaches tool servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum McpOver {
    /// Over streamable HTTP.
    Http,
    /// As programs that it starts, which all agents can.
    Stdio,
}

/// Reads the answer to `initialize`; `None` if it is none.
pub(crate) fn initialized(answer: &RawValue) -> Option<Initialized> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer<'a> {
        protocol_version: u64,
        #[serde(borrow)]
        agent_capabilities: Option<&'a RawValue>,
        #[serde(borrow)]
        agent_info: Option<&'a RawValue>,
        #[serde(borrow, rename = "_meta")]
        meta: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Info {
        version: String,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Capabilities {
        load_session: Option<bool>,
        session_capabilities: Option<SessionCapabilities>,
        mcp_capabilities: Option<McpCapabilities>,
    }
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct McpCapabilities {
        http: bool,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct SessionCapabilities {
        system_prompt: Option<serde::de::IgnoredAny>,
        resume: Option<serde::de::IgnoredAny>,
        list: Option<serde::de::IgnoredAny>,
        title: Option<serde::de::IgnoredAny>,
    }
    let answer: Answer<'_> = serde_json::from_str(answer.get()).ok()?;
    let capabilities: Capabilities =
        answer.agent_capabilities.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let session = capabilities.session_capabilities.unwrap_or_default();
    let stored = Stored {
        load: capabilities.load_session == Some(true),
        resume: session.resume.is_some(),
        list: session.list.is_some(),
    };
    let mcp = match capabilities.mcp_capabilities {
        Some(McpCapabilities { http: true }) => McpOver::Http,
        Some(McpCapabilities { http: false }) | None => McpOver::Stdio,
    };
    let takes_system_prompt = session.system_prompt.is_some();
    let steering = answer.meta.is_some_and(super::steer::is_offered);
    let info: Option<Info> = answer.agent_info.and_then(|raw| serde_json::from_str(raw.get()).ok());
    Some(Initialized {
        version: answer.protocol_version,
        agent: info.map(|info| info.version),
        takes_system_prompt,
        mcp,
        stored,
        steering,
        titles: session.title.is_some(),
    })
}

/// How a session lets its model be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelSetting {
    /// By `session/set_config_option`.
    ConfigOption,
    /// By `session/set_model`.
    SetModel,
    /// Not at all.
    Absent,
}

/// What the answer to `session/new`, `session/load` or `session/resume` tells.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    /// The agent's id of the session; the latter two need not tell it.
    pub(crate) native: Option<String>,
    /// How its model can be set.
    pub(crate) model: ModelSetting,
}

/// Reads the answer to `session/new`, `session/load` or `session/resume`; `None` if it is none. `null` tells nothing.
pub(crate) fn opened(answer: &RawValue) -> Option<Opened> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer<'a> {
        session_id: Option<String>,
        #[serde(borrow)]
        config_options: Option<&'a RawValue>,
        models: Option<serde::de::IgnoredAny>,
    }
    #[derive(Deserialize)]
    struct ConfigOption<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
    }
    let answer: Option<Answer<'_>> = serde_json::from_str(answer.get()).ok()?;
    let Some(answer) = answer else {
        return Some(Opened { native: None, model: ModelSetting::Absent });
    };
    let options: Vec<ConfigOption<'_>> =
        answer.config_options.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let model = if options.iter().any(|option| option.id == MODEL_CONFIG_ID) {
        ModelSetting::ConfigOption
    } else if answer.models.is_some() {
        ModelSetting::SetModel
    } else {
        ModelSetting::Absent
    };
    Some(Opened { native: answer.session_id, model })
}

/// Reads the answer to `session/prompt`, without the text; `None` if it is none. A reason to stop that is not
/// known counts as done.
pub(crate) fn turn(answer: &RawValue) -> Option<Turn> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer<'a> {
        #[serde(borrow)]
        stop_reason: Cow<'a, str>,
        #[serde(borrow)]
        usage: Option<&'a RawValue>,
        #[serde(borrow, rename = "_meta")]
        meta: Option<&'a RawValue>,
    }
    let answer: Answer<'_> = serde_json::from_str(answer.get()).ok()?;
    let stop = match &*answer.stop_reason {
        "cancelled" => Stop::Cancelled,
        "max_tokens" => Stop::MaxTokens,
        "max_turn_requests" => Stop::MaxRequests,
        "refusal" => Stop::Refusal,
        _ => Stop::EndTurn,
    };
    let usage = usage::of_answer(answer.usage, answer.meta);
    Some(Turn { stop, text: None, usage })
}

/// Reads the parameters of `session/update`: the session's id and what is told of it, as it came: neither cut
/// nor redacted.
pub(crate) fn update(params: &RawValue) -> Option<(Cow<'_, str>, Update)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        #[serde(borrow)]
        session_id: Cow<'a, str>,
        #[serde(borrow)]
        update: &'a RawValue,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Kind<'a> {
        #[serde(borrow)]
        session_update: Cow<'a, str>,
    }
    let params: Params<'_> = serde_json::from_str(params.get()).ok()?;
    let raw = params.update.get();
    let kind: Kind<'_> = serde_json::from_str(raw).ok()?;
    let update = match &*kind.session_update {
        "agent_message_chunk" => text_piece(raw),
        "tool_call" => tool_call(raw),
        "tool_call_update" => tool_update(raw),
        "plan" => plan(raw),
        "usage_update" => used(raw),
        "compaction_update" => compaction(raw),
        _ => None,
    };
    Some((params.session_id, update.unwrap_or(Update::Other)))
}

/// The id of the message that the parameters of `session/update` are a piece of, if the agent tells it.
pub(crate) fn message_id(params: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        update: Piece<'a>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Piece<'a> {
        #[serde(borrow)]
        message_id: Option<Cow<'a, str>>,
    }
    serde_json::from_str::<Params<'_>>(params.get()).ok()?.update.message_id
}

fn text_piece(raw: &str) -> Option<Update> {
    #[derive(Deserialize)]
    struct Chunk {
        content: Content,
    }
    #[derive(Deserialize)]
    #[serde(tag = "type", rename_all = "snake_case")]
    enum Content {
        Text {
            text: String,
        },
        #[serde(other)]
        Other,
    }
    match serde_json::from_str::<Chunk>(raw).ok()?.content {
        Content::Text { text } => Some(Update::Text(text)),
        Content::Other => None,
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tool {
    tool_call_id: String,
    title: Option<String>,
    kind: Option<String>,
    status: Option<String>,
}

fn tool_call(raw: &str) -> Option<Update> {
    let tool: Tool = serde_json::from_str(raw).ok()?;
    Some(Update::ToolCall {
        id: tool.tool_call_id,
        title: tool.title.unwrap_or_default(),
        kind: tool.kind.unwrap_or_else(|| "other".to_owned()),
    })
}

fn tool_update(raw: &str) -> Option<Update> {
    let tool: Tool = serde_json::from_str(raw).ok()?;
    Some(Update::ToolUpdate { id: tool.tool_call_id, status: tool.status, title: tool.title })
}

fn plan(raw: &str) -> Option<Update> {
    #[derive(Deserialize)]
    struct Plan<'a> {
        #[serde(borrow)]
        entries: Vec<Entry<'a>>,
    }
    #[derive(Deserialize)]
    struct Entry<'a> {
        #[serde(borrow)]
        content: Cow<'a, str>,
    }
    let plan: Plan<'_> = serde_json::from_str(raw).ok()?;
    Some(Update::Plan(plan.entries.into_iter().map(|entry| entry.content).collect::<Vec<_>>().join("\n")))
}

fn used(raw: &str) -> Option<Update> {
    #[derive(Deserialize)]
    struct Used {
        used: u64,
    }
    Some(Update::Used(serde_json::from_str::<Used>(raw).ok()?.used))
}

fn compaction(raw: &str) -> Option<Update> {
    #[derive(Deserialize)]
    struct Compaction<'a> {
        #[serde(borrow)]
        status: Cow<'a, str>,
    }
    let compaction: Compaction<'_> = serde_json::from_str(raw).ok()?;
    (compaction.status == "completed").then_some(Update::Compacted)
}
