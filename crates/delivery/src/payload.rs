//! The payload: the JSON facts of a mention (2.3), whole or what changed (3.6).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clean;
use crate::model::{Author, BindingId, ChannelId, MessageId, Policy, RunId};

/// An agent of the channel, as the payload lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelAgent {
    /// Handle without `@`.
    pub handle: String,
    /// Whether its process lives or its command can be started.
    pub reachable: bool,
}

/// The facts of a mention, raw; rendering cleans every string in it (4.7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    /// Channel.
    pub channel_id: ChannelId,
    /// The addressed message.
    pub message_id: MessageId,
    /// The run.
    pub run_id: RunId,
    /// The binding that is addressed.
    pub binding_id: BindingId,
    /// `cli:<preset>:agent`.
    pub runtime: String,
    /// Whether people answer its permission requests.
    pub supervised: bool,
    /// Whether its process stays.
    pub resident: bool,
    /// The thread's root, or null.
    pub thread_root_id: Option<MessageId>,
    /// All agents of the channel, the addressed one too.
    pub channel_agents: Vec<ChannelAgent>,
    /// How many agents one message may address.
    pub max_recipients: u32,
    /// Where the binding's worktree is, if it has one (lean).
    pub worktree: Option<String>,
    /// Who wrote the message (3.7, lean).
    pub author: Author,
    /// The addressed message's text.
    pub text: String,
}

/// Keys that every payload has, whatever the session was told before (3.6).
const ALWAYS: [&str; 4] = ["message_id", "run_id", "author", "text"];

/// Keys that `lean` adds (2.3, 3.7).
const LEAN: [&str; 2] = ["worktree", "author"];

/// The payload as compact JSON on one line, keys in the order of 2.3. `told` is the session's last committed
/// payload: under lean the fields that equal it are left out, but for `message_id`, `run_id` and `text`.
/// Base and window: every base field, every time, whatever `told` says.
///
/// A worktree that there is not is left out, but when the session was told of one: then it is null.
pub fn render(payload: &Payload, policy: Policy, told: Option<&Payload>) -> String {
    let mut fields = fields(payload);
    match (policy, told) {
        (Policy::Base | Policy::Window, _) => fields.retain(|(key, _)| !LEAN.contains(key)),
        (Policy::Lean, None) => fields.retain(|(key, value)| *key != "worktree" || !value.is_null()),
        (Policy::Lean, Some(told)) => {
            let told = self::fields(told);
            fields.retain(|field| ALWAYS.contains(&field.0) || !told.contains(field));
        }
    }
    // By hand: a JSON map would not keep the order.
    let fields: Vec<String> = fields.into_iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("{{{}}}", fields.join(","))
}

/// All fields in their order, cleaned.
fn fields(payload: &Payload) -> Vec<(&'static str, Value)> {
    let text = |text: &str| Value::from(clean::text(text));
    let agents = payload.channel_agents.iter();
    let agents = agents.map(|agent| json!({"handle": text(&agent.handle), "reachable": agent.reachable}));
    vec![
        ("channel_id", text(payload.channel_id.as_str())),
        ("message_id", text(payload.message_id.as_str())),
        ("run_id", text(payload.run_id.as_str())),
        ("binding_id", text(payload.binding_id.as_str())),
        ("runtime", text(&payload.runtime)),
        ("supervised", payload.supervised.into()),
        ("resident", payload.resident.into()),
        ("thread_root_id", payload.thread_root_id.as_ref().map(|root| text(root.as_str())).into()),
        ("channel_agents", agents.collect()),
        ("max_recipients", payload.max_recipients.into()),
        ("worktree", payload.worktree.as_deref().map(text).into()),
        ("author", json!({"kind": payload.author.kind.as_str(), "name": clean::name(&payload.author.name)})),
        ("text", text(&payload.text)),
    ]
}

#[cfg(test)]
pub(crate) mod tests;
