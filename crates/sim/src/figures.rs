//! What a strategy came to: sums over all turns, and what is made of them.

use std::ops::AddAssign;

use delivery::turn::Lease;
use serde::Serialize;
use serde::ser::SerializeStruct as _;

use crate::channel::Index;
use crate::play::{Block, Kind};

/// Sums over the turns of one strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Turns.
    pub turns: u64,
    /// Turns that began a session.
    pub cold_turns: u64,
    /// Tokens of all requests.
    pub input_tokens: u64,
    /// Of these, the longest common prefix with the session's request before.
    pub cacheable_tokens: u64,
    /// Tokens of the requests of warm turns that were not cacheable.
    pub warm_uncached_tokens: u64,
    /// Tokens of the channel's lines, without headers and notices.
    pub context_tokens: u64,
    /// Of these, lines that some session of this agent had got before.
    pub already_seen_tokens: u64,
    /// The channel's lines.
    pub lines: u64,
    /// Of these, messages that the same session had got before as the addressed one.
    pub repeated_triggers: u64,
    /// Messages since the turn before that the limit of lines left out.
    pub unshown: u64,
    /// Turns in which a list of what is new left something out without a word.
    pub silent_gaps: u64,
}

impl Figures {
    /// The cacheable part of the input, from 0 to 1; 0 without input.
    pub fn ratio(&self) -> f64 {
        quotient(self.cacheable_tokens, self.input_tokens).unwrap_or_default()
    }

    /// Tokens of a warm turn that no cache could have served, in the mean; `None` without warm turns.
    pub fn uncached_per_warm_turn(&self) -> Option<f64> {
        quotient(self.warm_uncached_tokens, self.turns - self.cold_turns)
    }

    pub(crate) fn add_request(&mut self, tokens: u64, cacheable: u64, lease: Lease) {
        self.turns += 1;
        self.input_tokens += tokens;
        self.cacheable_tokens += cacheable;
        match lease {
            Lease::Warm => self.warm_uncached_tokens += tokens - cacheable,
            Lease::Cold | Lease::Restored => self.cold_turns += 1,
        }
    }

    /// Adds the lines among the blocks; `known` tells of each whether it was a line before, and whether addressed.
    pub(crate) fn add_lines(
        &mut self,
        blocks: &[Block],
        shown: &[Index],
        mut known: impl FnMut(Index) -> (bool, bool),
    ) {
        let lines = blocks.iter().filter(|block| block.kind == Kind::Line);
        for (line, index) in lines.zip(shown) {
            let (was_line, was_addressed) = known(*index);
            self.lines += 1;
            self.context_tokens += line.tokens;
            self.already_seen_tokens += if was_line { line.tokens } else { 0 };
            self.repeated_triggers += u64::from(was_addressed);
        }
    }

    pub(crate) fn add_unshown(&mut self, unshown: u64, is_silent: bool) {
        self.unshown += unshown;
        self.silent_gaps += u64::from(is_silent && unshown > 0);
    }
}

impl AddAssign for Figures {
    fn add_assign(&mut self, other: Self) {
        let Self {
            turns,
            cold_turns,
            input_tokens,
            cacheable_tokens,
            warm_uncached_tokens,
            context_tokens,
            already_seen_tokens,
            lines,
            repeated_triggers,
            unshown,
            silent_gaps,
        } = other;
        self.turns += turns;
        self.cold_turns += cold_turns;
        self.input_tokens += input_tokens;
        self.cacheable_tokens += cacheable_tokens;
        self.warm_uncached_tokens += warm_uncached_tokens;
        self.context_tokens += context_tokens;
        self.already_seen_tokens += already_seen_tokens;
        self.lines += lines;
        self.repeated_triggers += repeated_triggers;
        self.unshown += unshown;
        self.silent_gaps += silent_gaps;
    }
}

fn quotient(part: u64, whole: u64) -> Option<f64> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a figure for people; sums stay below 2^53 for any real channel"
    )]
    let quotient = part as f64 / whole as f64;
    (whole > 0).then_some(quotient)
}

impl Serialize for Figures {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Figures", 12)?;
        out.serialize_field("input_tokens", &self.input_tokens)?;
        out.serialize_field("cacheable_tokens", &self.cacheable_tokens)?;
        out.serialize_field("ratio", &rounded(self.ratio(), 4))?;
        out.serialize_field("uncached_per_warm_turn", &self.uncached_per_warm_turn().map(|n| rounded(n, 1)))?;
        out.serialize_field("context_tokens", &self.context_tokens)?;
        out.serialize_field("already_seen_tokens", &self.already_seen_tokens)?;
        out.serialize_field("lines", &self.lines)?;
        out.serialize_field("repeated_triggers", &self.repeated_triggers)?;
        out.serialize_field("unshown", &self.unshown)?;
        out.serialize_field("silent_gaps", &self.silent_gaps)?;
        out.serialize_field("turns", &self.turns)?;
        out.serialize_field("cold_turns", &self.cold_turns)?;
        out.end()
    }
}

fn rounded(number: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (number * scale).round() / scale
}
