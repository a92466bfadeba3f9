//! The final text of a turn out of its streamed pieces (2.4).

/// Collects the text of one turn. Bounded: past [`ANSWER_BYTES_MAX`] the beginning of a part is kept and the
/// rest counted.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    parts: Vec<String>,
}

/// Bytes of answer text kept for one turn; past that the rest is dropped and said.
pub const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Bytes of one posted message at most (2.4 and the limit of a post).
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024;

impl Answer {
    /// A piece of the agent's text.
    pub fn text(&mut self, piece: &str) {
        let _ = (piece, &mut self.parts);
        unimplemented!()
    }

    /// A tool call began: what came before it was progress.
    pub fn tool_call(&mut self) {
        unimplemented!()
    }

    /// The text after the last tool call, else the last text that is not blank; `None` when there is none.
    pub fn final_text(&self) -> Option<String> {
        unimplemented!()
    }
}

/// A text as messages of at most `bytes_max` bytes, cut at a line end, else a space, else a grapheme; a code
/// fence that a cut leaves open is closed and opened again.
pub fn split(text: &str, bytes_max: usize) -> Vec<String> {
    let _ = (text, bytes_max);
    unimplemented!()
}
