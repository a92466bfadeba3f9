//! The log of the workspace: what changed, in one dense sequence, as references to the things that changed.

use delivery::Timestamp;
use delivery::model::{BindingId, ChannelId, MessageId, RunId};
use serde::{Deserialize, Serialize};

use crate::{PermissionId, PersonId};

/// An entry of the log, written in the transaction of the change that it tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// 1, 2, 3, … without a gap, over all channels.
    pub n: u64,
    /// Time of the change, as it was given to the call that made it.
    pub at: Timestamp,
    /// The channel that it happened in; `None`: in the workspace.
    pub channel: Option<ChannelId>,
    /// What changed.
    pub change: Change,
}

/// What changed. Things are named, never copied: whoever wants to show them reads them as they stand now, and finds
/// no text that was deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The entry's channel was made.
    ChannelAdded,
    /// The entry's channel has another name, topic or state, or everybody but guests can find it now.
    ChannelChanged,
    /// The entry's channel was public and is private now.
    ChannelClosed,
    /// A person was made.
    PersonAdded(PersonId),
    /// A person has another name or role, was deactivated or activated.
    PersonChanged(PersonId),
    /// Tokens, sign-ins or links of a person ended.
    AccessEnded(PersonId),
    /// A person became a member of the entry's channel.
    MemberAdded(PersonId),
    /// A person is no member of the entry's channel any more.
    MemberRemoved(PersonId),
    /// An agent joined the entry's channel.
    AgentAdded(BindingId),
    /// An agent of the entry's channel is held, or goes on, or how its permission requests are decided is another.
    AgentChanged(BindingId),
    /// An agent left it.
    AgentRemoved(BindingId),
    /// A message or notice was posted.
    MessageAdded(MessageId),
    /// A message was edited.
    MessageEdited(MessageId),
    /// A message was deleted.
    MessageDeleted(MessageId),
    /// A run was made, or waits again.
    RunQueued(RunId),
    /// A run's turn was staged.
    RunStarted(RunId),
    /// A run ended.
    RunEnded(RunId),
    /// Something else is known of what a run took.
    RunUsage(RunId),
    /// A run has one more step, of this number.
    RunStep(RunId, u64),
    /// A run's agent asked for a permission: the step of this number.
    Permission(RunId, u64),
    /// A permission card was put up.
    PermissionAsked(PermissionId),
    /// It was decided.
    PermissionDecided(PermissionId),
    /// All agents were paused, or go on.
    PauseChanged,
}

/// The word that stands for each [`Change`] in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChangeKind {
    ChannelAdded,
    ChannelChanged,
    ChannelClosed,
    PersonAdded,
    PersonChanged,
    AccessEnded,
    MemberAdded,
    MemberRemoved,
    AgentAdded,
    AgentChanged,
    AgentRemoved,
    MessageAdded,
    MessageEdited,
    MessageDeleted,
    RunQueued,
    RunStarted,
    RunEnded,
    RunUsage,
    RunStep,
    Permission,
    PermissionAsked,
    PermissionDecided,
    PauseChanged,
}

/// Which part of the log there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSpan {
    /// Names the database among all others.
    pub origin: [u8; 8],
    /// Entries after this number are there; 0 if none was ever given up.
    pub floor: u64,
    /// The newest number; 0 if there never was an entry.
    pub head: u64,
}
