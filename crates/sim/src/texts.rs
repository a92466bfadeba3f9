//! The texts that stand in front of every turn: the agent's own prefix, Highwater's framing, the brief, a line of status.

use std::fmt::Write as _;

use cost::cache::Identity;
use cost::tokens::Counter;
use delivery::prose;

/// Tokens of the prefix (system and tools) of the published table, Highwater's framing included.
pub const PREFIX_TOKENS: u64 = 2_120;

/// Tokens of the brief of the published table.
pub const BRIEF_TOKENS: u64 = 466;

/// What an agent program says of itself and its tools; [`Texts`] brings it to its length.
const SYSTEM: &str = include_str!("texts/system.txt");

/// What the brief of the published table has beside Highwater's own; [`Texts`] brings it to its length.
const HOUSE_NOTES: &str = include_str!("texts/house-notes.txt");

/// Words of one token each, with the space before them, in the vocabularies of OpenAI.
const FILLERS: [&str; 16] = [
    " service", " branch", " table", " queue", " test", " build", " page", " user", " file", " data",
    " code", " order", " price", " report", " release", " token",
];

/// Fillers that are added at most: a few words at the end of a text. Another tokenizer may leave it shorter or longer.
const FILLERS_MAX: u64 = 64;

/// Which brief is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brief {
    /// Highwater's own.
    Own,
    /// Highwater's own with the notes of a house behind it, together as long as that of the published table.
    Published,
}

/// The texts that are the same for all turns, with their tokens.
#[derive(Clone, Debug)]
pub struct Texts {
    /// The agent program's own system text and tools.
    pub(crate) system: Counted,
    /// Highwater's framing, with the empty line behind it.
    pub(crate) framing: Counted,
    /// The brief.
    pub(crate) brief: Counted,
}

/// A text with its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) text: String,
    pub(crate) tokens: u64,
    pub(crate) identity: Identity,
}

impl Counted {
    pub(crate) fn new(text: String, counter: &dyn Counter) -> Self {
        Self { tokens: counter.count(&text), identity: Identity::of(text.as_bytes()), text }
    }

    /// A text that is brought up to so many tokens with words of one token each, in one last line.
    fn filled(text: &str, tokens: u64, counter: &dyn Counter) -> Self {
        let mut filled = text.trim_end().to_owned();
        let missing = tokens.saturating_sub(counter.count(&filled)).min(FILLERS_MAX);
        let words = usize::try_from(missing).unwrap_or_default();
        filled.extend(FILLERS.iter().cycle().take(words).copied());
        Self::new(filled, counter)
    }
}

impl Texts {
    /// The texts for this brief, brought to their lengths by this counter.
    pub fn new(brief: Brief, counter: &dyn Counter) -> Self {
        let framing = Counted::new(format!("{}\n\n", prose::framing(None)), counter);
        let system = Counted::filled(SYSTEM, PREFIX_TOKENS.saturating_sub(framing.tokens), counter);
        let own = prose::channel_task_brief();
        let brief = match brief {
            Brief::Own => Counted::new(own.to_owned(), counter),
            Brief::Published => Counted::filled(&format!("{own}\n{HOUSE_NOTES}"), BRIEF_TOKENS, counter),
        };
        Self { system, framing, brief }
    }

    /// The agent program's own system text and tools.
    pub fn system(&self) -> &str {
        &self.system.text
    }

    /// Highwater's framing, with the empty line behind it.
    pub fn framing(&self) -> &str {
        &self.framing.text
    }

    /// The brief.
    pub fn brief(&self) -> &str {
        &self.brief.text
    }

    /// Tokens of the prefix.
    pub fn prefix_tokens(&self) -> u64 {
        self.system.tokens + self.framing.tokens
    }

    /// Tokens of the brief.
    pub fn brief_tokens(&self) -> u64 {
        self.brief.tokens
    }
}

/// The line of status of the strategy `unstable` at a turn, counted from 0: 28 tokens of cl100k_base, of which the first
/// five are always the same, and the sixth is never that of the turn before. It ends with the line.
pub(crate) fn status(turn: usize) -> String {
    // Three digits are one token, and a product with a number prime to 900 visits all of them before it repeats.
    let revision = 100 + turn % 900;
    let mut line = format!("Channel status (revision:{revision}");
    let _ = write!(
        line,
        "; {} people reading, {} agents idle, nobody typing, the queue empty, the build green)",
        2 + turn % 4,
        1 + turn % 2
    );
    line.push('\n');
    line
}

#[cfg(test)]
mod tests;
