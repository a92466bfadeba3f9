//! The payload: the JSON facts of a mention (2.3), whole or what changed (3.6).

use serde::{Deserialize, Serialize};

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
        (Policy::Lean, None) => fields.retain(|(key, value)| *key != "worktree" || value != NULL),
        (Policy::Lean, Some(told)) => {
            let told = self::fields(told);
            fields.retain(|field| ALWAYS.contains(&field.0) || !told.contains(field));
        }
    }
    // By hand: a JSON map would not keep the order.
    let mut out = String::from("{");
    for (key, value) in &fields {
        let comma = if out.len() > 1 { "," } else { "" };
        out.extend([comma, "\"", key, "\":", value]);
    }
    out.push('}');
    out
}

const NULL: &str = "null";

/// All fields in their order, cleaned, as JSON.
fn fields(payload: &Payload) -> Vec<(&'static str, String)> {
    let text = |text: &str| json(&clean::text(text));
    let or_null = |value: Option<&str>| value.map_or_else(|| NULL.to_owned(), text);
    vec![
        ("channel_id", text(payload.channel_id.as_str())),
        ("message_id", text(payload.message_id.as_str())),
        ("run_id", text(payload.run_id.as_str())),
        ("binding_id", text(payload.binding_id.as_str())),
        ("runtime", text(&payload.runtime)),
        ("supervised", payload.supervised.to_string()),
        ("resident", payload.resident.to_string()),
        ("thread_root_id", or_null(payload.thread_root_id.as_ref().map(MessageId::as_str))),
        ("channel_agents", agents(&payload.channel_agents)),
        ("max_recipients", payload.max_recipients.to_string()),
        ("worktree", or_null(payload.worktree.as_deref())),
        ("author", author(&payload.author)),
        ("text", text(&payload.text)),
    ]
}

fn agents(agents: &[ChannelAgent]) -> String {
    let mut out = String::from("[");
    for agent in agents {
        let comma = if out.len() > 1 { "," } else { "" };
        let reachable = if agent.reachable { "true" } else { "false" };
        let handle = json(&clean::text(&agent.handle));
        out.extend([comma, "{\"handle\":", &handle, ",\"reachable\":", reachable, "}"]);
    }
    out.push(']');
    out
}

/// An author as JSON, cleaned.
pub(crate) fn author(author: &Author) -> String {
    let name = json(&clean::name(&author.name));
    format!("{{\"kind\":\"{}\",\"name\":{name}}}", author.kind.as_str())
}

/// A string as JSON.
pub(crate) fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod tests;
