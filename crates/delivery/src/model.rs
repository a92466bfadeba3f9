//! The words of the glossary as types: rows of a channel, their authors, policies and limits.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Declares a string id as a type of its own, so that one id cannot stand where another is meant.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    )*};
}

ids! {
    /// A channel: `c1`.
    ChannelId,
    /// A message: `m17`. A thread is named by its root's id.
    MessageId,
    /// A run: `r5`.
    RunId,
    /// A binding: `b-claude`. It is also the session key of the watermark (5.1).
    BindingId,
    /// The id that an agent gave to one of its sessions.
    NativeId,
}

/// What a process is kept for: one binding in one channel (6.1).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The channel.
    pub channel: ChannelId,
    /// The binding.
    pub binding: BindingId,
}

/// The number of a lease's life; it rises when a process starts or a session is loaded or begun (5.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(pub u64);

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthorKind {
    /// A person.
    User,
    /// An agent.
    Agent,
    /// The host itself: a notice, never a line for an agent.
    System,
}

impl AuthorKind {
    /// The word in brackets at the head of a line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::System => "system",
        }
    }
}

/// The author of a message as it is shown: a person's name, or an agent's handle with `@`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// Person, agent or host.
    pub kind: AuthorKind,
    /// Name, not cleaned.
    pub name: String,
}

/// A message of a channel or thread as the core sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Message id.
    pub id: MessageId,
    /// Number of its creation in the channel's event sequence (5.5).
    pub seq: u64,
    /// Time of its creation; grows strictly within a channel but for imported data.
    pub created_at: Timestamp,
    /// Who wrote it.
    pub author: Author,
    /// The native session that wrote it, for an agent's message.
    #[serde(default)]
    pub native: Option<NativeId>,
    /// Present text, as written.
    pub text: String,
    /// Number of the newest edit's event.
    #[serde(default)]
    pub edited_seq: Option<u64>,
    /// Number of the deletion's event.
    #[serde(default)]
    pub deleted_seq: Option<u64>,
}

/// How a binding is fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Every base rule and no beyond rule but the safety and exactness rules.
    Base,
    /// Everything; the default.
    Lean,
    /// Base's snapshot at every mention, no watermark: what others do.
    Window,
}

/// When a binding's session ends (6.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionPolicy {
    /// The process stays for the next turn.
    Resident,
    /// The process ends after the turn and reloads its session for the next.
    Saved,
    /// A new session every run.
    Fresh,
}

/// What becomes of a large session that the provider has surely dropped from its cache (6.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenCold {
    /// It is reloaded: it keeps its memory, and the first request pays for all of it.
    #[default]
    Reload,
    /// A new session begins.
    Fresh,
}

/// Limits of section 4; the defaults are the spec's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Newest rows that are looked at under `base` and `window`.
    pub rows: usize,
    /// Lines shown at most.
    pub lines: usize,
    /// Unicode scalar values of a body shown at most.
    pub body_chars: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rows: 30, lines: 12, body_chars: 600 }
    }
}
