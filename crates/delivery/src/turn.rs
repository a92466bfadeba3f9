//! The plan of a turn: what is sent, decided from the lease alone (3.1), and how full it must be (3.6).

mod told;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::clean;
use crate::faults::{Rule, broken};
use crate::model::Policy;

pub use told::{Mention, Telling, Told, UserTurn, user_turn};

/// What a lease says of the session that will answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lease {
    /// New process and new session.
    Cold,
    /// New process that reloaded an exact saved session.
    Restored,
    /// Live process that already had a turn.
    Warm,
}

/// Who speaks in a conversation, for the replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// A person, or anyone who is not the agent itself.
    User,
    /// The agent.
    Assistant,
    /// The host; never replayed.
    System,
    /// A tool; never replayed.
    Tool,
}

/// One message of a conversation with one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Who.
    pub speaker: Speaker,
    /// What, as written.
    pub text: String,
}

/// The conversation of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conversation {
    /// A mention: this one user turn, sent bare (3.3).
    Mention(String),
    /// A direct conversation: every message, the newest last.
    Direct(Vec<Said>),
}

/// Tokens of a direct conversation that `lean` replays at most, a token taken as [`BYTES_PER_TOKEN`] (3.3).
pub const REPLAY_TOKENS_MAX: usize = 50_000;

/// Bytes that are counted as a token where no tokenizer is at hand.
pub const BYTES_PER_TOKEN: usize = 4;

/// What is sent, by the table of 3.1. `framing` is `None` where the session has it already: as its system
/// prompt, or in the history that it restored (3.4).
pub fn plan(lease: Lease, framing: Option<&str>, conversation: &Conversation, policy: Policy) -> String {
    let framing = framing.filter(|_| !broken(Rule::ColdWithFraming));
    match (lease, newest(conversation)) {
        (Lease::Warm, Some(_)) if broken(Rule::OldTurnsOnce) => build_prompt(None, conversation, policy),
        (Lease::Warm, Some(newest)) if broken(Rule::WarmWithoutFraming) => framed(framing, &newest),
        (Lease::Restored, Some(newest)) => framed(framing, &newest),
        (Lease::Cold, _) | (Lease::Restored | Lease::Warm, None) => {
            build_prompt(framing, conversation, policy)
        }
        (Lease::Warm, Some(newest)) => newest.into_owned(),
    }
}

/// Full replay: framing, blank line, the conversation as `User:` / `Assistant:` lines with indented
/// continuation lines; lean keeps the newest 50,000 tokens (bytes / 4) and says what was left out. A mention
/// is its one user turn, bare.
pub fn build_prompt(framing: Option<&str>, conversation: &Conversation, policy: Policy) -> String {
    match conversation {
        Conversation::Mention(turn) => framed(framing, turn),
        Conversation::Direct(said) => framed(framing, &replay(said, policy)),
    }
}

/// The last message that is not from the assistant, the system or a tool; `None` if blank after trimming (3.2).
/// As written: [`plan`] cleans it where a person wrote it.
pub fn latest_user_turn(conversation: &Conversation) -> Option<&str> {
    let newest = match conversation {
        Conversation::Mention(turn) => Some(turn),
        Conversation::Direct(said) => {
            said.iter().rev().find(|said| said.speaker == Speaker::User).map(|said| &said.text)
        }
    };
    newest.map(String::as_str).filter(|text| !text.trim().is_empty())
}

/// The newest user turn as it is sent. A mention's was put together, and cleaned, by the host.
fn newest(conversation: &Conversation) -> Option<Cow<'_, str>> {
    let newest = latest_user_turn(conversation)?;
    Some(match conversation {
        Conversation::Mention(_) => Cow::Borrowed(newest),
        Conversation::Direct(_) => Cow::Owned(clean::text(newest)),
    })
}

fn framed(framing: Option<&str>, turn: &str) -> String {
    match framing {
        Some(framing) if turn.is_empty() => framing.to_owned(),
        Some(framing) => format!("{framing}\n\n{turn}"),
        None => turn.to_owned(),
    }
}

/// What was said as labelled lines, oldest first. However long it is, the newest user turn and what came after
/// it are there.
fn replay(said: &[Said], policy: Policy) -> String {
    let bytes_max = match policy {
        Policy::Lean => REPLAY_TOKENS_MAX * BYTES_PER_TOKEN,
        Policy::Base | Policy::Window => usize::MAX,
    };
    let mut spoken = said.iter().rev().filter_map(|said| Some((said, label(said.speaker)?)));
    let (mut lines, mut bytes, mut has_user_turn) = (Vec::new(), 0usize, false);
    let mut left_out = 0usize;
    for (said, label) in spoken.by_ref() {
        let line = format!("{label}: {}", clean::body(&said.text));
        bytes += line.len() + 1;
        if bytes > bytes_max && has_user_turn {
            left_out = 1;
            break;
        }
        has_user_turn |= said.speaker == Speaker::User;
        lines.push(line);
    }
    left_out += spoken.count();
    if left_out > 0 {
        lines.push(format!("({left_out} earlier messages not shown; channel_history has them)"));
    }
    lines.reverse();
    lines.join("\n")
}

/// The label of a speaker whose words are replayed.
fn label(speaker: Speaker) -> Option<&'static str> {
    match speaker {
        Speaker::User => Some("User"),
        Speaker::Assistant => Some("Assistant"),
        Speaker::System | Speaker::Tool => None,
    }
}

#[cfg(test)]
mod tests;
