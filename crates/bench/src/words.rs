//! Texts as people write them, as far as an index can tell: words of unequal frequency, the same in every run.

/// Different words; the rare ones occur once in some thousand messages.
const WORDS: u64 = 8_192;

/// A source of texts.
pub(crate) struct Words {
    state: u64,
}

impl Words {
    /// The same seed gives the same texts.
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(2).wrapping_add(1) }
    }

    /// A text of exactly so many bytes.
    pub(crate) fn text(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            let word = self.word();
            text.push_str(&word);
            text.push(' ');
        }
        text.truncate(bytes);
        if text.ends_with(' ') {
            text.pop();
            text.push('.');
        }
        text
    }

    /// A number below a limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        // xorshift64: no harm in its weaknesses here.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) % limit
    }

    /// The product of two even numbers is mostly small: few words are frequent, most are rare.
    fn word(&mut self) -> String {
        let mut number = self.below(WORDS) * self.below(WORDS) / WORDS;
        let mut word = String::new();
        loop {
            let syllable = [
                "ba", "ce", "di", "fo", "gu", "ha", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu",
                "ze",
            ];
            let digit = usize::try_from(number % 16).unwrap_or_default();
            word.push_str(syllable[digit]);
            number /= 16;
            if number == 0 {
                return word;
            }
        }
    }
}
