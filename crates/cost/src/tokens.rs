//! Token counts: OpenAI's encodings exactly, other families' by a factor.

mod pieces;
#[cfg(test)]
mod tests;

use serde::Deserialize;

/// Something that counts tokens.
pub trait Counter: Sync {
    /// How many tokens `text` has. Marks such as `<|endoftext|>` are ordinary text.
    fn count(&self, text: &str) -> u64;

    /// The tokens themselves, where they are known.
    fn ids(&self, text: &str) -> Option<Vec<u32>>;
}

/// An encoding of OpenAI's, which its `tiktoken` defines. Loaded at the first use, once for the whole program.
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
        self.tokenizer().encode(text)
    }

    fn tokenizer(self) -> &'static bpe_openai::Tokenizer {
        match self {
            Encoding::Cl100kBase => bpe_openai::cl100k_base(),
            Encoding::O200kBase => bpe_openai::o200k_base(),
        }
    }
}

impl Counter for Encoding {
    fn count(&self, text: &str) -> u64 {
        let tokenizer = self.tokenizer();
        let pieces = tokenizer.split(text);
        pieces
            .map(|piece| pieces::tokens(*self, piece, || tokenizer.bpe.count(piece.as_bytes())) as u64)
            .sum()
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
