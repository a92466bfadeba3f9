//! Permissions that agents ask people for, and by which rules the rest is decided (2.9, 6.10).

use std::collections::BTreeMap;

use delivery::Timestamp;
use delivery::model::{Key, MessageId, RunId};
use serde::{Deserialize, Serialize};

use super::{PermissionId, PersonId};

/// How a binding's permission requests are decided. In a store it is JSON, of which each part may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PermissionRules {
    /// Who answers its cards.
    pub answered_by: AnsweredBy,
    /// How long a card waits, in milliseconds; `None`: as the server's setting says.
    pub limit_ms: Option<u64>,
    /// What is done without supervision, by the kind of tool; a kind that is missing has [`Rule::by_default`].
    pub tools: BTreeMap<ToolKind, Rule>,
}

impl PermissionRules {
    /// The rule for a kind of tool.
    pub fn rule(&self, kind: ToolKind) -> Rule {
        self.tools.get(&kind).copied().unwrap_or_else(|| Rule::by_default(kind))
    }
}

/// Who answers a binding's permission cards (2.9). Guests never do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnsweredBy {
    /// Members of the channel, but guests.
    Members,
    /// The channel's managers, and owners.
    Managers,
    /// Owners alone.
    #[default]
    Owners,
}

/// Kinds of tools, as the protocol has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Reading files or data.
    Read,
    /// Changing files.
    Edit,
    /// Removing files.
    Delete,
    /// Moving or renaming files.
    Move,
    /// Searching.
    Search,
    /// Running commands.
    Execute,
    /// Planning.
    Think,
    /// Getting something from elsewhere.
    Fetch,
    /// Changing the agent's mode.
    SwitchMode,
    /// Anything else.
    Other,
}

impl ToolKind {
    /// All of them, in the protocol's order.
    pub const ALL: [Self; 10] = [
        Self::Read,
        Self::Edit,
        Self::Delete,
        Self::Move,
        Self::Search,
        Self::Execute,
        Self::Think,
        Self::Fetch,
        Self::SwitchMode,
        Self::Other,
    ];

    /// The protocol's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Search => "search",
            Self::Execute => "execute",
            Self::Think => "think",
            Self::Fetch => "fetch",
            Self::SwitchMode => "switch_mode",
            Self::Other => "other",
        }
    }

    /// The kind of this word; a word that is not known has none.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Whether what such a tool touches is told by the paths that it names.
    pub fn is_by_path(self) -> bool {
        match self {
            Self::Read | Self::Edit | Self::Delete | Self::Move | Self::Search => true,
            Self::Execute | Self::Think | Self::Fetch | Self::SwitchMode | Self::Other => false,
        }
    }
}

/// What is done with a request of an agent that nobody supervises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// It is allowed, for this once.
    Allow,
    /// It is allowed for this once if it names paths, all of them in the agent's own working folder; else rejected.
    Inside,
    /// People are asked, as for a supervised agent.
    Ask,
    /// It is rejected.
    Reject,
}

impl Rule {
    /// What holds until somebody says otherwise: reading and searching inside the own folder, nothing else.
    pub fn by_default(kind: ToolKind) -> Self {
        match kind {
            ToolKind::Read | ToolKind::Search => Self::Inside,
            ToolKind::Edit
            | ToolKind::Delete
            | ToolKind::Move
            | ToolKind::Execute
            | ToolKind::Think
            | ToolKind::Fetch
            | ToolKind::SwitchMode
            | ToolKind::Other => Self::Reject,
        }
    }
}

/// What an agent asks for: untrusted text, without secrets, as it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// In a few words.
    pub title: String,
    /// Kind of tool, in the agent's word.
    pub kind: String,
    /// The tool's own name, if told.
    pub tool: Option<String>,
    /// All of it.
    pub details: Vec<Detail>,
    /// What may be answered, in the agent's order; they are numbered from 1.
    pub options: Vec<Choice>,
}

/// A part of what is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "lowercase")]
pub enum Detail {
    /// A command that would be run.
    Command {
        /// It.
        text: String,
    },
    /// A file or folder that it is about.
    Path {
        /// Its path, and the line if told.
        text: String,
    },
    /// A file that would be changed.
    Diff {
        /// Its path.
        path: String,
        /// Its text before; `None` for a new file.
        old: Option<String>,
        /// Its text after.
        new: String,
    },
    /// Text about it.
    Text {
        /// It.
        text: String,
    },
    /// The tool's input as JSON, in several lines.
    Input {
        /// It.
        text: String,
    },
}

/// An option of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The agent's words for it.
    pub name: String,
    /// What it means.
    pub kind: ChoiceKind,
}

/// What choosing an option means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceKind {
    /// Allowed, for this once.
    AllowOnce,
    /// Allowed, now and without a question later.
    AllowAlways,
    /// Rejected, for this once.
    RejectOnce,
    /// Rejected, now and without a question later.
    RejectAlways,
    /// A kind that is not known: it may allow anything.
    Other,
}

impl ChoiceKind {
    /// Whether it is for owners alone: its effect outlasts the request, or nobody knows it.
    pub fn is_for_owners(self) -> bool {
        match self {
            Self::AllowAlways | Self::Other => true,
            Self::AllowOnce | Self::RejectOnce | Self::RejectAlways => false,
        }
    }

    /// Whether it is a no.
    pub fn rejects(self) -> bool {
        match self {
            Self::RejectOnce | Self::RejectAlways => true,
            Self::AllowOnce | Self::AllowAlways | Self::Other => false,
        }
    }
}

/// The number of the option that says no: for this once before for ever; `None` if there is none.
pub fn reject_option(options: &[Choice]) -> Option<u32> {
    let of_kind = |kind| (1..).zip(options).find(|(_, option)| option.kind == kind).map(|(n, _)| n);
    of_kind(ChoiceKind::RejectOnce).or_else(|| of_kind(ChoiceKind::RejectAlways))
}

/// A permission card: what an agent asked people for, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// `k1`.
    pub id: PermissionId,
    /// The run whose agent asks.
    pub run: RunId,
    /// Its (channel, binding).
    pub key: Key,
    /// The message that made the run.
    pub message: MessageId,
    /// The thread that it stands in.
    pub thread: Option<MessageId>,
    /// What for.
    pub asked: Asked,
    /// Since when it waits.
    pub asked_at: Timestamp,
    /// Until when it waits.
    pub until: Timestamp,
    /// What came of it; `None` while it waits.
    pub decision: Option<Decision>,
}

/// What came of a card. There is exactly one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// How.
    pub outcome: Outcome,
    /// The number of the option that was chosen; `None`: none was.
    pub option: Option<u32>,
    /// Who chose it.
    pub by: Option<Decider>,
    /// Why, for people, where the outcome alone does not say it.
    pub why: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// A person who decided, under the name that they had then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decider {
    /// Who.
    pub person: PersonId,
    /// Their name.
    pub name: String,
}

/// How a card ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Somebody allowed it.
    Allowed,
    /// Somebody rejected it.
    Rejected,
    /// Nobody answered in time, so it was rejected.
    TimedOut,
    /// The run was cancelled.
    Cancelled,
    /// The agent does not ask any more.
    Withdrawn,
    /// The agent's process or the server went away.
    Lost,
}
