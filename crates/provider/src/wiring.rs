//! What points a real agent at the emulated provider: variables and files with dummy keys, and no way to the network beside it.

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use serde_json::json;

/// What an agent gets beside what its preset sets up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// Variables of its environment.
    pub env: Vec<(String, String)>,
    /// Files of its configuration, as paths below the home folder, with their texts. They belong there before it starts.
    pub files: Vec<(PathBuf, String)>,
    /// More variables, where it does not read those files: in a profile with a folder of its own.
    pub instead: Vec<(String, String)>,
}

/// A key that no provider knows.
const KEY: &str = "dummy-key";

/// Connections to other hosts go to the provider as if it were a proxy: it refuses them, and tells of them as strays.
fn shut_in(base_url: &str) -> Vec<(String, String)> {
    let proxies = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
    let direct = ["NO_PROXY", "no_proxy"];
    let to = |names: &[&str], value: &str| -> Vec<(String, String)> {
        names.iter().map(|name| ((*name).to_owned(), value.to_owned())).collect()
    };
    [to(&proxies, base_url), to(&direct, "127.0.0.1,localhost")].concat()
}

/// The wiring of a preset's agent to a provider at `base_url`, which has no path; `None`: nobody knows how.
pub fn wiring(agent: &str, base_url: &str) -> Option<Wiring> {
    let (env, files, instead) = match agent {
        "claude" => (claude(base_url), None, None),
        "codex" => (
            codex(),
            Some((".codex/config.toml", codex_config(base_url))),
            Some(("CODEX_CONFIG", codex_session(base_url))),
        ),
        "opencode" => (
            opencode(),
            Some((".config/opencode/opencode.json", opencode_config(base_url))),
            Some(("OPENCODE_CONFIG_CONTENT", opencode_config(base_url))),
        ),
        "gemini" => (gemini(base_url), Some((".gemini/settings.json", gemini_settings())), None),
        _ => return None,
    };
    let named = |(name, value): (&str, String)| (name.to_owned(), value);
    Some(Wiring {
        env: env.into_iter().map(named).chain(shut_in(base_url)).collect(),
        files: files.into_iter().map(|(path, text)| (PathBuf::from(path), text)).collect(),
        instead: instead.into_iter().map(named).collect(),
    })
}

type Variables = Vec<(&'static str, String)>;

fn claude(base_url: &str) -> Variables {
    let on = |name| (name, "1".to_owned());
    vec![
        ("ANTHROPIC_BASE_URL", base_url.to_owned()),
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        on("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"),
        on("DISABLE_ERROR_REPORTING"),
        on("DISABLE_TELEMETRY"),
        // A connection that is refused or cut is not tried ten times.
        on("CLAUDE_CODE_MAX_RETRIES"),
    ]
}

fn codex() -> Variables {
    vec![("LAB_KEY", KEY.to_owned())]
}

/// Its own provider takes no other address, so there is one more.
fn codex_config(base_url: &str) -> String {
    format!(
        r#"model = "gpt-6-sol"
model_provider = "lab"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.lab]
name = "lab"
base_url = "{base_url}/v1"
wire_api = "responses"
env_key = "LAB_KEY"
request_max_retries = 1
stream_max_retries = 1
"#
    )
}

/// The same for one that reads no file.
fn codex_session(base_url: &str) -> String {
    let lab = json!({
        "name": "lab",
        "base_url": format!("{base_url}/v1"),
        "wire_api": "responses",
        "env_key": "LAB_KEY",
        "request_max_retries": 1,
        "stream_max_retries": 1,
    });
    json!({"model": "gpt-6-sol", "model_provider": "lab", "model_providers": {"lab": lab}}).to_string()
}

fn opencode() -> Variables {
    vec![("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned())]
}

fn opencode_config(base_url: &str) -> String {
    let config = json!({
        // It adds this line to a file that has none.
        "$schema": "https://opencode.ai/config.json",
        "model": "lab/claude-opus-5-5",
        "small_model": "lab/claude-haiku-4-5",
        "enabled_providers": ["lab"],
        "autoupdate": false,
        "share": "disabled",
        "provider": {"lab": {
            "npm": "@ai-sdk/anthropic",
            "name": "lab",
            "options": {"baseURL": format!("{base_url}/v1"), "apiKey": KEY},
            "models": {"claude-opus-5-5": {"name": "large"}, "claude-haiku-4-5": {"name": "small"}},
        }},
    });
    format!("{config:#}\n")
}

fn gemini(base_url: &str) -> Variables {
    vec![("GEMINI_API_KEY", KEY.to_owned()), ("GOOGLE_GEMINI_BASE_URL", base_url.to_owned())]
}

/// With a model that is named, no other one is asked first which of them is to answer.
fn gemini_settings() -> String {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
        "model": {"name": "gemini-3.1-pro-preview"},
    });
    format!("{settings:#}\n")
}
