//! The payload: the JSON facts of a mention (2.3), whole or what changed (3.6).

use serde::{Deserialize, Serialize};

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

/// The payload as compact JSON on one line, keys in the order of 2.3. `told` is the session's last committed
/// payload: under lean the fields that equal it are left out, but for `message_id`, `run_id` and `text`.
/// Base and window: every base field, every time, whatever `told` says.
pub fn render(payload: &Payload, policy: Policy, told: Option<&Payload>) -> String {
    let _ = (payload, policy, told);
    unimplemented!()
}
