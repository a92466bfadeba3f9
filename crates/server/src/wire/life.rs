//! Wire types for what becomes of runs: held, paused, steered.

use delivery::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{AddressedBy, EnvVar, Policy, Profile, SessionPolicy, WhenCold, schema};

/// Why an agent begins no run until a person lets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Hold {
    /// `stopped`: a person stopped the run; `crashed`: its process failed too often in a row.
    #[schema(value_type = schema::HoldReason)]
    pub why: storage::HoldReason,
    /// The run since which it does not.
    pub run_id: String,
    /// When that was.
    #[schema(value_type = schema::Timestamp)]
    pub since: Timestamp,
}

impl From<storage::Hold> for Hold {
    fn from(hold: storage::Hold) -> Self {
        Self { why: hold.why, run_id: hold.run.0, since: hold.since }
    }
}

/// A change of an agent's own limits; what is absent stays, 0: as the server's settings say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChangeLimits {
    /// Milliseconds that it may give no sign of life in a turn, 10 to a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inactivity_limit_ms: Option<u64>,
    /// Milliseconds that a turn of it may take, 10 to seven days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_limit_ms: Option<u64>,
    /// Bytes of memory that its processes may have together, from 16 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit_bytes: Option<u64>,
}

/// A change of what an agent was given when it was added; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChangeAgent {
    /// How much of the user's own configuration of the agent holds: one of the preset's profiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::Profile>)]
    pub profile: Option<Profile>,
    /// Delivery policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::Policy>)]
    pub delivery: Option<Policy>,
    /// Session policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::SessionPolicy>)]
    pub session: Option<SessionPolicy>,
    /// What becomes of a large session that the provider does not cache any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::WhenCold>)]
    pub when_cold: Option<WhenCold>,
    /// Whose messages make runs of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::AddressedBy>)]
    pub addressed_by: Option<AddressedBy>,
    /// Model; empty: the agent's own choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Instructions, at most 64 KiB; empty: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Variables of its environment that are set or passed on; others stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
    /// Names of variables that it does not get any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unset_env: Vec<String>,
}

/// Whether all agents are paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Pause {
    /// Since when; null: they are not.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub paused_at: Option<Timestamp>,
}

/// A message to put into the running turn of a run.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Steer {
    /// Text.
    pub text: String,
    /// The client's own id; sending it again gives the same message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
}
