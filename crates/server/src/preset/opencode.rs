//! opencode.
//!
//! It resumes and loads its sessions, and tells what each turn used; it takes no system prompt and no steering. It waits for
//! tool servers before it answers `session/new`. Its quirks, each tried with version 1.18.33 at a provider on loopback:
//!
//! - It asks for nothing: commands and edits are carried out unless its settings say otherwise. Every profile has it ask for
//!   commands, edits and pages of the web (`OPENCODE_PERMISSION`, which comes over its settings), in its mode `build`.
//! - With the first turn it asks another model for a title.
//! - The date stands in its system block: at midnight nothing of the cache holds for any session. No setting changes that.
//! - A binary that updates itself under a session may change its instructions.
//! - It writes a line with the address of its schema into settings that have none, whoever starts it.

use std::path::Path;

use agents::Manner;
use serde_json::json;
use storage::Profile;

use super::{Ability, Known, SetUp, variables};

pub(super) const NAME: &str = "opencode";

pub(super) const KNOWN: Known = Known {
    versions: ">=1.18.33, <1.19.0",
    node: None,
    can: &[Ability::Reload],
    login_status: &[],
    login_variables: &[],
    breaks: &[
        "midnight: the date stands in front of everything, so the first turn of a day misses all of it",
    ],
};

pub(super) const PROFILES: &[Profile] = &[Profile::Tidy, Profile::Own, Profile::Lean];

/// The mode in which it works by its settings; `plan` would change nothing.
const MODE: &str = "build";

const ASKING: &[(&str, &str)] =
    &[("OPENCODE_PERMISSION", r#"{"bash": {"*": "ask"}, "edit": {"*": "ask"}, "webfetch": "ask"}"#)];

/// What costs and helps nobody. No title is asked for where there is no agent for it.
const TIDY: &[(&str, &str)] = &[
    ("OPENCODE_CONFIG_CONTENT", r#"{"agent": {"title": {"disable": true}}}"#),
    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
];

/// Nothing that another agent's settings hold either.
const LEAN: &[(&str, &str)] = &[
    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
    ("OPENCODE_DISABLE_CLAUDE_CODE", "1"),
    ("OPENCODE_DISABLE_EXTERNAL_SKILLS", "1"),
    ("OPENCODE_DISABLE_PROJECT_CONFIG", "1"),
];

/// The folder of its configuration in a binding's own.
const FOLDER: &str = "opencode-config";

/// What it is set up with in this profile.
pub(super) fn set_up(profile: Profile, own: &Path) -> SetUp {
    let manner = Manner { mode: Some(MODE.to_owned()), ..Manner::default() };
    let mut env = variables(ASKING);
    match profile {
        Profile::Own => SetUp { env, manner, files: Vec::new() },
        Profile::Tidy => {
            env.extend(variables(TIDY));
            SetUp { env, manner, files: Vec::new() }
        }
        Profile::Lean => {
            let folder = own.join(FOLDER);
            env.extend(variables(LEAN));
            env.push(("XDG_CONFIG_HOME".to_owned(), folder.display().to_string()));
            let files = vec![(folder.join("opencode").join("opencode.json"), settings())];
            SetUp { env, manner, files }
        }
    }
}

/// Four tools of its own.
fn settings() -> String {
    let off = ["glob", "grep", "list", "skill", "task", "todoread", "todowrite", "webfetch"];
    let off: serde_json::Map<_, _> = off.into_iter().map(|tool| (tool.to_owned(), false.into())).collect();
    let settings = json!({
        "$schema": "https://opencode.ai/config.json",
        "agent": {"title": {"disable": true}},
        "share": "disabled",
        "tools": off,
    });
    format!("{settings:#}\n")
}
