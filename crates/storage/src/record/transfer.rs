//! What is brought along when channels move between servers: finished history, with its own times and authors.

use delivery::model::{BindingId, ChannelId, RunId};
use delivery::{Author, Timestamp};

use super::{Access, PersonId, Rank, Role, RunStatus, Usage};

/// A person to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroughtPerson {
    /// Present name.
    pub name: String,
    /// Names that they had before.
    pub former_names: Vec<String>,
    /// Role of a person who is made.
    pub role: Role,
    /// Creation.
    pub created_at: Timestamp,
    /// Since when they may do nothing.
    pub deactivated_at: Option<Timestamp>,
}

/// Whether something was made, or was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brought {
    /// It is new.
    Made,
    /// It was there before, and stays as it was.
    There,
}

/// A channel to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroughtChannel {
    /// Name.
    pub name: String,
    /// The agent's handle, for a direct conversation.
    pub direct: Option<String>,
    /// Who may find it.
    pub access: Access,
    /// What it is about.
    pub topic: String,
    /// Creation.
    pub created_at: Timestamp,
    /// Since when it takes no more posts.
    pub archived_at: Option<Timestamp>,
}

/// A membership of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroughtMember {
    /// Channel.
    pub channel: ChannelId,
    /// Who.
    pub person: PersonId,
    /// Rank.
    pub rank: Rank,
    /// Since when.
    pub since: Timestamp,
}

/// An agent that was a member of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroughtAgent {
    /// Channel.
    pub channel: ChannelId,
    /// Handle.
    pub handle: String,
    /// What it was called by those who added it.
    pub preset: String,
    /// Since when.
    pub since: Timestamp,
    /// When it was brought along: it is no member any more since then.
    pub brought_at: Timestamp,
}

/// An event of a channel's sequence, which is the next one of the channel and later than the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroughtEvent {
    /// Channel.
    pub channel: ChannelId,
    /// Number.
    pub seq: u64,
    /// Time.
    pub at: Timestamp,
    /// What happened.
    pub what: BroughtEventKind,
}

/// What happened in a channel. Messages are named by the numbers of their events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BroughtEventKind {
    /// A message or notice.
    Message {
        /// Root of its thread.
        thread: Option<u64>,
        /// Who, under the name of that time.
        author: Author,
        /// The person.
        person: Option<PersonId>,
        /// Present text; empty for one that is deleted by a later event.
        text: String,
    },
    /// An edit of this message.
    Edit(u64),
    /// A deletion of this message.
    Deletion(u64),
}

/// A run that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroughtRun {
    /// Channel.
    pub channel: ChannelId,
    /// The agent.
    pub binding: BindingId,
    /// Number of the addressed message.
    pub message: u64,
    /// How it ended.
    pub status: RunStatus,
    /// The reason of a failure, cancel or decline.
    pub error: Option<String>,
    /// Creation.
    pub created_at: Timestamp,
    /// When its turn was staged.
    pub started_at: Option<Timestamp>,
    /// End.
    pub ended_at: Timestamp,
    /// Usage.
    pub usage: Option<Usage>,
    /// The run that it tried again.
    pub retry_of: Option<RunId>,
    /// Numbers of the messages that it posted.
    pub posted: Vec<u64>,
}
