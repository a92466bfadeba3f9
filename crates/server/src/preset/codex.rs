//! Codex, driven by `@agentclientprotocol/codex-acp`.
//!
//! It resumes and loads its sessions, takes a system prompt and steering, and tells what each turn used. Its quirks, each
//! tried with version 2.6.0 (Codex 0.166.0) at a provider on loopback:
//!
//! - It starts in the mode `agent`, in which a reviewer of 10,000 tokens decides instead of people. Every profile sets
//!   `workspace-write`: within its folder it works in a sandbox, and for all else people or Highwater's rules are asked.
//! - It begins a turn whether or not the tool servers are ready that Highwater offers, unless `session/new` asks it to wait
//!   (`mcpStartupAwaitTimeoutMs`). For the user's own ones it waits one second (`mcp_optional_startup_grace_ms`).
//! - After the first turn it asks another model, `gpt-5.6-luna`, for a title, with all its instructions: 10,000 tokens that
//!   no cache has. It does not where the session has a title already.
//! - With gpt-6 models tools stand in no request: the model writes JavaScript that finds them as it runs. So a tool server
//!   that comes or goes breaks no prefix.
//! - Its instructions for skills, helpers and permissions are a fifth of its first request.

use std::path::Path;

use agents::Manner;
use serde_json::{Map, Value};
use storage::Profile;

use super::{Ability, Known, SetUp, TITLE, variables};

pub(super) const NAME: &str = "codex";

pub(super) const KNOWN: Known = Known {
    versions: ">=2.6.0, <2.7.0",
    node: Some(20),
    can: &Ability::ALL,
    login_status: &[],
    login_variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
    breaks: &[],
};

pub(super) const PROFILES: &[Profile] = &[Profile::Tidy, Profile::Own, Profile::Lean];

/// The mode in which it asks for what its sandbox does not allow.
const MODE: &str = "workspace-write";

/// How long it may wait for tool servers, in milliseconds: longer than one takes that is to be used.
const TOOLS_WAIT_MS: u32 = 20_000;

const TIDY: &[(&str, &str)] = &[("CODEX_CONFIG", r#"{"mcp_optional_startup_grace_ms": 20000}"#)];

/// The key is taken from the environment, where no login is.
const LEAN: &[(&str, &str)] = &[("DEFAULT_AUTH_REQUEST", r#"{"methodId": "api-key"}"#)];

/// The folder of its configuration in a binding's own.
const FOLDER: &str = "codex-home";

/// No notes of a project, and no tools but the shell's, patches and Highwater's.
const SETTINGS: &str = r#"project_doc_max_bytes = 0
web_search = "disabled"
check_for_update_on_startup = false
include_permissions_instructions = false

[features]
apps = false
browser_use = false
computer_use = false
goals = false
image_generation = false
multi_agent = false
plugins = false
sleep_tool = false
tool_suggest = false

[skills]
include_instructions = false

[skills.bundled]
enabled = false
"#;

/// What it is set up with in this profile.
pub(super) fn set_up(profile: Profile, own: &Path) -> SetUp {
    let mut meta = Map::new();
    meta.insert("mcpStartupAwaitTimeoutMs".to_owned(), Value::from(TOOLS_WAIT_MS));
    let manner = |title: Option<&str>| Manner {
        meta: meta.clone(),
        mode: Some(MODE.to_owned()),
        title: title.map(str::to_owned),
        ..Manner::default()
    };
    match profile {
        Profile::Own => SetUp { manner: manner(None), ..SetUp::default() },
        Profile::Tidy => SetUp { env: variables(TIDY), manner: manner(Some(TITLE)), files: Vec::new() },
        Profile::Lean => {
            let folder = own.join(FOLDER);
            let mut env = variables(LEAN);
            env.push(("CODEX_HOME".to_owned(), folder.display().to_string()));
            let files = vec![(folder.join("config.toml"), SETTINGS.to_owned())];
            SetUp { env, manner: manner(Some(TITLE)), files }
        }
    }
}
