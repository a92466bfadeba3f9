//! What of a user's own settings of Claude Code costs the provider's cache. They are read, and never changed.

use std::path::PathBuf;

use serde_json::Value;

use super::{Doctor, remedy};
use crate::wire::{Finding, Level};

/// Bytes of a settings file that are read at most.
const BYTES_MAX: u64 = 1 << 20;

/// Hooks whose output becomes part of the prompt.
const TELLING: [&str; 2] = ["UserPromptSubmit", "SessionStart"];

/// Variables that shorten the life of what is cached or turn the cache off.
const SHORTENING: [&str; 3] =
    ["DISABLE_PROMPT_CACHING", "FORCE_PROMPT_CACHING_5M", "CLAUDE_CODE_PROMPT_CACHE_TTL"];

pub(super) fn settings(doctor: &Doctor) -> Vec<Finding> {
    let Some(path) = file(doctor) else { return Vec::new() };
    let is_small = std::fs::metadata(&path).is_ok_and(|seen| seen.is_file() && seen.len() <= BYTES_MAX);
    let Some(text) = is_small.then(|| std::fs::read_to_string(&path).ok()).flatten() else {
        return Vec::new();
    };
    let shown = path.display().to_string();
    match serde_json::from_str::<Value>(&text) {
        Ok(settings) => of(&settings, &shown),
        Err(error) => vec![remedy(
            Level::Warning,
            format!("{shown} is no JSON ({error}): Claude Code leaves out all of it"),
            "mend it there",
        )],
    }
}

fn file(doctor: &Doctor) -> Option<PathBuf> {
    // Agents do not get the server's CLAUDE_CONFIG_DIR.
    Some(PathBuf::from(doctor.variable("HOME")?).join(".claude").join("settings.json"))
}

/// What of these settings is worth a word.
pub(super) fn of(settings: &Value, path: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for hook in
        TELLING.into_iter().filter(|hook| settings["hooks"][hook].as_array().is_some_and(|h| !h.is_empty()))
    {
        findings.push(remedy(
            Level::Note,
            format!("{path} has a hook {hook}: what it prints becomes part of the prompt"),
            "see that it prints the same each time; a clock or a counter at a session's start keeps sessions from sharing \
             their cache. --profile lean leaves hooks out",
        ));
    }
    let shortening = SHORTENING.into_iter().filter(|name| !settings["env"][name].is_null());
    for name in shortening.chain(Some("promptCacheTtl").filter(|name| settings[name] == "5m")) {
        findings.push(remedy(
            Level::Warning,
            format!("{path} sets {name}: what is cached is gone sooner, and each pause costs the whole conversation"),
            format!("take {name} out there, or use --profile lean"),
        ));
    }
    if settings["model"] == "opusplan" {
        findings.push(remedy(
            Level::Warning,
            format!("{path} sets the model opusplan, which changes the model within a session, and caches are per model"),
            "give the agent one model: highwater agent change … --model NAME",
        ));
    }
    findings
}
