//! Events as readers get them: one JSON object each, the same over WebSocket and server-sent events.

use delivery::Timestamp;
use delivery::model::{Policy, SessionPolicy};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    Access, AddressedBy, AnsweredBy, Hold, Member, Message, Permission, Person, RunEvent, Usage, schema,
};

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    /// Where to go on after it; only with what is durable, and with `hello` and `resync`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// When it happened; only with what is durable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::Timestamp>)]
    pub at: Option<Timestamp>,
    /// Present name of the channel that it happened in; absent for who may not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Id of that channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel_id: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub what: Happened,
}

/// What happened, named by `kind`. Things are shown as they stand when the event is read: what happened to them
/// since shows already, and its own event follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Happened {
    /// The first event of each connection: all that happens after its cursor follows.
    Hello,
    /// The last event of a connection whose reader must look at everything afresh, then follow from its cursor.
    Resync {
        /// Why.
        reason: Reason,
    },
    /// Nothing happened.
    Heartbeat,
    /// A channel was made.
    ChannelAdded {
        /// It.
        added: ChannelInfo,
    },
    /// A channel has another name, topic or state, or everybody but guests can find it now.
    ChannelChanged {
        /// It.
        changed: ChannelInfo,
    },
    /// The channel was public and is private now: gone for those who are not in it.
    ChannelClosed,
    /// A person became a member of the channel. If that is the reader, all of the channel is new to them.
    MemberAdded {
        /// They.
        member: Member,
    },
    /// A person is no member of the channel any more. If that is the reader, and the channel is private or they are a
    /// guest, it is gone for them.
    MemberRemoved {
        /// Their id.
        person_id: String,
    },
    /// A person was made.
    PersonAdded {
        /// They.
        person: Person,
    },
    /// A person has another name or role, was deactivated or activated.
    PersonChanged {
        /// They.
        person: Person,
    },
    /// An agent joined the channel.
    AgentAdded {
        /// It.
        agent: Bound,
    },
    /// An agent is held, or goes on; others answer its permission cards, or they are decided by other rules.
    AgentChanged {
        /// It.
        agent: Bound,
    },
    /// An agent left the channel.
    AgentRemoved {
        /// It.
        agent: Bound,
    },
    /// A message or notice was posted. (Deleted since: it says so, and is empty.)
    MessageAdded {
        /// It.
        message: Message,
    },
    /// A message was edited.
    MessageEdited {
        /// It.
        message: Message,
    },
    /// A message was deleted.
    MessageDeleted {
        /// What is left of it.
        message: Message,
    },
    /// A run was made, or waits again.
    RunQueued {
        /// It.
        run: RunState,
    },
    /// A run's turn began.
    RunStarted {
        /// It.
        run: RunState,
    },
    /// A run ended; `status` says how.
    RunEnded {
        /// It.
        run: RunState,
    },
    /// It became known what a run took, after it had ended.
    RunUsage {
        /// It.
        run: RunState,
    },
    /// A run has one more step.
    RunStep {
        /// The run.
        run_id: String,
        /// The step.
        step: RunEvent,
    },
    /// A run's agent asked for a permission that was decided at once, by rule.
    Permission {
        /// The run.
        run_id: String,
        /// The step that tells of it.
        step: RunEvent,
    },
    /// An agent asks for a permission: a card waits for an answer.
    PermissionAsked {
        /// The card.
        permission: Permission,
    },
    /// A permission card was decided, or ended otherwise: `status` says how.
    PermissionDecided {
        /// The card.
        permission: Permission,
    },
    /// All agents were paused, or go on.
    PauseChanged {
        /// Since when they are paused, if they are.
        #[schema(value_type = Option<schema::Timestamp>, required = true)]
        paused_at: Option<Timestamp>,
    },
    /// A piece of an answer that is being written. Not durable: the message that comes in the end is.
    Answer {
        /// The run.
        run_id: String,
        /// Handle of the agent, without `@`.
        agent: String,
        /// Characters (Unicode scalar values) that stand before the piece; 0: the answer begins anew.
        from: usize,
        /// The piece.
        text: String,
    },
    /// An agent is idle, works, or has runs that wait. Not durable.
    AgentState {
        /// Handle, without `@`.
        agent: String,
        /// Binding id.
        binding_id: String,
        /// How it stands.
        state: AgentActivity,
        /// Runs that wait or run.
        open_runs: usize,
        /// Whether it has a turn that can be steered.
        #[serde(default)]
        steerable: bool,
    },
    /// Of a kind that this version does not know.
    #[serde(other)]
    Unknown,
}

impl Happened {
    /// The word in `kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Hello => "hello",
            Self::Resync { .. } => "resync",
            Self::Heartbeat => "heartbeat",
            Self::ChannelAdded { .. } => "channel_added",
            Self::ChannelChanged { .. } => "channel_changed",
            Self::ChannelClosed => "channel_closed",
            Self::MemberAdded { .. } => "member_added",
            Self::MemberRemoved { .. } => "member_removed",
            Self::PersonAdded { .. } => "person_added",
            Self::PersonChanged { .. } => "person_changed",
            Self::AgentAdded { .. } => "agent_added",
            Self::AgentChanged { .. } => "agent_changed",
            Self::AgentRemoved { .. } => "agent_removed",
            Self::MessageAdded { .. } => "message_added",
            Self::MessageEdited { .. } => "message_edited",
            Self::MessageDeleted { .. } => "message_deleted",
            Self::RunQueued { .. } => "run_queued",
            Self::RunStarted { .. } => "run_started",
            Self::RunEnded { .. } => "run_ended",
            Self::RunUsage { .. } => "run_usage",
            Self::RunStep { .. } => "run_step",
            Self::Permission { .. } => "permission",
            Self::PermissionAsked { .. } => "permission_asked",
            Self::PermissionDecided { .. } => "permission_decided",
            Self::PauseChanged { .. } => "pause_changed",
            Self::Answer { .. } => "answer",
            Self::AgentState { .. } => "agent_state",
            Self::Unknown => "unknown",
        }
    }
}

impl Happened {
    /// The message that it tells of.
    pub fn message(&self) -> Option<&Message> {
        match self {
            Self::MessageAdded { message }
            | Self::MessageEdited { message }
            | Self::MessageDeleted { message } => Some(message),
            Self::Hello
            | Self::Resync { .. }
            | Self::Heartbeat
            | Self::ChannelAdded { .. }
            | Self::ChannelChanged { .. }
            | Self::ChannelClosed
            | Self::MemberAdded { .. }
            | Self::MemberRemoved { .. }
            | Self::PersonAdded { .. }
            | Self::PersonChanged { .. }
            | Self::AgentAdded { .. }
            | Self::AgentChanged { .. }
            | Self::AgentRemoved { .. }
            | Self::RunQueued { .. }
            | Self::RunStarted { .. }
            | Self::RunEnded { .. }
            | Self::RunUsage { .. }
            | Self::RunStep { .. }
            | Self::Permission { .. }
            | Self::PermissionAsked { .. }
            | Self::PermissionDecided { .. }
            | Self::PauseChanged { .. }
            | Self::Answer { .. }
            | Self::AgentState { .. }
            | Self::Unknown => None,
        }
    }

    /// The same, with another text of the message in its place.
    pub(crate) fn with_message(self, message: Message) -> Self {
        match self {
            Self::MessageAdded { .. } => Self::MessageAdded { message },
            Self::MessageEdited { .. } => Self::MessageEdited { message },
            Self::MessageDeleted { .. } => Self::MessageDeleted { message },
            other @ (Self::Hello
            | Self::Resync { .. }
            | Self::Heartbeat
            | Self::ChannelAdded { .. }
            | Self::ChannelChanged { .. }
            | Self::ChannelClosed
            | Self::MemberAdded { .. }
            | Self::MemberRemoved { .. }
            | Self::PersonAdded { .. }
            | Self::PersonChanged { .. }
            | Self::AgentAdded { .. }
            | Self::AgentChanged { .. }
            | Self::AgentRemoved { .. }
            | Self::RunQueued { .. }
            | Self::RunStarted { .. }
            | Self::RunEnded { .. }
            | Self::RunUsage { .. }
            | Self::RunStep { .. }
            | Self::Permission { .. }
            | Self::PermissionAsked { .. }
            | Self::PermissionDecided { .. }
            | Self::PauseChanged { .. }
            | Self::Answer { .. }
            | Self::AgentState { .. }
            | Self::Unknown) => other,
        }
    }
}

/// Why a reader must look afresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// What happened after its cursor is not kept any more.
    TooOld,
    /// Its cursor is none of this database's.
    Unknown,
    /// It did not read as fast as things happened. It may also go on from its own last cursor.
    Slow,
    /// Its reader has another role: they may see more or less than before.
    Rights,
}

/// A channel without its agents and people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChannelInfo {
    /// Id.
    pub id: String,
    /// Name.
    pub name: String,
    /// The agent of a direct conversation.
    #[schema(required = true)]
    pub direct: Option<String>,
    /// Creation.
    #[schema(value_type = schema::Timestamp)]
    pub created_at: Timestamp,
    /// Who may find it.
    #[schema(value_type = schema::Access)]
    pub access: Access,
    /// What it is about.
    pub topic: String,
    /// Since when it takes no more posts.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub archived_at: Option<Timestamp>,
    /// Since when its agents begin nothing.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub paused_at: Option<Timestamp>,
}

/// An agent in a channel, without how its process stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Bound {
    /// Handle without `@`.
    pub handle: String,
    /// Binding id.
    pub binding_id: String,
    /// Preset, or `custom`.
    pub preset: String,
    /// Delivery policy.
    #[schema(value_type = schema::Policy)]
    pub delivery: Policy,
    /// Session policy.
    #[schema(value_type = schema::SessionPolicy)]
    pub session: SessionPolicy,
    /// Whether people answer its permission requests.
    pub supervised: bool,
    /// Who may address it.
    #[schema(value_type = schema::AddressedBy)]
    pub addressed_by: AddressedBy,
    /// Who answers its permission cards.
    #[schema(value_type = schema::AnsweredBy)]
    pub answered_by: AnsweredBy,
    /// Model.
    #[schema(required = true)]
    pub model: Option<String>,
    /// Why it begins no run until a person lets it; null otherwise.
    #[schema(required = true)]
    pub hold: Option<Hold>,
}

/// A run without what was sent, its lines and its replies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunState {
    /// Id.
    pub id: String,
    /// `queued`, `running`, `succeeded`, `failed`, `cancelled`, `declined`.
    #[schema(value_type = schema::RunStatus)]
    pub status: String,
    /// Handle of the agent, without `@`.
    pub agent: String,
    /// Binding id.
    pub binding_id: String,
    /// The addressed message.
    pub message_id: String,
    /// Thread root.
    #[schema(required = true)]
    pub thread_root_id: Option<String>,
    /// `cold`, `restored`, `warm`; null before its turn.
    #[schema(value_type = Option<schema::Lease>, required = true)]
    pub lease: Option<String>,
    /// Reason of a failure or decline.
    #[schema(required = true)]
    pub error: Option<String>,
    /// Tokens, as the agent told them.
    #[schema(required = true)]
    pub usage: Option<Usage>,
    /// Creation.
    #[schema(value_type = schema::Timestamp)]
    pub created_at: Timestamp,
    /// When the turn was staged.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub started_at: Option<Timestamp>,
    /// End.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub ended_at: Option<Timestamp>,
    /// The run that it tries again.
    #[schema(required = true)]
    pub retry_of: Option<String>,
    /// Turns of it that failed for a passing reason.
    pub tries: u32,
    /// When it is tried again, while it waits for that.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub again_at: Option<Timestamp>,
}

/// How an agent stands in a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentActivity {
    /// Nothing is asked of it.
    Idle,
    /// It has a turn.
    Working,
    /// It has a turn, and waits for an answer to a permission card.
    Asking,
    /// A run is about to begin: its process starts, or its last one ends.
    Queued,
    /// A run waits until another agent's process makes room.
    Waiting,
    /// Its runs wait for a person, for their time, or for the end of a pause.
    Held,
}
