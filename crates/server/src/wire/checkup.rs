//! What `highwater doctor` finds.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Profile, schema};

/// Something that was found, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Finding {
    /// How it stands.
    pub level: Level,
    /// What was found.
    pub text: String,
    /// What to do about it; absent where nothing needs to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should.
    Ok,
    /// Worth knowing.
    Note,
    /// It works, and costs more or is worth less than it could.
    Warning,
    /// It does not work.
    Fault,
}

/// How the server's machine and the agents of its channels stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Checkup {
    /// The machine.
    pub machine: Vec<Finding>,
    /// The agents that something was found of.
    pub agents: Vec<AgentFindings>,
}

/// What was found of an agent of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentFindings {
    /// Handle.
    pub handle: String,
    /// Channel.
    pub channel: String,
    /// What.
    pub findings: Vec<Finding>,
}

/// What a preset's agent told when it was started and asked; no model was asked anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Examined {
    /// The preset.
    pub preset: String,
    /// What it is.
    pub title: String,
    /// Its profiles.
    #[schema(value_type = Vec<schema::Profile>)]
    pub profiles: Vec<Profile>,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Whether the program was found.
    pub found: bool,
    /// The version that it says it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Milliseconds from its start to its first answer; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ms: Option<u64>,
    /// Whether somebody is logged in.
    pub login: LoginState,
    /// Whether another process can reload its sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reloads: Option<bool>,
    /// Whether its sessions take a true system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<bool>,
    /// Whether a running turn can be steered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steering: Option<bool>,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// Whether somebody is logged in with an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LoginState {
    /// Somebody is, or it needs nobody to be.
    In,
    /// Nobody is.
    Out,
    /// It does not tell before its first turn.
    Unknown,
}
