//! The only wire types: what the API takes and gives, as JSON.

mod checkup;
mod event;
mod health;
mod identity;
mod life;
mod permission;
mod project;
pub mod schema;
mod thread;
mod transfer;
mod usage;

use delivery::Timestamp;
use delivery::model::{Policy, SessionPolicy, WhenCold};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::checkup::*;
pub use self::event::{AgentActivity, Bound, ChannelInfo, Event, Happened, Reason, RunState};
pub use self::health::*;
pub use self::identity::*;
pub use self::life::*;
pub use self::permission::*;
pub use self::project::*;
pub use self::thread::Thread;
pub use self::transfer::*;
pub use self::usage::*;

/// An error: a stable code, a message for people, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// Stable code: `not_found`, `exists`, `invalid`, `conflict`, `already_decided`, `unauthorized`, `forbidden`, `too_large`,
    /// `rate_limited`, `storage_full`, `shutting_down`, `internal`.
    #[schema(value_type = schema::ErrorCode)]
    pub code: String,
    /// For people.
    pub message: String,
    /// In how many milliseconds it will do; with `rate_limited`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// An author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Author {
    /// `user`, `agent` or `system`.
    #[schema(value_type = schema::AuthorKind)]
    pub kind: String,
    /// Person's name as it was then, or handle with `@`.
    pub name: String,
    /// The person, whatever their name is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person_id: Option<String>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Message {
    /// Id.
    pub id: String,
    /// Number in the channel's event sequence.
    pub seq: u64,
    /// Creation.
    #[schema(value_type = schema::Timestamp)]
    pub created_at: Timestamp,
    /// Who.
    pub author: Author,
    /// Text; empty once deleted.
    pub text: String,
    /// The thread's root.
    #[schema(required = true)]
    pub thread_root_id: Option<String>,
    /// Channel name.
    pub channel: String,
    /// The run that it answers or tells of; of a message of a person: that it steers.
    #[schema(required = true)]
    pub run_id: Option<String>,
    /// 1, and one more for each edit.
    pub revision: u32,
    /// Whether it was deleted.
    pub deleted: bool,
    /// The text as HTML, sanitised, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
}

/// A message to post.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PostMessage {
    /// Text.
    pub text: String,
    /// Who writes; whoever asks if absent. Another name is for owners alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Thread root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_root_id: Option<String>,
    /// The client's own id; posting it again gives the same message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
}

/// A posted message with the runs that it made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Posted {
    /// The message.
    pub message: Message,
    /// Its runs, in the order of the text.
    pub runs: Vec<Run>,
}

/// A text to put in place of a message's.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditMessage {
    /// New text.
    pub text: String,
}

/// A run: the handling of one addressed message by one agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Run {
    /// Id.
    pub id: String,
    /// `queued`, `running`, `succeeded`, `failed`, `cancelled`, `declined`.
    #[schema(value_type = schema::RunStatus)]
    pub status: String,
    /// Channel name.
    pub channel: String,
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
    /// Why the lease is so.
    #[schema(required = true)]
    pub lease_why: Option<String>,
    /// Native session id.
    #[schema(required = true)]
    pub native: Option<String>,
    /// The exact text sent; only in the answer about one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<String>,
    /// The text that the session has as its system prompt; only in the answer about one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Ids of the lines shown.
    pub shown: Vec<String>,
    /// New messages that the limit left out.
    pub omitted: u64,
    /// Watermark before.
    #[schema(value_type = Option<schema::Watermark>, required = true)]
    pub watermark_before: Option<delivery::Watermark>,
    /// Watermark that success commits.
    #[schema(value_type = Option<schema::Watermark>, required = true)]
    pub watermark_after: Option<delivery::Watermark>,
    /// What it posted.
    pub replies: Vec<Message>,
    /// Reason of a failure or decline.
    #[schema(required = true)]
    pub error: Option<String>,
    /// What its turns took; null: nothing was told.
    #[schema(required = true)]
    pub usage: Option<Usage>,
    /// Its turns, with what each took; only in the answer about one run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    /// Creation.
    #[schema(value_type = schema::Timestamp)]
    pub created_at: Timestamp,
    /// When the turn was staged.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub started_at: Option<Timestamp>,
    /// End.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub ended_at: Option<Timestamp>,
    /// Why it still waits: `behind r3`, `held since r2 was stopped`, `tries again in 30 s (2 of 3)`, `waiting for permission:
    /// k7`; null otherwise.
    #[schema(required = true)]
    pub waiting: Option<String>,
    /// Turns of it that failed for a passing reason, after which it is tried again by itself.
    pub tries: u32,
    /// When it is tried again, while it waits for that.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub again_at: Option<Timestamp>,
    /// The run that it tries again.
    #[schema(required = true)]
    pub retry_of: Option<String>,
    /// Steps; only in the answer about one run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<RunEvent>,
    /// Permission cards; only in the answer about one run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<Permission>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunEvent {
    /// 1, 2, 3, …
    pub n: u64,
    /// Time.
    #[schema(value_type = schema::Timestamp)]
    pub at: Timestamp,
    /// Kind.
    pub kind: String,
    /// Details.
    pub body: serde_json::Value,
}

/// A channel to make.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddChannel {
    /// Name: 1 to 64 of `a-z`, `0-9`, `-`, `_`.
    pub name: String,
    /// The agent of a direct conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<String>,
    /// Who may find it; `public` if absent. A direct conversation is private in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::Access>)]
    pub access: Option<Access>,
    /// Its project: the top folder of a git repository on the server's machine, absolute. For owners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// A channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Channel {
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
    /// Highest event number.
    pub last_seq: u64,
    /// `public` or `private`.
    #[schema(value_type = schema::Access)]
    pub access: Access,
    /// What it is about; may be empty.
    pub topic: String,
    /// Since when it takes no more posts.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub archived_at: Option<Timestamp>,
    /// Since when its agents begin nothing.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub paused_at: Option<Timestamp>,
    /// What whoever asks is in it: `manager`, `member` or null.
    #[schema(value_type = Option<schema::Rank>, required = true)]
    pub rank: Option<Rank>,
    /// Its agents.
    pub agents: Vec<Agent>,
}

/// One variable of an agent's environment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EnvVar {
    /// Name.
    pub name: String,
    /// Value; absent: the server's own is passed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// An agent to bind to a channel. Exactly one of `preset` and `command`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddAgent {
    /// Handle without `@`.
    pub handle: String,
    /// Preset name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// How much of the user's own configuration of the agent holds: one of the preset's profiles, its first if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::Profile>)]
    pub profile: Option<Profile>,
    /// Program and arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Delivery policy.
    #[schema(value_type = schema::Policy)]
    pub delivery: Policy,
    /// Session policy.
    #[schema(value_type = schema::SessionPolicy)]
    pub session: SessionPolicy,
    /// What becomes of a large session that the provider does not cache any more; `reload` if absent.
    #[serde(default)]
    #[schema(value_type = schema::WhenCold)]
    pub when_cold: WhenCold,
    /// Whether people answer its permission requests.
    pub supervised: bool,
    /// Its own environment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
    /// Model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Working directory, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Constant text after the framing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Whose messages make runs of it; `members` if absent.
    #[serde(default)]
    #[schema(value_type = schema::AddressedBy)]
    pub addressed_by: AddressedBy,
    /// How its permission requests are decided; as by default if absent.
    #[serde(default)]
    pub permissions: PermissionRules,
    /// Milliseconds that it may give no sign of life in a turn, 10 to a day; absent: the server's `inactivity_limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inactivity_limit_ms: Option<u64>,
    /// Milliseconds that a turn of it may take, 10 to seven days; absent: the server's `turn_limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_limit_ms: Option<u64>,
    /// Bytes of memory that its processes may have together, from 16 MiB; as the server's configuration says if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
}

/// An agent in a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Agent {
    /// Handle without `@`.
    pub handle: String,
    /// Binding id.
    pub binding_id: String,
    /// Channel name.
    pub channel: String,
    /// Preset, or `custom`.
    pub preset: String,
    /// How much of the user's own configuration of the agent holds.
    #[schema(value_type = schema::Profile)]
    pub profile: Profile,
    /// Program and arguments; empty for those who may not see how it is started.
    pub command: Vec<String>,
    /// Delivery policy.
    #[schema(value_type = schema::Policy)]
    pub delivery: Policy,
    /// Session policy.
    #[schema(value_type = schema::SessionPolicy)]
    pub session: SessionPolicy,
    /// What becomes of a large session that the provider does not cache any more.
    #[schema(value_type = schema::WhenCold)]
    pub when_cold: WhenCold,
    /// Whether people answer its permission requests.
    pub supervised: bool,
    /// Whose messages make runs of it.
    #[schema(value_type = schema::AddressedBy)]
    pub addressed_by: AddressedBy,
    /// How its permission requests are decided, by every kind of tool.
    pub permissions: PermissionRules,
    /// Names of its environment variables; never their values.
    pub env: Vec<String>,
    /// Those of them that are to be passed on from the server's environment, which does not have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_missing: Vec<String>,
    /// Model.
    #[schema(required = true)]
    pub model: Option<String>,
    /// Working directory, if set.
    #[schema(required = true)]
    pub cwd: Option<String>,
    /// `absent`, `saved` (no process, but a session that the next turn reloads), `waiting_for_place`, `starting`, `idle`,
    /// `busy`, `ending`.
    #[schema(value_type = schema::AgentState)]
    pub state: String,
    /// Whether its process lives or its command can be started.
    pub reachable: bool,
    /// Runs that wait or run.
    pub open_runs: usize,
    /// Why it begins none until a person lets it; null otherwise.
    #[schema(required = true)]
    pub hold: Option<Hold>,
    /// Since when it begins none because all agents, or those of its channel, are paused; null otherwise.
    #[serde(default)]
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub paused_at: Option<Timestamp>,
    /// Its own limit of silence in a turn.
    #[schema(required = true)]
    pub inactivity_limit_ms: Option<u64>,
    /// Its own limit of a turn.
    #[schema(required = true)]
    pub turn_limit_ms: Option<u64>,
    /// Bytes of memory that its processes may have together, if they have a limit.
    #[serde(default)]
    #[schema(required = true)]
    pub memory_limit_bytes: Option<u64>,
    /// Bytes that they have, as measured within the last seconds; null where nothing lives or was measured yet.
    #[serde(default)]
    #[schema(required = true)]
    pub memory_bytes: Option<u64>,
}

/// A preset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Preset {
    /// Name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Whether the program was found.
    pub found: bool,
    /// Its profiles; the first is the one that a new agent gets.
    #[schema(value_type = Vec<schema::Profile>)]
    pub profiles: Vec<Profile>,
    /// The command that installs it; absent for what is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
}

/// What the server says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// `highwater`.
    pub name: String,
    /// Version.
    pub version: String,
}

/// Where the routes of the API begin. `GET /api/v1/openapi.json` describes them all.
pub const API: &str = "/api/v1";
