//! What an agent tells of a session that it reloads: its list of sessions, and the updates that replay a history.

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The parameters of `session/list`.
#[derive(Debug, Serialize)]
pub(crate) struct ListSessions<'a> {
    /// Only sessions of this folder.
    pub(crate) cwd: &'a Path,
    /// Where the page before ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<&'a str>,
}

/// A page of the agent's sessions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Whether the one that was looked for is on it.
    pub(crate) found: bool,
    /// Where the next page begins.
    pub(crate) next: Option<String>,
}

/// Looks for a session in the answer to `session/list`; `None` if it is none.
pub(crate) fn listed(answer: &RawValue, native: &str) -> Option<Listed> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer<'a> {
        #[serde(borrow)]
        sessions: Vec<&'a RawValue>,
        next_cursor: Option<String>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Known<'a> {
        #[serde(borrow)]
        session_id: Cow<'a, str>,
    }
    let answer: Answer<'_> = serde_json::from_str(answer.get()).ok()?;
    let is_it = |raw: &&RawValue| {
        serde_json::from_str::<Known<'_>>(raw.get()).is_ok_and(|known| known.session_id == native)
    };
    Some(Listed { found: answer.sessions.iter().any(is_it), next: answer.next_cursor })
}

/// A piece of a replay.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Replayed {
    /// Text of a prompt.
    User(String),
    /// Text of an answer.
    Agent(String),
    /// Something else that happened in the session: a tool call, a thought, a plan.
    Act,
    /// How full the context is, in tokens.
    Used(u64),
    /// Nothing of the history: commands, modes, a title.
    Other,
}

/// Reads the parameters of `session/update` as a piece of a replay.
pub(crate) fn replayed(params: &RawValue) -> Replayed {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        update: Piece<'a>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Piece<'a> {
        #[serde(borrow)]
        session_update: Cow<'a, str>,
        #[serde(borrow)]
        content: Option<&'a RawValue>,
        used: Option<u64>,
    }
    #[derive(Deserialize)]
    struct Content {
        text: Option<String>,
    }
    let Ok(Params { update }) = serde_json::from_str::<Params<'_>>(params.get()) else {
        return Replayed::Other;
    };
    let text = || {
        let content = update.content.and_then(|raw| serde_json::from_str::<Content>(raw.get()).ok());
        content.and_then(|content| content.text).unwrap_or_default()
    };
    match &*update.session_update {
        "user_message_chunk" => Replayed::User(text()),
        "agent_message_chunk" => Replayed::Agent(text()),
        "agent_thought_chunk" | "tool_call" | "tool_call_update" | "plan" => Replayed::Act,
        "usage_update" => update.used.map_or(Replayed::Other, Replayed::Used),
        _ => Replayed::Other,
    }
}
