//! What is stored, as values.

mod identity;
mod life;
mod permission;
mod project;
mod transfer;
mod usage;

use std::ops::Range;

use delivery::model::{
    BindingId, ChannelId, Epoch, Key, MessageId, NativeId, RunId, SessionPolicy, WhenCold,
};
use delivery::turn::Lease;
use delivery::{Author, Policy, Row, Timestamp, Watermark};
use serde::{Deserialize, Serialize};

pub use self::identity::*;
pub use self::life::*;
pub use self::permission::*;
pub use self::project::*;
pub use self::transfer::*;
pub use self::usage::*;

/// Bytes of a message's text at most.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// A channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// `c1`.
    pub id: ChannelId,
    /// Unique name.
    pub name: String,
    /// The agent's handle, for a direct conversation.
    pub direct: Option<String>,
    /// Creation.
    pub created_at: Timestamp,
    /// Highest event number so far; 0 for an empty channel.
    pub last_seq: u64,
    /// Who may find it; a direct conversation is private.
    pub access: Access,
    /// What it is about; may be empty.
    pub topic: String,
    /// Since when it takes no more posts.
    pub archived_at: Option<Timestamp>,
    /// Since when its agents begin nothing.
    pub paused_at: Option<Timestamp>,
}

/// One setting of an agent's environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvVar {
    /// Name.
    pub name: String,
    /// Value; `None` passes the server's own on, if it has one.
    pub value: Option<String>,
}

/// How much of the user's own configuration of an agent holds for a binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// All of it.
    #[default]
    Own,
    /// All but what only wastes tokens or endangers the provider's cache.
    Tidy,
    /// None of it, and few tools.
    Lean,
}

/// A binding to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBinding {
    /// Channel.
    pub channel: ChannelId,
    /// Handle without `@`.
    pub handle: String,
    /// `guide`, `claude`, … or `custom`.
    pub preset: String,
    /// How much of the user's own configuration the preset's agent keeps.
    pub profile: Profile,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Delivery policy.
    pub delivery: Policy,
    /// Session policy.
    pub session: SessionPolicy,
    /// What becomes of a large session that the provider does not cache any more.
    pub when_cold: WhenCold,
    /// Whether people answer its permission requests.
    pub supervised: bool,
    /// Its own environment.
    pub env: Vec<EnvVar>,
    /// Model, where the agent lets it be set.
    pub model: Option<String>,
    /// Working directory; `None`: a folder of its own in the data folder.
    pub cwd: Option<String>,
    /// Constant text after the framing.
    pub instructions: Option<String>,
    /// Whose messages make runs of it.
    pub addressed_by: AddressedBy,
    /// How its permission requests are decided.
    pub permissions: PermissionRules,
    /// Limits of its turns and of its memory.
    pub limits: OwnLimits,
}

/// A binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// `b-claude`; with `-2` and so on where that is taken.
    pub id: BindingId,
    /// All that was given when it was made.
    pub spec: NewBinding,
    /// Creation.
    pub created_at: Timestamp,
    /// When it was removed; removed bindings keep their id and history.
    pub removed_at: Option<Timestamp>,
}

/// A message to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    /// Channel.
    pub channel: ChannelId,
    /// Root of the thread it stands in.
    pub thread: Option<MessageId>,
    /// Who.
    pub author: Author,
    /// The native session that wrote it.
    pub native: Option<NativeId>,
    /// The run that it answers or tells of.
    pub run: Option<RunId>,
    /// Text, 1 byte to 64 KiB.
    pub text: String,
    /// The client's own id: the same author and id twice is one message.
    pub client_id: Option<String>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Channel.
    pub channel: ChannelId,
    /// Root of its thread.
    pub thread: Option<MessageId>,
    /// The run that it answers or tells of.
    pub run: Option<RunId>,
    /// The person who wrote it, whatever their name is now; the row has the name that they wrote it under.
    pub person: Option<PersonId>,
    /// What the core sees. A deleted message has an empty text.
    pub row: Row,
    /// 1, and one more for each edit.
    pub revision: u32,
}

/// A thread, told by its replies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The message that it hangs on, deleted or not.
    pub root: Message,
    /// Replies that are not deleted.
    pub replies: u64,
    /// Number of the newest of them in the channel's sequence.
    pub last_seq: u64,
    /// When it was posted.
    pub last_at: Timestamp,
}

/// A message after an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Appended {
    /// It is new.
    New(Message),
    /// This client id was posted before; here is what it made.
    Before(Message),
}

/// An event of a channel's dense sequence (5.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelEvent {
    /// Channel.
    pub channel: ChannelId,
    /// 1, 2, 3, … without a gap.
    pub seq: u64,
    /// Time; grows strictly.
    pub at: Timestamp,
    /// What.
    pub kind: ChannelEventKind,
    /// Which message.
    pub message: MessageId,
}

/// Kinds of channel events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChannelEventKind {
    /// A message of a person or agent.
    Message,
    /// A notice of the host.
    Notice,
    /// An edit.
    Edit,
    /// A deletion.
    Deletion,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Waits for its turn, or for a process.
    Queued,
    /// Its turn is staged: the prompt was, or is about to be, written.
    Running,
    /// Answered.
    Succeeded,
    /// Failed, with an error.
    Failed,
    /// Cancelled.
    Cancelled,
    /// Declined by the agent, with a reason.
    Declined,
}

impl RunStatus {
    /// Whether nothing more will happen to it.
    pub fn ended(self) -> bool {
        match self {
            Self::Queued | Self::Running => false,
            Self::Succeeded | Self::Failed | Self::Cancelled | Self::Declined => true,
        }
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// `r5`.
    pub id: RunId,
    /// (channel, binding).
    pub key: Key,
    /// The addressed message.
    pub message: MessageId,
    /// The thread it stands in.
    pub thread: Option<MessageId>,
    /// Status.
    pub status: RunStatus,
    /// The reason of a failure or decline.
    pub error: Option<String>,
    /// Creation.
    pub created_at: Timestamp,
    /// When its turn was staged.
    pub started_at: Option<Timestamp>,
    /// End.
    pub ended_at: Option<Timestamp>,
    /// What was staged, once it was.
    pub staged: Option<Staged>,
    /// What its turns took, as far as it was told.
    pub usage: Option<Usage>,
    /// The run that this one tries again, by hand.
    pub retry_of: Option<RunId>,
    /// Turns of it that failed for a passing reason.
    pub tries: u32,
    /// Until when it waits to be tried again, while it does.
    pub again: Option<Again>,
}

/// What a turn delivers: written before the prompt is sent, counted when the run succeeds (5.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// The session that gets it.
    pub native: NativeId,
    /// Epoch of the lease.
    pub epoch: Epoch,
    /// Cold, restored or warm.
    pub lease: Lease,
    /// Why it is so, in words for people.
    pub why: String,
    /// The exact text of the prompt. Deleting a message scrubs its text out of it (8.3).
    pub sent: String,
    /// The text that the session has as its system prompt; `None` if it takes none.
    pub system: Option<String>,
    /// Where in `sent` the text of a message stands, raw or rendered (the payload's text, the body of each line,
    /// each turn of a replay): byte ranges on character boundaries, in order, without overlap. What a deletion
    /// replaces is exactly these.
    pub parts: Vec<(MessageId, Range<usize>)>,
    /// Lines shown, in order, each with the revision that was shown; not what the session fetched itself.
    pub shown: Vec<(MessageId, u32)>,
    /// New messages that the limit left out.
    pub omitted: u64,
    /// The watermark before.
    pub watermark_before: Option<Watermark>,
    /// The watermark that success commits.
    pub watermark_after: Option<Watermark>,
}

/// A native session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// (channel, binding).
    pub key: Key,
    /// The agent's id for it.
    pub native: NativeId,
    /// Epoch it was begun, or last reloaded, under.
    pub epoch: Epoch,
    /// What it was told (`delivery::turn::Told`) as JSON, but for the payload's `text`, which is never compared
    /// and would outlive a deletion: it is stored as "".
    pub told: String,
    /// Text that it has as its system prompt, if it takes one.
    pub system: Option<String>,
    /// Begin.
    pub begun_at: Timestamp,
    /// Why it cannot be reloaded once its process is gone; `None` if it can.
    pub unreloadable: Option<String>,
    /// Since when it has no process, though it goes on: it is saved.
    pub saved_at: Option<Timestamp>,
    /// Why its last process ended, once one has, in words for people.
    pub saved_why: Option<String>,
    /// When it was last given a prompt, or answered one; `None`: it never had a turn.
    pub turn_at: Option<Timestamp>,
    /// End: nobody will speak with it again.
    pub ended_at: Option<Timestamp>,
}

/// How far agents have gone on by themselves (2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SincePeople {
    /// Turns of agents in the channel or thread for its newest message of a person and what came after it: of all runs
    /// those that were not a try again by hand, and not cancelled before they began.
    pub turns: u32,
    /// Number of the newest message of a person anywhere in the channel, its threads too; 0 if there is none.
    pub newest_seq: u64,
}

/// A step of a run for people to look at: a tool call, a plan, a permission, a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEvent {
    /// The run.
    pub run: RunId,
    /// 1, 2, 3, … within the run.
    pub n: u64,
    /// Time.
    pub at: Timestamp,
    /// `tool_call`, `tool_update`, `plan`, `permission`, `progress`, `notice`.
    pub kind: String,
    /// Details as JSON.
    pub body: String,
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Succeeded, failed, cancelled or declined.
    pub status: RunStatus,
    /// The reason of a failure or decline.
    pub error: Option<String>,
    /// What the session was told by now, as JSON; `None` leaves it.
    pub told: Option<String>,
}

/// Rows for a delivery, and how many more there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRows {
    /// Rows, oldest first (a thread's root first).
    pub rows: Vec<Row>,
    /// As `Case::earlier`.
    pub earlier: u64,
    /// Revisions of `rows`, in the same order.
    pub revisions: Vec<u32>,
}

/// Which rows a delivery needs.
#[derive(Clone, Debug)]
pub struct DeliveryQuery<'a> {
    /// Under `lean`, top-level messages that the session was given as roots of threads are left out.
    pub policy: Policy,
    /// Channel.
    pub channel: &'a ChannelId,
    /// Thread, or the channel itself.
    pub thread: Option<&'a MessageId>,
    /// The session that will answer: its own messages do not count as new.
    pub native: &'a NativeId,
    /// The watermark that counts, if any.
    pub watermark: Option<&'a Watermark>,
    /// The addressed message.
    pub addressed: &'a MessageId,
    /// Messages of queued runs of the same key.
    pub pending: &'a [MessageId],
    /// At least this many of the newest lines, and of the newest new lines, are returned with their text: the
    /// larger of the limits on rows and lines.
    pub newest: usize,
}

/// A watermark with where it belongs, for export and import (5.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedWatermark {
    /// Session key: the binding.
    pub binding: BindingId,
    /// Channel.
    pub channel: ChannelId,
    /// Thread, or the channel itself.
    pub thread: Option<MessageId>,
    /// The record.
    pub watermark: Watermark,
}

/// A showing, committed or not (5.6): a line of the block, the addressed message in the payload, or a message that the
/// session fetched itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Showing {
    /// The session.
    pub native: NativeId,
    /// The message.
    pub message: MessageId,
    /// Its revision that was told.
    pub revision: u32,
    /// The run that told it.
    pub run: RunId,
    /// Whether the run's success counted it.
    pub committed: bool,
}
