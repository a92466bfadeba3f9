//! Messages that a client puts into a running turn.

use serde_json::{Value, json};

use super::Player;
use crate::line;

/// The request by which it does.
pub(super) const METHOD: &str = "_session/steering";

impl Player {
    /// Whether it says that it can be steered.
    pub(super) fn can_be_steered(&self) -> bool {
        !self.script.field("steering").is_null()
    }

    /// Takes a message into the turn at hand, or does with it what the script says.
    pub(super) fn steer(&mut self, message: &Value) {
        let how = self.script.field("steering").clone();
        let mut answer = json!({ "jsonrpc": "2.0", "id": message["id"] });
        match &how {
            Value::Bool(true) => {
                let pieces = message["params"]["prompt"].as_array().cloned().unwrap_or_default();
                let text: String = pieces.iter().filter_map(|piece| piece["text"].as_str()).collect();
                line::log(&json!({ "steered": text }));
                self.keep("user", &text);
                self.steered.push_back(text);
                answer["result"] = json!({ "outcome": "injected" });
            }
            Value::String(outcome) => answer["result"] = json!({ "outcome": outcome }),
            Value::Object(fields) if fields.contains_key("error") => answer["error"] = how["error"].clone(),
            Value::Null | Value::Bool(false) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                return;
            }
        }
        line::write(&answer);
    }

    /// There is no turn to take it into.
    pub(super) fn refuse_steer(&self, message: &Value) {
        let result = json!({ "outcome": "promptRequired", "reason": "noRunningTurn" });
        line::write(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
    }

    /// Waits until the turn was steered, and says by what; not after a cancel.
    pub(super) fn await_steer(&mut self) {
        while self.steered.is_empty() && !self.cancelled {
            self.wait(None, |message| {
                [METHOD, "session/cancel"].iter().any(|name| message["method"] == *name)
            });
        }
        if let Some(text) = self.steered.pop_front() {
            self.text(&text);
        }
    }
}
