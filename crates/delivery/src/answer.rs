//! The final text of a turn out of its streamed pieces, and its cut into messages (2.4).

mod cut;

pub use cut::split;

use cut::floor_grapheme;

/// Collects the text of one turn. Bounded: past [`ANSWER_BYTES_MAX`] the beginning of a part is kept and the
/// rest counted. A part is what stands between two tool calls.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    current: Part,
    /// The last part before the current one that is not blank.
    earlier: Option<Part>,
    bytes: u64,
}

/// Bytes of answer text kept for one part of a turn; past that the rest is dropped and said.
pub const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Bytes of one posted message at most (2.4 and the limit of a post).
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024;

/// Bytes that are looked at past the limit to find a grapheme's end; most graphemes are far shorter.
const GRAPHEME_BYTES: usize = 256;

impl Answer {
    /// A piece of the agent's text.
    pub fn text(&mut self, piece: &str) {
        self.bytes = self.bytes.saturating_add(piece.len() as u64);
        self.current.push(piece);
    }

    /// A tool call began: what came before it was progress.
    pub fn tool_call(&mut self) {
        let part = std::mem::take(&mut self.current);
        if !part.is_blank() {
            self.earlier = Some(part);
        }
    }

    /// Whether there is text since the last tool call.
    pub fn has_begun(&self) -> bool {
        !self.current.is_blank()
    }

    /// The text after the last tool call, else the last text that is not blank; `None` when there is none.
    /// As streamed, not trimmed; a text that was too long ends with a line that says so.
    pub fn final_text(&self) -> Option<String> {
        let current = Some(&self.current).filter(|part| !part.is_blank());
        current.or(self.earlier.as_ref()).map(Part::told)
    }

    /// Bytes of all text of the turn, kept or not.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[derive(Clone, Debug, Default)]
struct Part {
    kept: String,
    /// Unicode scalar values that came after `kept`.
    dropped: usize,
}

impl Part {
    fn push(&mut self, piece: &str) {
        if self.dropped > 0 {
            self.dropped += piece.chars().count();
            return;
        }
        let room = ANSWER_BYTES_MAX + GRAPHEME_BYTES - self.kept.len();
        let (head, tail) = piece.split_at(piece.floor_char_boundary(room));
        self.kept.push_str(head);
        if self.kept.len() > ANSWER_BYTES_MAX {
            let end = floor_grapheme(&self.kept, ANSWER_BYTES_MAX);
            self.dropped = self.kept[end..].chars().count() + tail.chars().count();
            self.kept.truncate(end);
        }
    }

    fn is_blank(&self) -> bool {
        self.dropped == 0 && self.kept.trim().is_empty()
    }

    fn told(&self) -> String {
        match self.dropped {
            0 => self.kept.clone(),
            dropped => format!("{}\n\n… [{dropped} more characters were too much to keep]", self.kept),
        }
    }
}

#[cfg(test)]
mod tests;
