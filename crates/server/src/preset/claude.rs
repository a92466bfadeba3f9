//! Claude Code, driven by `@agentclientprotocol/claude-agent-acp`.
//!
//! Its quirks, each tried with version 0.101.0 (Claude Code 2.1.318) at a provider on loopback:
//!
//! - It starts in the permission mode `auto`, in which a classifier of 36,000 tokens is asked instead of people, up to ten
//!   times for one call. Every profile sets the mode `default`, so that people or Highwater's rules are asked.
//! - As long as it is in `auto` it describes its Bash otherwise, and a session keeps what its first moment had: with the mode set
//!   by the protocol alone, half of the sessions shared no tools with the other half. So under `tidy` it starts in its mode, too.
//! - The first block of its system prompt changes with the first message of a session
//!   (`CLAUDE_CODE_ATTRIBUTION_HEADER`): with it, no two sessions have a prefix in common.
//! - Beside each turn it asks the model for a title (once) and for what the user might type next (every turn from the
//!   second): requests that nobody sees here.
//! - With a key, what it caches is kept for 5 minutes unless it is told otherwise; a channel has longer pauses.
//! - A binary that updates itself under a session loses that session's cache.
//! - Some of its tools act after the turn, or in other sessions of the machine; together they are a quarter of what it sends first.
//! - Memory, git's state, tool search and skills make the first request four times as long.

use std::path::{Path, PathBuf};

use agents::Manner;
use serde_json::{Map, Value, json};
use storage::Profile;

use super::{Ability, Known, SetUp, TITLE, variables};

pub(crate) const NAME: &str = "claude";

pub(super) const KNOWN: Known = Known {
    versions: ">=0.101.0, <0.102.0",
    node: Some(22),
    can: &Ability::ALL,
    login_status: &["--cli", "auth", "status"],
    login_variables: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    breaks: &["twelve or more tool calls in one answer, with providers that look back over each of them"],
};

pub(super) const PROFILES: &[Profile] = &[Profile::Tidy, Profile::Own, Profile::Lean];

/// The mode in which it asks for what its settings do not allow.
const MODE: &str = "default";

/// What costs and helps nobody.
const TIDY: &[(&str, &str)] = &[
    ("CLAUDE_CODE_ATTRIBUTION_HEADER", "0"),
    ("CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION", "false"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("ENABLE_PROMPT_CACHING_1H", "1"),
];

/// Tools that lead out of the turn that is asked for. They wake the session when nobody addressed it, where what it says
/// reaches nobody; reach sessions of other channels; change mode or working folder under Highwater; or are shown by a
/// terminal alone. Described, they are a quarter of its first request.
const APART: &[&str] = &[
    "CronCreate",
    "CronDelete",
    "CronList",
    "Monitor",
    "ScheduleWakeup",
    "Workflow",
    "ListAgents",
    "SendMessage",
    "EnterPlanMode",
    "ExitPlanMode",
    "EnterWorktree",
    "ExitWorktree",
    "ReportFindings",
];

/// What makes its prompts long.
const LEAN: &[(&str, &str)] = &[
    ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
    ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    ("CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS", "1"),
    ("ENABLE_TOOL_SEARCH", "false"),
];

/// Where it keeps the transcripts of its sessions: `projects` in its configuration, a folder for each working folder.
pub(super) fn transcripts(env: &[(String, String)]) -> Option<PathBuf> {
    let value = |name: &str| env.iter().find(|(own, _)| own == name).map(|(_, value)| PathBuf::from(value));
    let folder = value("CLAUDE_CONFIG_DIR").or_else(|| value("HOME").map(|home| home.join(".claude")))?;
    Some(folder.join("projects"))
}

/// For how long what it caches is kept: with the variable of `TIDY` an hour. Without, that depends on how the user logs in,
/// and is 5 minutes for keys.
pub(super) fn keeps_ms(profile: Profile) -> u64 {
    match profile {
        Profile::Own => 5 * 60_000,
        Profile::Tidy | Profile::Lean => 60 * 60_000,
    }
}

/// The folder of its configuration in a binding's own.
const FOLDER: &str = "claude-config";

/// What it is set up with in this profile.
pub(super) fn set_up(profile: Profile, own: &Path) -> SetUp {
    let mode = Some(MODE.to_owned());
    match profile {
        Profile::Own => SetUp { manner: Manner { mode, ..Manner::default() }, ..SetUp::default() },
        Profile::Tidy => SetUp {
            env: variables(TIDY),
            manner: Manner {
                mode,
                meta: meta(&json!({
                    "title": TITLE,
                    "promptSuggestions": false,
                    "disallowedTools": APART,
                    "extraArgs": {"permission-mode": MODE},
                })),
                ..Manner::default()
            },
            files: Vec::new(),
        },
        Profile::Lean => {
            let folder = own.join(FOLDER);
            let mut env = variables(TIDY);
            env.extend(variables(LEAN));
            env.push(("CLAUDE_CONFIG_DIR".to_owned(), folder.display().to_string()));
            let options = json!({
                "title": TITLE,
                "promptSuggestions": false,
                "tools": ["Bash", "Read", "Edit", "Write"],
                "settingSources": ["user"],
                "skills": [],
                "strictMcpConfig": true,
            });
            let manner = Manner { mode, meta: meta(&options), ..Manner::default() };
            SetUp { env, manner, files: vec![settings(&folder)] }
        }
    }
}

fn settings(folder: &Path) -> (PathBuf, String) {
    let allowed = format!("mcp__{}", agents::TOOL_SERVER);
    let settings = json!({"permissions": {"defaultMode": MODE, "allow": [allowed]}});
    (folder.join("settings.json"), format!("{settings:#}\n"))
}

fn meta(options: &Value) -> Map<String, Value> {
    let mut meta = Map::new();
    meta.insert("claudeCode".to_owned(), json!({"options": options}));
    meta
}
