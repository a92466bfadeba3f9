//! Steering a running turn: an extension that Claude Code's and Codex's adapters share.

use agent_client_protocol_schema::v1 as schema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The request.
pub(crate) const STEERING: &str = "_session/steering";

/// Its parameters.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Steer<'a> {
    session_id: &'a str,
    prompt: Vec<schema::ContentBlock>,
    /// What happens when no turn runs any more: without this an agent begins one that nobody waits for.
    idle_behavior: &'static str,
}

impl<'a> Steer<'a> {
    /// Of a session, with this text.
    pub(crate) fn new(session_id: &'a str, text: &str) -> Self {
        let prompt = vec![schema::ContentBlock::from(text)];
        Self { session_id, prompt, idle_behavior: "promptRequired" }
    }
}

/// Whether the `_meta` of an answer to `initialize` offers it.
pub(super) fn is_offered(meta: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Meta {
        steering: Offer,
    }
    #[derive(Deserialize)]
    struct Offer {
        supported: bool,
    }
    serde_json::from_str(meta.get()).is_ok_and(|Meta { steering: Offer { supported } }| supported)
}

/// Whether the turn has it by this answer; else why not. Some agents answer what they do not know with success: the word
/// alone counts.
pub(crate) fn injected(answer: &RawValue) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Answer {
        outcome: String,
    }
    match serde_json::from_str::<Answer>(answer.get()) {
        Ok(Answer { outcome }) if outcome == "injected" => Ok(()),
        Ok(Answer { outcome }) if outcome == "promptRequired" => Err("its turn had ended".to_owned()),
        Ok(Answer { outcome }) => Err(format!("the agent answered: {outcome}")),
        Err(_) => Err(format!("the agent's answer is not understood: {}", answer.get())),
    }
}
