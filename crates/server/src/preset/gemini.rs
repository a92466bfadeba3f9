//! Gemini CLI.
//!
//! It loads its sessions, and tells what a turn used but for its cache; it takes no system prompt and no steering. It waits
//! for tool servers before it answers `session/new`. Its quirks, each tried with version 0.61.0 at a provider on loopback:
//!
//! - A load within the minute in which its session began destroys the session's history: both write to a file whose name
//!   has the minute. So that minute is waited for.
//! - A load leaves an empty file beside the history. The next start takes that for a broken session and deletes all files
//!   with its name, the history too: a session could be loaded once. So every profile turns the cleaning off
//!   (`sessionRetention`) in a file of defaults, over which the user's own settings win.
//! - It reads such a file only where root alone can write: for others its settings have to be the user's, and `doctor` says which.
//! - In a folder that it does not trust it starts no tool servers, not even Highwater's. Where it works in a folder of
//!   Highwater's, from which is withheld what nobody trusts, it is told that the folder is trusted; a folder that somebody
//!   named is left to its own list.
//! - With no model named, it asks another one before each turn which is to answer: a request beside the turn, and a model
//!   that changes finds nothing in its cache.
//! - It reports usage to its maker.
//! - It ends by itself only when no tool server is left, so it is ended.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::Manner;
use delivery::Timestamp;
use serde_json::{Value, json};
use storage::Profile;

use super::{Ability, Known, Place, SetUp, Works};

pub(crate) const NAME: &str = "gemini";

pub(super) const KNOWN: Known = Known {
    versions: ">=0.61.0, <0.62.0",
    node: Some(20),
    can: &[Ability::Reload],
    login_status: &[],
    login_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    breaks: &[
        "a tool call that its model did not sign: what stood for the signature is left out with the next question",
    ],
};

pub(super) const PROFILES: &[Profile] = &[Profile::Tidy, Profile::Own, Profile::Lean];

/// The mode in which it asks for edits, commands and tools.
const MODE: &str = "default";

const MINUTE_MS: i64 = 60_000;

/// The folder of its configuration in a binding's own.
const FOLDER: &str = "gemini-config";

/// What it is set up with in this profile.
pub(super) fn set_up(profile: Profile, place: Place<'_>) -> SetUp {
    let manner = Manner { mode: Some(MODE.to_owned()), ..Manner::default() };
    let mut env = match place.works {
        Works::Inside => vec![("GEMINI_CLI_TRUST_WORKSPACE".to_owned(), "true".to_owned())],
        Works::Elsewhere => Vec::new(),
    };
    let folder = place.own.join(FOLDER);
    let mut files = Vec::new();
    let mut defaults = |settings: &Value| {
        let path = folder.join("defaults.json");
        env.push(("GEMINI_CLI_SYSTEM_DEFAULTS_PATH".to_owned(), path.display().to_string()));
        files.push(settings_in(&path, settings));
    };
    match profile {
        Profile::Own => defaults(&keeping()),
        Profile::Tidy => defaults(&quiet()),
        Profile::Lean => {
            env.push(("GEMINI_CLI_HOME".to_owned(), folder.display().to_string()));
            files.push(settings_in(&folder.join(".gemini").join("settings.json"), &lean()));
        }
    }
    SetUp { env, manner, files }
}

/// Its sessions are not cleaned away.
fn keeping() -> Value {
    json!({"general": {"sessionRetention": {"enabled": false}}})
}

/// Besides, one model and no reports.
fn quiet() -> Value {
    json!({
        "model": {"name": "pro"},
        "privacy": {"usageStatisticsEnabled": false},
        "general": {
            "sessionRetention": {"enabled": false},
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
        },
    })
}

/// All of its tools but those for a shell, reading, writing and changing files.
const UNUSED: &[&str] = &[
    "activate_skill",
    "enter_plan_mode",
    "glob",
    "google_web_search",
    "grep_search",
    "invoke_agent",
    "list_background_processes",
    "list_directory",
    "read_background_output",
    "update_topic",
    "web_fetch",
];

/// Besides, the key of the environment, four tools, no notes and no skills.
fn lean() -> Value {
    let mut settings = quiet();
    let more = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "tools": {"exclude": UNUSED},
        "context": {"fileName": []},
        "skills": {"enabled": false},
        "experimental": {"enableAgents": false},
    });
    if let (Value::Object(settings), Value::Object(more)) = (&mut settings, more) {
        settings.extend(more);
    }
    settings
}

fn settings_in(path: &Path, settings: &Value) -> (PathBuf, String) {
    (path.to_path_buf(), format!("{settings:#}\n"))
}

/// Until the minute is over in which the session began.
pub(super) fn reload_wait(begun: Timestamp, now: Timestamp) -> Duration {
    let next_minute_ms = (begun.ms.div_euclid(MINUTE_MS) + 1) * MINUTE_MS;
    let wait_ms = (next_minute_ms - now.ms).clamp(0, MINUTE_MS);
    Duration::from_millis(wait_ms.unsigned_abs())
}
