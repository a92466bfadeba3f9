//! The only wire types: what the API takes and gives, as JSON.

mod event;
mod identity;
mod transfer;

use delivery::Timestamp;
use delivery::model::{Policy, SessionPolicy};
use serde::{Deserialize, Serialize};

pub use self::event::{AgentActivity, Bound, ChannelInfo, Event, Happened, Reason, RunState};
pub use self::identity::*;
pub use self::transfer::*;

/// An error: a stable code, a message for people, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// Stable code: `not_found`, `exists`, `invalid`, `conflict`, `unauthorized`, `forbidden`, `too_large`,
    /// `rate_limited`, `storage_full`, `shutting_down`, `internal`.
    pub code: String,
    /// For people.
    pub message: String,
    /// In how many milliseconds it will do; with `rate_limited`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// An author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// `user`, `agent` or `system`.
    pub kind: String,
    /// Person's name as it was then, or handle with `@`.
    pub name: String,
    /// The person, whatever their name is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person_id: Option<String>,
}

/// A message: `M` of the issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Id.
    pub id: String,
    /// Number in the channel's event sequence.
    pub seq: u64,
    /// Creation.
    pub created_at: Timestamp,
    /// Who.
    pub author: Author,
    /// Text; empty once deleted.
    pub text: String,
    /// The thread's root.
    pub thread_root_id: Option<String>,
    /// Channel name.
    pub channel: String,
    /// The run that it answers or tells of.
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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Posted {
    /// The message.
    pub message: Message,
    /// Its runs, in the order of the text.
    pub runs: Vec<Run>,
}

/// A text to put in place of a message's.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditMessage {
    /// New text.
    pub text: String,
}

/// A run: `R` of the issue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Id.
    pub id: String,
    /// `queued`, `running`, `succeeded`, `failed`, `cancelled`, `declined`.
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
    pub thread_root_id: Option<String>,
    /// `cold`, `restored`, `warm`; null before its turn.
    pub lease: Option<String>,
    /// Why the lease is so.
    pub lease_why: Option<String>,
    /// Native session id.
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
    pub watermark_before: Option<delivery::Watermark>,
    /// Watermark that success commits.
    pub watermark_after: Option<delivery::Watermark>,
    /// What it posted.
    pub replies: Vec<Message>,
    /// Reason of a failure or decline.
    pub error: Option<String>,
    /// Tokens, as the agent told them.
    pub usage: Option<Usage>,
    /// Creation.
    pub created_at: Timestamp,
    /// When the turn was staged.
    pub started_at: Option<Timestamp>,
    /// End.
    pub ended_at: Option<Timestamp>,
    /// Why it still waits: `behind r3`, `waiting for a place in the pool`, `starting`; null otherwise.
    pub waiting: Option<String>,
    /// The run that it tries again.
    pub retry_of: Option<String>,
    /// Steps; only in the answer about one run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<RunEvent>,
}

/// Tokens of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Uncached input tokens.
    pub input: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
    /// Read from the provider's cache.
    pub cached_read: Option<u64>,
    /// Written to it.
    pub cached_write: Option<u64>,
    /// Total.
    pub total: Option<u64>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEvent {
    /// 1, 2, 3, …
    pub n: u64,
    /// Time.
    pub at: Timestamp,
    /// Kind.
    pub kind: String,
    /// Details.
    pub body: serde_json::Value,
}

/// A channel to make.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddChannel {
    /// Name: 1 to 64 of `a-z`, `0-9`, `-`, `_`.
    pub name: String,
    /// The agent of a direct conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<String>,
    /// Who may find it; `public` if absent. A direct conversation is private in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
}

/// A channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// Id.
    pub id: String,
    /// Name.
    pub name: String,
    /// The agent of a direct conversation.
    pub direct: Option<String>,
    /// Creation.
    pub created_at: Timestamp,
    /// Highest event number.
    pub last_seq: u64,
    /// `public` or `private`.
    pub access: Access,
    /// What it is about; may be empty.
    pub topic: String,
    /// Since when it takes no more posts.
    pub archived_at: Option<Timestamp>,
    /// What whoever asks is in it: `manager`, `member` or null.
    pub rank: Option<Rank>,
    /// Its agents.
    pub agents: Vec<Agent>,
}

/// One variable of an agent's environment.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvVar {
    /// Name.
    pub name: String,
    /// Value; absent: the server's own is passed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// An agent to bind to a channel. Exactly one of `preset` and `command`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddAgent {
    /// Handle without `@`.
    pub handle: String,
    /// Preset name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Program and arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Delivery policy.
    pub delivery: Policy,
    /// Session policy.
    pub session: SessionPolicy,
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
    pub addressed_by: AddressedBy,
}

/// An agent in a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// Handle without `@`.
    pub handle: String,
    /// Binding id.
    pub binding_id: String,
    /// Channel name.
    pub channel: String,
    /// Preset, or `custom`.
    pub preset: String,
    /// Program and arguments; empty for those who may not see how it is started.
    pub command: Vec<String>,
    /// Delivery policy.
    pub delivery: Policy,
    /// Session policy.
    pub session: SessionPolicy,
    /// Whether people answer its permission requests.
    pub supervised: bool,
    /// Whose messages make runs of it.
    pub addressed_by: AddressedBy,
    /// Names of its environment variables; never their values.
    pub env: Vec<String>,
    /// Those of them that are to be passed on from the server's environment, which does not have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_missing: Vec<String>,
    /// Model.
    pub model: Option<String>,
    /// Working directory, if set.
    pub cwd: Option<String>,
    /// `absent`, `waiting_for_place`, `starting`, `idle`, `busy`, `ending`.
    pub state: String,
    /// Whether its process lives or its command can be started.
    pub reachable: bool,
    /// Runs that wait or run.
    pub open_runs: usize,
}

/// A preset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preset {
    /// Name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Whether the program was found.
    pub found: bool,
    /// The command that installs it; absent for what is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
}

/// What the server says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// `highwater`.
    pub name: String,
    /// Version.
    pub version: String,
}

/// Routes of `/api/v1`, all but `/sign-in` with `Authorization: Bearer <token>`, or with the cookie of a sign-in and the
/// header `x-highwater-session`:
///
/// | | | |
/// | --- | --- | --- |
/// | GET | `/health` | [`Health`] |
/// | GET, POST | `/channels` | `[Channel]`; [`AddChannel`] → [`Channel`] |
/// | POST | `/sign-in` | [`SignIn`] → [`SignedIn`] and a cookie |
/// | POST | `/sign-out` | [`Done`] |
/// | GET | `/me` | [`Me`] |
/// | GET, PATCH | `/channels/{name}` | [`Channel`]; [`ChangeChannel`] → [`Channel`] |
/// | GET | `/channels/{name}/members` | `[Member]` |
/// | PUT, DELETE | `/channels/{name}/members/{person}` | [`Member`]; [`Done`] |
/// | GET | `/channels/{name}/messages?before=&thread=&limit=&html=true` | `[Message]`, oldest first, limit 50, at most 1000 |
/// | POST | `/channels/{name}/messages` | [`PostMessage`] → [`Posted`] |
/// | PATCH, DELETE | `/messages/{id}` | [`EditMessage`] → [`Message`]; [`Message`] |
/// | GET | `/messages/{id}/runs?wait_ms=` | [`Posted`]; waits until all its runs have ended, 30 s at most |
/// | GET | `/search?q=&channel=&limit=` | `[Message]` |
/// | GET, POST | `/people` | `[Person]`; [`AddPerson`] → [`Person`] |
/// | PATCH | `/people/{name}` | [`ChangePerson`] → [`Person`] |
/// | PUT | `/people/{name}/password` | [`SetPassword`] → [`Person`] |
/// | POST | `/invites` | [`AddInvite`] → [`Invite`] |
/// | GET, POST | `/tokens?person=` | `[Token]`; [`AddToken`] → [`NewToken`] |
/// | DELETE | `/tokens/{id}` | [`Token`] |
/// | GET | `/agents?channel=` | `[Agent]` |
/// | POST | `/channels/{name}/agents` | [`AddAgent`] → [`Agent`] |
/// | DELETE | `/channels/{name}/agents/{handle}` | [`Agent`] |
/// | POST | `/channels/{name}/agents/{handle}/fresh` | [`Agent`] |
/// | GET | `/presets` | `[Preset]` |
/// | GET | `/runs?channel=&limit=` | `[Run]`, newest first |
/// | GET | `/runs/{id}` | [`Run`] |
/// | POST | `/runs/{id}/cancel`, `/runs/{id}/retry` | [`Run`] |
/// | GET | `/events?since=&channel=&html=true` | [`Event`]s as server-sent events; `Last-Event-ID` goes before `since` |
/// | GET | `/events/ws?since=&channel=&html=true` | [`Event`]s over a WebSocket |
/// | GET, PUT | `/watermarks` | the object of 5.8 |
/// | GET | `/backup` | the database, as a file |
/// | GET | `/export?channel=` | lines of JSON; `channel` may be repeated |
/// | POST | `/import` | lines of JSON, `content-type: application/jsonl` → [`Imported`] |
pub const API: &str = "/api/v1";
