//! Which home folder an agent is measured with, and that nothing in it leads elsewhere than to the emulated provider.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::config::Env;
use crate::failure::{Failure, Kind};

/// A home folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// A new one for each combination.
    Clean,
    /// The user's.
    Own(PathBuf),
}

/// Settings of Claude Code: they go before the variables that it is started with.
const SETTINGS: [&str; 2] = [".claude/settings.json", "/etc/claude-code/managed-settings.json"];

/// Beginnings of variables by which it would talk to somebody else, or as somebody else.
const LEADING: [&str; 3] = ["ANTHROPIC_", "CLAUDE_CODE_USE_", "AWS_"];

impl Home {
    /// The user's, if this agent can be measured in it.
    pub(super) fn own(agent: &str, env: &Env) -> Result<Self, Failure> {
        let invalid = |message: String| {
            Failure::new(Kind::Invalid, format!("--own-home: {message}")).hint("leave --own-home out")
        };
        if provider::wiring(agent, "").is_some_and(|wiring| !wiring.files.is_empty()) {
            let reads = "reads where its provider is from a file of its home, and yours is not changed";
            return Err(invalid(format!("{agent} {reads}")));
        }
        let home = env.text("HOME")?.ok_or_else(|| invalid("HOME is not set".to_owned()))?;
        let home = PathBuf::from(home);
        for path in SETTINGS.map(|path| home.join(path)) {
            if let Some(what) = leads_elsewhere(&path) {
                let message = format!("{} sets {what}, which goes before what is measured", path.display());
                return Err(invalid(message));
            }
        }
        Ok(Self::Own(home))
    }
}

fn leads_elsewhere(path: &Path) -> Option<String> {
    leading(&std::fs::read_to_string(path).ok()?)
}

/// What of these settings leads to another provider, or brings a key.
fn leading(settings: &str) -> Option<String> {
    let settings: Value = serde_json::from_str(settings).ok()?;
    if settings.get("apiKeyHelper").is_some() {
        return Some("apiKeyHelper".to_owned());
    }
    let is_leading = |name: &&String| {
        LEADING.iter().any(|start| name.starts_with(start)) || name.to_lowercase().ends_with("_proxy")
    };
    settings.get("env")?.as_object()?.keys().find(is_leading).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_lead_elsewhere_are_found() {
        let check = |settings: &str, expected: Option<&str>| {
            assert_eq!(leading(settings).as_deref(), expected, "{settings}");
        };
        check("{}", None);
        check("no JSON", None);
        check(r#"{"env": {"EDITOR": "vi"}, "permissions": {"allow": ["Bash(ls:*)"]}}"#, None);
        check(r#"{"env": {"ANTHROPIC_BASE_URL": "https://x"}}"#, Some("ANTHROPIC_BASE_URL"));
        check(r#"{"env": {"CLAUDE_CODE_USE_BEDROCK": "1"}}"#, Some("CLAUDE_CODE_USE_BEDROCK"));
        check(r#"{"env": {"https_proxy": "http://x"}}"#, Some("https_proxy"));
        check(r#"{"apiKeyHelper": "/bin/key"}"#, Some("apiKeyHelper"));
    }
}
