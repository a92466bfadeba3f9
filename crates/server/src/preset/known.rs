//! What is known of each preset's agent: the versions that it was tried with, and what they can do. Where one differs from
//! it, `highwater doctor` says so.

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
    KNOWN.iter().find(|(name, _)| *name == preset).map(|(_, known)| known)
}

const KNOWN: [(&str, Known); 4] = [
    (
        "claude",
        Known {
            versions: ">=0.101.0, <0.102.0",
            node: Some(22),
            can: &Ability::ALL,
            login_status: &["--cli", "auth", "status"],
            login_variables: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
            breaks: &[
                "twelve or more tool calls in one answer, with providers that look back over each of them",
            ],
        },
    ),
    (
        "codex",
        Known {
            versions: ">=2.6.0, <2.7.0",
            node: Some(20),
            can: &Ability::ALL,
            login_status: &[],
            login_variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
            breaks: &[],
        },
    ),
    (
        "opencode",
        Known {
            versions: ">=1.18.33, <1.19.0",
            node: None,
            can: &[Ability::Reload],
            login_status: &[],
            login_variables: &[],
            breaks: &[
                "midnight: the date stands in front of everything, so the first turn of a day misses all of it",
            ],
        },
    ),
    (
        "gemini",
        Known {
            versions: ">=0.61.0, <0.62.0",
            node: Some(20),
            can: &[Ability::Reload],
            login_status: &[],
            login_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            breaks: &[
                "a tool call that its model did not sign: what stood for the signature is left out with the next question",
            ],
        },
    ),
];

#[cfg(test)]
mod tests;
