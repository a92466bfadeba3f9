//! What is known of a preset's agent: the versions that it was tried with, and what they can do. Where one differs from
//! it, `highwater doctor` says so. Each preset says it in its own file.

use super::{claude, codex, gemini, opencode};

/// What is known of an agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// The versions that it was tried with, as requirement.
    pub(crate) versions: &'static str,
    /// Major version of Node that it needs at least.
    pub(crate) node: Option<u64>,
    /// What it can do.
    pub(crate) can: &'static [Ability],
    /// Arguments with which its program tells by its exit status whether somebody is logged in.
    pub(crate) login_status: &'static [&'static str],
    /// Variables of which one is as good as a login.
    pub(crate) login_variables: &'static [&'static str],
    /// What it does to the provider's cache by itself, whatever Highwater does.
    pub(crate) breaks: &'static [&'static str],
}

/// What an agent can do beside answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ability {
    /// Its sessions can be reloaded by another process.
    Reload,
    /// Its sessions take a true system prompt.
    SystemPrompt,
    /// A running turn can be steered.
    Steering,
}

impl Ability {
    pub(crate) const ALL: [Self; 3] = [Self::Reload, Self::SystemPrompt, Self::Steering];
}

/// What is known of a preset's agent; of one that is built in nothing needs to be.
pub(crate) fn known(preset: &str) -> Option<&'static Known> {
    match preset {
        claude::NAME => Some(&claude::KNOWN),
        codex::NAME => Some(&codex::KNOWN),
        opencode::NAME => Some(&opencode::KNOWN),
        gemini::NAME => Some(&gemini::KNOWN),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
