//! The ways of feeding an agent that are compared, as what the server would be set to.

use std::str::FromStr;

use delivery::model::{Policy, SessionPolicy};
use thiserror::Error;

/// A way of feeding an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// The last twelve lines before the mention, every turn; policy `window`.
    Window,
    /// What is new since the session was last told; policy `base`.
    Watermark,
    /// [`Strategy::Watermark`] with a line of channel status in front of the prefix.
    Unstable,
    /// Policy `lean`, but a new session for every mention.
    Fresh,
    /// Policy `lean`, with the brief in the system prompt.
    Highwater,
}

/// Where the brief stands (3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// In front of the first user turn; the brief is in every turn.
    InTurn,
    /// In the system prompt, the brief behind it.
    InSystem,
}

impl Strategy {
    /// All there are, in the order of the table.
    pub const ALL: [Self; 5] = [Self::Window, Self::Watermark, Self::Unstable, Self::Fresh, Self::Highwater];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Watermark => "watermark",
            Self::Unstable => "unstable",
            Self::Fresh => "fresh",
            Self::Highwater => "highwater",
        }
    }

    /// What it is, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Window => "the last lines before each mention, every time",
            Self::Watermark => "what is new since the last turn",
            Self::Unstable => "watermark, with a status line in front of everything",
            Self::Fresh => "a new session for every mention",
            Self::Highwater => "what is new, and nothing that the session has",
        }
    }

    /// The delivery policy that the server has for it.
    pub fn policy(self) -> Policy {
        match self {
            Self::Window => Policy::Window,
            Self::Watermark | Self::Unstable => Policy::Base,
            Self::Fresh | Self::Highwater => Policy::Lean,
        }
    }

    /// The session policy that the server has for it.
    pub fn session(self) -> SessionPolicy {
        match self {
            Self::Window | Self::Watermark | Self::Unstable | Self::Highwater => SessionPolicy::Resident,
            Self::Fresh => SessionPolicy::Fresh,
        }
    }

    pub(crate) fn framing(self) -> Framing {
        match self.policy() {
            Policy::Base | Policy::Window => Framing::InTurn,
            Policy::Lean => Framing::InSystem,
        }
    }

    /// How many blocks stand in front of the conversation.
    pub(crate) fn head_blocks(self) -> usize {
        let prefix = match self.framing() {
            Framing::InTurn => 1,
            Framing::InSystem => 3,
        };
        prefix + usize::from(self.has_status())
    }

    /// Whether a line of status that changes stands in front of the prefix.
    pub(crate) fn has_status(self) -> bool {
        self == Self::Unstable
    }
}

/// A name that no strategy has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no strategy `{0}`; there are window, watermark, unstable, fresh and highwater")]
pub struct UnknownStrategy(pub String);

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
        Self::ALL
            .into_iter()
            .find(|strategy| strategy.name() == name)
            .ok_or_else(|| UnknownStrategy(name.to_owned()))
    }
}
