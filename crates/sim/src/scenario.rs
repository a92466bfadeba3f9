//! Made channels: the built-in scenario of 30 mentions, and others of any size, both drawn from a seed.
//!
//! The frame of the built-in scenario is fixed: which message mentions, which is a pasted log. The seed picks the words
//! and who says them. Lengths are steered: of a few sentences that are drawn, the one is taken that keeps the
//! characters so far closest to a mean, so that any seed makes a channel that costs about the same.

mod frame;
mod words;
mod writer;

use delivery::{Author, AuthorKind, Timestamp};

use crate::channel::{Channel, Mention, Reply};
use crate::random::Random;
use writer::Writer;

pub use frame::{BUILT_IN, Size, SizeError};

/// The seed of the published table.
pub const SEED: u64 = 1;

/// Handle of the agent that is played in the built-in scenario.
pub const AGENT: &str = "claude";

/// Handle of the agent that is a member, but not played.
pub const OTHER_AGENT: &str = "codex";

/// When the first message of a made channel is written.
const BEGIN: Timestamp = Timestamp { ms: 1_796_029_200_000 };

/// The pause before a message at most, in seconds; it is never less than [`PAUSE_MIN_S`].
const PAUSE_MAX_S: usize = 150;

/// See [`PAUSE_MAX_S`].
const PAUSE_MIN_S: i64 = 4;

/// A made channel: five people and an agent that is not played write; some messages are pasted logs, some mention an
/// agent that is played. [`BUILT_IN`] is the scenario of the published table. The same size and seed give the same
/// channel, byte for byte.
///
/// # Errors
///
/// If the size makes no sense.
pub fn make(size: Size, seed: u64) -> Result<Channel, SizeError> {
    let frame = frame::frame(size)?;
    let agents: Vec<String> = match size.residents {
        1 => vec![AGENT.to_owned()],
        many => (1..=many).map(|n| format!("{AGENT}-{n}")).collect(),
    };
    let mut channel = Channel::new("general", agents.clone());
    let mut writer = Writer::new(Random::new(seed));
    let mut pauses = Random::new(!seed);
    let mut at = BEGIN;
    let mut mentions = 0;
    for place in frame {
        let pause = PAUSE_MIN_S + i64::try_from(pauses.below(PAUSE_MAX_S)).unwrap_or_default();
        at.ms += pause * 1_000;
        match place {
            frame::Place::Said => {
                let said = writer.say();
                channel.push(&author(&said.author), at, &said.text, None);
            }
            frame::Place::Known => {
                let said = writer.say_known();
                channel.push(&author(&said.author), at, &said.text, None);
            }
            frame::Place::Log => {
                let said = writer.paste();
                channel.push(&author(&said.author), at, &said.text, None);
            }
            frame::Place::Mention => {
                let agent = mentions % agents.len();
                let said = writer.ask(&agents[agent]);
                mentions += 1;
                if let Some(message) = channel.push(&author(&said.author), at, &said.text, None) {
                    let reply = channel.push_reply(&writer.reply());
                    channel.push_mention(Mention { message, agent, reply });
                }
            }
        }
    }
    Ok(channel)
}

/// Answers for a transcript that has none of its own, drawn from the seed.
pub(crate) struct Answers(Writer);

impl Answers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Writer::new(Random::new(seed)))
    }

    /// Gives every mention of a channel that has no answer a made one.
    pub(crate) fn fill(&mut self, channel: &mut Channel) {
        for number in 0..channel.mentions().len() {
            if channel.mentions().get(number).is_some_and(|mention| mention.reply == Reply::None) {
                let reply = channel.push_reply(&self.0.reply());
                channel.answer(number, reply);
            }
        }
    }
}

fn author(name: &str) -> Author {
    let kind = if name.starts_with('@') { AuthorKind::Agent } else { AuthorKind::User };
    Author { kind, name: name.to_owned() }
}

#[cfg(test)]
mod tests;
