//! Presets: how well-known agents are started, and how much of the user's own configuration they keep.

pub(crate) mod claude;
mod codex;
pub(crate) mod gemini;
mod known;
mod opencode;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::Manner;
use delivery::Timestamp;
use storage::{NewBinding, Profile};

use crate::error::{ApiError, Code};
use crate::wire;

pub(crate) use known::{Ability, Known, known};

/// A known agent.
#[derive(Clone, Debug)]
pub(crate) struct Preset {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) command: Vec<String>,
    /// The command that installs it: the version that Highwater was tried with. `None` for what is built in.
    pub(crate) install: Option<&'static str>,
    /// Its profiles; a new binding gets the first.
    pub(crate) profiles: &'static [Profile],
}

/// What a preset does for a binding beside starting its command.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SetUp {
    /// Variables of the agent's environment.
    pub(crate) env: Vec<(String, String)>,
    /// What its sessions begin with.
    pub(crate) manner: Manner,
    /// Files that are written before it starts, in the binding's own folder.
    pub(crate) files: Vec<(PathBuf, String)>,
}

/// Where a binding's agent works, and what is its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The binding's own folder.
    pub(crate) own: &'a Path,
    /// Whose folder it works in.
    pub(crate) works: Works,
}

/// Whose folder an agent works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Works {
    /// Highwater's: the binding's own, or a worktree, from which what nobody trusts is withheld.
    Inside,
    /// One that somebody named for it, with whatever is in it.
    Elsewhere,
}

/// What `preset` sets up in this profile.
pub(crate) fn set_up(preset: &str, profile: Profile, place: Place<'_>) -> SetUp {
    match preset {
        claude::NAME => claude::set_up(profile, place.own),
        codex::NAME => codex::set_up(profile, place.own),
        opencode::NAME => opencode::set_up(profile, place.own),
        gemini::NAME => gemini::set_up(profile, place),
        _ => SetUp::default(),
    }
}

/// How long a session that began at `begun` must not be reloaded yet.
pub(crate) fn reload_wait(preset: &str, begun: Timestamp, now: Timestamp) -> Duration {
    if preset == gemini::NAME { gemini::reload_wait(begun, now) } else { Duration::ZERO }
}

/// Spares an agent the request for one; it stands in the user's list of sessions.
const TITLE: &str = "Highwater";

fn variables(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The versions that a preset's agent was tried with, where that is known.
pub(crate) fn versions(preset: &str) -> Option<agents::Versions> {
    known(preset).and_then(|known| agents::Versions::new(known.versions))
}

/// All presets; the guide is the running program itself.
pub(crate) fn presets(guide: &[String]) -> Vec<Preset> {
    let known = |name, title, command: &[&str], install, profiles| Preset {
        name,
        title,
        command: command.iter().map(|part| (*part).to_owned()).collect(),
        install: Some(install),
        profiles,
    };
    vec![
        Preset {
            name: GUIDE,
            title: "Built in: explains Highwater, needs no model",
            command: guide.to_vec(),
            install: None,
            profiles: UNTOUCHED,
        },
        // Pinned: on an older Node, npm would quietly take a much older version.
        known(
            claude::NAME,
            "Claude Code, by @agentclientprotocol/claude-agent-acp",
            &["claude-agent-acp"],
            "npm install -g @agentclientprotocol/claude-agent-acp@0.101.0",
            claude::PROFILES,
        ),
        known(
            codex::NAME,
            "Codex, by @agentclientprotocol/codex-acp",
            &["codex-acp"],
            "npm install -g @agentclientprotocol/codex-acp@2.6.0",
            codex::PROFILES,
        ),
        known(
            opencode::NAME,
            "opencode",
            &["opencode", "acp"],
            "npm install -g opencode-ai@1.18.33",
            opencode::PROFILES,
        ),
        known(
            gemini::NAME,
            "Gemini CLI",
            &["gemini", "--acp"],
            "npm install -g @google/gemini-cli@0.61.0",
            gemini::PROFILES,
        ),
    ]
}

/// The profiles of an agent that is run as it is.
const UNTOUCHED: &[Profile] = &[Profile::Own];

/// Whether a preset's agent keeps transcripts that tell what its turns took.
pub(crate) fn keeps_transcripts(preset: &str) -> bool {
    preset == claude::NAME
}

/// The folder below which they stand, by the agent's environment.
pub(crate) fn transcripts(preset: &str, env: &[(String, String)]) -> Option<PathBuf> {
    if preset == claude::NAME { claude::transcripts(env) } else { None }
}

/// For how long the provider keeps what a preset's agent has it cache, in milliseconds, since that was last asked for;
/// `None`: that is not known.
pub(crate) fn keeps_ms(preset: &str, profile: Profile) -> Option<u64> {
    match preset {
        claude::NAME => Some(claude::keeps_ms(profile)),
        _ => None,
    }
}

/// The command that installs what a preset starts.
pub(crate) fn install(preset: &str) -> Option<&'static str> {
    presets(&[]).into_iter().find(|known| known.name == preset)?.install
}

/// What a new binding runs.
pub(crate) struct Chosen {
    pub(crate) preset: String,
    pub(crate) profile: Profile,
    pub(crate) command: Vec<String>,
}

/// Fills in a binding's command and profile from its preset: exactly one of preset and command is given.
pub(crate) fn resolve(new: &wire::AddAgent, guide: &[String]) -> Result<Chosen, ApiError> {
    match (&new.preset, new.command.is_empty()) {
        (Some(_), false) => Err(ApiError::invalid("give a preset or a command, not both")),
        (None, true) => {
            Err(ApiError::invalid("an agent needs a command to start; give --preset NAME or -- COMMAND ARG…"))
        }
        (None, false) => {
            let profile = profile(CUSTOM, new.profile, UNTOUCHED)?;
            Ok(Chosen { preset: CUSTOM.to_owned(), profile, command: new.command.clone() })
        }
        (Some(name), true) => {
            let all = presets(guide);
            let known: Vec<&str> = all.iter().map(|preset| preset.name).collect();
            let Some(preset) = all.iter().find(|preset| preset.name == name) else {
                return Err(ApiError::new(
                    Code::NotFound,
                    format!(
                        "no preset {name:?}; there are {}. For another agent give its command: -- COMMAND ARG…",
                        known.join(", ")
                    ),
                ));
            };
            let profile = profile(name, new.profile, preset.profiles)?;
            Ok(Chosen { preset: name.clone(), profile, command: preset.command.clone() })
        }
    }
}

fn profile(preset: &str, wanted: Option<Profile>, has: &[Profile]) -> Result<Profile, ApiError> {
    let first = has.first().copied().unwrap_or_default();
    let wanted = wanted.unwrap_or(first);
    if has.contains(&wanted) {
        return Ok(wanted);
    }
    let names: Vec<&str> = has.iter().map(|profile| name_of(*profile)).collect();
    Err(ApiError::invalid(format!(
        "{preset} has no profile {}; it has {}: leave --profile out, or give one of these",
        name_of(wanted),
        names.join(", ")
    )))
}

/// Refuses a profile that a preset, or a command of one's own, does not have.
pub(crate) fn check_profile(preset: &str, wanted: Profile) -> Result<(), ApiError> {
    let has =
        presets(&[]).into_iter().find(|known| known.name == preset).map_or(UNTOUCHED, |known| known.profiles);
    profile(preset, Some(wanted), has).map(drop)
}

fn name_of(profile: Profile) -> &'static str {
    match profile {
        Profile::Own => "own",
        Profile::Tidy => "tidy",
        Profile::Lean => "lean",
    }
}

/// The built-in agent: its preset and its first handle.
pub(crate) const GUIDE: &str = "guide";

/// Whether a preset has this profile.
pub(crate) fn has_profile(preset: &str, profile: Profile) -> bool {
    presets(&[]).iter().any(|known| known.name == preset && known.profiles.contains(&profile))
}

/// The preset's name of a binding with a command of its own.
pub(crate) const CUSTOM: &str = "custom";

/// The binding that the first channel begins with.
pub(crate) fn guide_binding(channel: &storage::Channel, guide: &[String]) -> NewBinding {
    NewBinding {
        channel: channel.id.clone(),
        handle: GUIDE.to_owned(),
        preset: GUIDE.to_owned(),
        profile: Profile::Own,
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
