//! Wire types for permissions that agents ask for.

use std::collections::BTreeMap;

use delivery::Timestamp;
use serde::{Deserialize, Serialize};
pub use storage::{AnsweredBy, ChoiceKind, Outcome, Rule, ToolKind};
use utoipa::ToSchema;

use super::schema;

/// A permission card: what an agent asks people for, and what came of it. Its texts are the agent's, cleaned so that
/// nothing in them hides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Permission {
    /// Id.
    pub id: String,
    /// The run whose agent asks.
    pub run_id: String,
    /// Present name of the channel.
    pub channel: String,
    /// Handle of the agent, without `@`.
    pub agent: String,
    /// Binding id; the agent's `answered_by` says who may answer.
    pub binding_id: String,
    /// The message that made the run.
    pub message_id: String,
    /// Thread root.
    #[schema(required = true)]
    pub thread_root_id: Option<String>,
    /// What for, on one line.
    pub title: String,
    /// Kind of tool, in the agent's word: `read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch`,
    /// `switch_mode`, `other`, or one that is not known.
    pub tool_kind: String,
    /// The tool's own name, if told.
    #[schema(required = true)]
    pub tool: Option<String>,
    /// All of it.
    pub details: Vec<PermissionDetail>,
    /// What may be answered.
    pub options: Vec<PermissionOption>,
    /// Since when it waits.
    #[schema(value_type = schema::Timestamp)]
    pub asked_at: Timestamp,
    /// Until when it waits.
    #[schema(value_type = schema::Timestamp)]
    pub until: Timestamp,
    /// How it stands.
    pub status: PermissionStatus,
    /// Number of the option that was chosen.
    #[schema(required = true)]
    pub option: Option<u32>,
    /// Who chose it, under the name that they had then.
    #[schema(required = true)]
    pub decided_by: Option<String>,
    /// When.
    #[schema(value_type = Option<schema::Timestamp>, required = true)]
    pub decided_at: Option<Timestamp>,
    /// Why, where the status alone does not say it.
    #[schema(required = true)]
    pub why: Option<String>,
}

/// How a card stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PermissionStatus {
    /// It waits for an answer.
    Pending,
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

/// A part of what is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PermissionDetail {
    /// What it is.
    pub what: DetailKind,
    /// The file of a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// It. A change has `-`, `+` or a space at the beginning of each line.
    pub text: String,
}

/// What a part of a card is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DetailKind {
    /// A command that would be run.
    Command,
    /// A file or folder that it is about.
    Path,
    /// A change of a file.
    Diff,
    /// Text about it.
    Text,
    /// The tool's whole input, as JSON.
    Input,
}

/// An option of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PermissionOption {
    /// Its number, from 1.
    pub n: u32,
    /// The agent's words for it.
    pub name: String,
    /// What it means.
    #[schema(value_type = schema::ChoiceKind)]
    pub kind: ChoiceKind,
    /// Whether owners alone may choose it.
    pub owners_only: bool,
}

/// An answer to a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerPermission {
    /// Number of the option.
    pub option: u32,
}

/// How an agent's permission requests are decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PermissionRules {
    /// Who answers its cards; `owners` if absent.
    #[schema(value_type = schema::AnsweredBy)]
    pub answered_by: AnsweredBy,
    /// How long a card waits, in milliseconds; the server's setting if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<u64>,
    /// What is done without supervision, by kind of tool.
    #[schema(value_type = BTreeMap<String, schema::Rule>)]
    pub tools: BTreeMap<ToolKind, Rule>,
}

/// A change of how an agent's permission requests are decided; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChangePermissionRules {
    /// Who answers its cards.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<schema::AnsweredBy>)]
    pub answered_by: Option<AnsweredBy>,
    /// How long a card waits, in milliseconds; 0: as the server's setting says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<u64>,
    /// Rules by kind of tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, NewRule>)]
    pub tools: BTreeMap<ToolKind, NewRule>,
}

/// What is to be done from now on with a kind of tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum NewRule {
    /// It is allowed, for this once.
    Allow,
    /// It is allowed inside the agent's own working folder.
    Inside,
    /// People are asked.
    Ask,
    /// It is rejected.
    Reject,
    /// As if nobody had ever said anything.
    Default,
}

impl NewRule {
    /// The rule; `None`: that by default.
    pub fn rule(self) -> Option<Rule> {
        match self {
            Self::Allow => Some(Rule::Allow),
            Self::Inside => Some(Rule::Inside),
            Self::Ask => Some(Rule::Ask),
            Self::Reject => Some(Rule::Reject),
            Self::Default => None,
        }
    }
}

impl From<PermissionRules> for storage::PermissionRules {
    fn from(rules: PermissionRules) -> Self {
        let PermissionRules { answered_by, limit_ms, tools } = rules;
        Self { answered_by, limit_ms, tools }
    }
}
