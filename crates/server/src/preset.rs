//! Presets: how well-known agents are started.

use storage::NewBinding;

use crate::error::{ApiError, Code};
use crate::wire;

/// A known agent.
#[derive(Clone, Debug)]
pub(crate) struct Preset {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) command: Vec<String>,
    /// The command that installs it: the version that Highwater was tried with. `None` for what is built in.
    pub(crate) install: Option<&'static str>,
}

/// All presets; the guide is the running program itself.
pub(crate) fn presets(guide: &[String]) -> Vec<Preset> {
    let known = |name, title, command: &[&str], install| Preset {
        name,
        title,
        command: command.iter().map(|part| (*part).to_owned()).collect(),
        install: Some(install),
    };
    vec![
        Preset {
            name: GUIDE,
            title: "Built in: explains Highwater, needs no model",
            command: guide.to_vec(),
            install: None,
        },
        // Pinned: on an older Node, npm would quietly take a much older version.
        known(
            "claude",
            "Claude Code, by @agentclientprotocol/claude-agent-acp",
            &["claude-agent-acp"],
            "npm install -g @agentclientprotocol/claude-agent-acp@0.101.0",
        ),
        known(
            "codex",
            "Codex, by @agentclientprotocol/codex-acp",
            &["codex-acp"],
            "npm install -g @agentclientprotocol/codex-acp@2.6.0",
        ),
        known("opencode", "opencode", &["opencode", "acp"], "npm install -g opencode-ai@1.18.33"),
        known("gemini", "Gemini CLI", &["gemini", "--acp"], "npm install -g @google/gemini-cli@0.61.0"),
    ]
}

/// The command that installs what a preset starts.
pub(crate) fn install(preset: &str) -> Option<&'static str> {
    presets(&[]).into_iter().find(|known| known.name == preset)?.install
}

/// Fills in a binding's command from its preset: exactly one of the two is given.
pub(crate) fn resolve(new: &wire::AddAgent, guide: &[String]) -> Result<(String, Vec<String>), ApiError> {
    match (&new.preset, new.command.is_empty()) {
        (Some(_), false) => Err(ApiError::invalid("give a preset or a command, not both")),
        (None, true) => {
            Err(ApiError::invalid("an agent needs a command to start; give --preset NAME or -- COMMAND ARG…"))
        }
        (None, false) => Ok((CUSTOM.to_owned(), new.command.clone())),
        (Some(name), true) => {
            let all = presets(guide);
            let known: Vec<&str> = all.iter().map(|preset| preset.name).collect();
            match all.iter().find(|preset| preset.name == name) {
                Some(preset) => Ok((name.clone(), preset.command.clone())),
                None => Err(ApiError::new(
                    Code::NotFound,
                    format!(
                        "no preset {name:?}; there are {}. For another agent give its command: -- COMMAND ARG…",
                        known.join(", ")
                    ),
                )),
            }
        }
    }
}

/// The built-in agent: its preset and its first handle.
pub(crate) const GUIDE: &str = "guide";

/// The preset's name of a binding with a command of its own.
pub(crate) const CUSTOM: &str = "custom";

/// The binding that the first channel begins with.
pub(crate) fn guide_binding(channel: &storage::Channel, guide: &[String]) -> NewBinding {
    NewBinding {
        channel: channel.id.clone(),
        handle: GUIDE.to_owned(),
        preset: GUIDE.to_owned(),
        command: guide.to_vec(),
        delivery: delivery::Policy::Lean,
        session: delivery::model::SessionPolicy::Resident,
        when_cold: delivery::model::WhenCold::Reload,
        supervised: true,
        env: Vec::new(),
        model: None,
        cwd: None,
        instructions: None,
        addressed_by: storage::AddressedBy::Members,
        permissions: storage::PermissionRules::default(),
        limits: storage::OwnLimits::default(),
    }
}
