//! Token counts: OpenAI's encodings exactly, other families' by a factor.

mod merge;
mod split;
#[cfg(test)]
mod tests;
mod vocabulary;

use serde::Deserialize;

use merge::Parts;
use split::Pattern;
use vocabulary::Vocabulary;

/// Something that counts tokens.
pub trait Counter: Sync {
    /// How many tokens `text` has. Marks such as `<|endoftext|>` are ordinary text.
    fn count(&self, text: &str) -> u64;

    /// The tokens themselves, where they are known.
    fn ids(&self, text: &str) -> Option<Vec<u32>>;
}

/// An encoding of OpenAI's, which its `tiktoken` defines. Nothing has to be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Of GPT-3.5 and GPT-4; the one that the simulator's published figures are counted in.
    Cl100kBase,
    /// Of GPT-4o and later.
    O200kBase,
}

impl Encoding {
    /// The name that `tiktoken` gives it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Cl100kBase => "cl100k_base",
            Encoding::O200kBase => "o200k_base",
        }
    }

    /// The tokens of `text`, as `tiktoken`'s `encode_ordinary` gives them.
    #[must_use]
    pub fn encode(self, text: &str) -> Vec<u32> {
        let vocabulary = self.vocabulary();
        let mut parts = Parts::default();
        let mut ids = Vec::new();
        for piece in split::pieces(text, self.pattern()).map(str::as_bytes) {
            if let Some(id) = vocabulary.rank(piece) {
                ids.push(id);
                continue;
            }
            let starts = parts.of(vocabulary, piece);
            let ends = starts.iter().copied().skip(1).chain([piece.len()]);
            let tokens = starts.iter().zip(ends).filter_map(|(start, end)| piece.get(*start..end));
            ids.extend(tokens.filter_map(|token| vocabulary.rank(token)));
        }
        ids
    }

    fn vocabulary(self) -> &'static Vocabulary {
        match self {
            Encoding::Cl100kBase => &vocabulary::CL100K_BASE,
            Encoding::O200kBase => &vocabulary::O200K_BASE,
        }
    }

    fn pattern(self) -> Pattern {
        match self {
            Encoding::Cl100kBase => split::cl100k_base,
            Encoding::O200kBase => split::o200k_base,
        }
    }
}

impl Counter for Encoding {
    fn count(&self, text: &str) -> u64 {
        let vocabulary = self.vocabulary();
        let mut parts = Parts::default();
        let tokens = |piece: &[u8]| match vocabulary.rank(piece) {
            Some(_) => 1,
            None => parts.of(vocabulary, piece).len() as u64,
        };
        split::pieces(text, self.pattern()).map(str::as_bytes).map(tokens).sum()
    }

    fn ids(&self, text: &str) -> Option<Vec<u32>> {
        Some(self.encode(text))
    }
}

/// An estimate for a family whose encoding is not public: the tokens of a known one, times a factor, rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// What is counted.
    pub encoding: Encoding,
    /// Thousandths of a token for each token counted.
    pub factor_thousandths: u64,
}

impl Counter for Estimate {
    fn count(&self, text: &str) -> u64 {
        (self.encoding.count(text) * self.factor_thousandths).div_ceil(1000)
    }

    fn ids(&self, text: &str) -> Option<Vec<u32>> {
        (self.factor_thousandths == 1000).then(|| self.encoding.encode(text))
    }
}
