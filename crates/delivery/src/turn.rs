//! The plan of a turn: what is sent, decided from the lease alone (3.1), and how full it must be (3.6).

use serde::{Deserialize, Serialize};

use crate::model::Policy;
use crate::payload::Payload;

/// What a lease says of the session that will answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lease {
    /// New process and new session.
    Cold,
    /// New process that reloaded an exact saved session.
    Restored,
    /// Live process that already had a turn.
    Warm,
}

/// Who speaks in a conversation, for the replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// A person, or anyone who is not the agent itself.
    User,
    /// The agent.
    Assistant,
    /// The host; never replayed.
    System,
    /// A tool; never replayed.
    Tool,
}

/// One message of a conversation with one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Who.
    pub speaker: Speaker,
    /// What, as written.
    pub text: String,
}

/// The conversation of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conversation {
    /// A mention: this one user turn, sent bare (3.3).
    Mention(String),
    /// A direct conversation: every message, the newest last.
    Direct(Vec<Said>),
}

/// What is sent, by the table of 3.1. `framing` is `None` where the session has it as its system prompt (3.4).
pub fn plan(lease: Lease, framing: Option<&str>, conversation: &Conversation, policy: Policy) -> String {
    let _ = (lease, framing, conversation, policy);
    unimplemented!()
}

/// Full replay: framing, blank line, the conversation as `User:` / `Assistant:` lines with indented
/// continuation lines; lean keeps the newest 50,000 tokens (bytes / 4) and says what was left out.
pub fn build_prompt(framing: Option<&str>, conversation: &Conversation, policy: Policy) -> String {
    let _ = (framing, conversation, policy);
    unimplemented!()
}

/// The last message that is not from the assistant, the system or a tool; `None` if blank after trimming (3.2).
pub fn latest_user_turn(conversation: &Conversation) -> Option<&str> {
    let _ = conversation;
    unimplemented!()
}

/// What a live session was told in committed turns, and when it must be told in full again (3.6).
/// Stored with the session; a session that was reloaded or failed a turn starts from the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Told {
    /// The last committed payload; `None`: the next turn is full.
    pub payload: Option<Payload>,
    /// Fingerprint of the brief that was told.
    pub brief: Option<String>,
    /// Newest `usage_update.used` of the agent, in tokens.
    pub used: Option<u64>,
    /// Bytes of turns since the last full one; only counts for agents that report no use.
    pub turn_bytes: u64,
}

impl Told {
    /// The agent reported how full its context is; a fall by a tenth means that it compacted.
    pub fn used(&mut self, used: u64) {
        let _ = used;
        unimplemented!()
    }

    /// The agent said that it compacted.
    pub fn compacted(&mut self) {
        unimplemented!()
    }

    /// A turn did not succeed.
    pub fn failed(&mut self) {
        unimplemented!()
    }

    /// A turn was committed: this payload was told in `bytes` bytes. `brief` is its present fingerprint.
    pub fn committed(&mut self, payload: Payload, full: bool, bytes: u64) {
        let _ = (payload, full, bytes);
        unimplemented!()
    }
}

/// The parts of a mention's user turn.
#[derive(Clone, Debug)]
pub struct Mention<'a> {
    /// Delivery policy.
    pub policy: Policy,
    /// Facts.
    pub payload: &'a Payload,
    /// What the session was told before.
    pub told: &'a Told,
    /// Whether the brief stands in the session's system prompt (3.6).
    pub brief_in_system: bool,
    /// The context block, if there is one.
    pub block: Option<&'a str>,
}

/// A user turn and whether it was a full one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserTurn {
    /// The exact text (2.3).
    pub text: String,
    /// Whether payload and brief were told in full.
    pub full: bool,
}

/// Puts a mention's user turn together.
pub fn user_turn(mention: &Mention<'_>) -> UserTurn {
    let _ = mention;
    unimplemented!()
}
