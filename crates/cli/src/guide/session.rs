//! What one session was told so far, and what it would have been told without a watermark.

use std::collections::VecDeque;

use delivery::{Limits, prose};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::turn::{Extent, Mention, Place, Turn};

/// What a session was told. Sizes are in bytes.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Session {
    /// Turns, the present one counted.
    pub(super) turns: usize,
    /// Turns that brought the framing.
    pub(super) framed: usize,
    /// Turns that were mentions.
    pub(super) mentions: usize,
    /// All that came.
    pub(super) bytes: usize,
    /// Channel lines that came.
    pub(super) lines: usize,
    /// New messages that were left out.
    pub(super) left_out: usize,
    /// What would have come under the policy `window`: the newest lines, payload and brief whole, every time.
    pub(super) window_bytes: usize,
    /// Whether this is the first turn since a new process loaded it.
    #[serde(skip)]
    pub(super) reloaded: bool,
    /// Every field of the payload as it was told last, but for the text once it was answered.
    facts: Map<String, Value>,
    /// Size of the brief as it was told last.
    brief: usize,
    /// Size of the newest header.
    header: usize,
    /// Sizes of the newest lines of the channel, those counted that came as payload or were written here.
    newest: VecDeque<usize>,
}

impl Session {
    /// Where the next turn stands.
    pub(super) fn place(&self) -> Place {
        if self.turns == 0 || self.reloaded { Place::First } else { Place::Later }
    }

    /// A turn came.
    pub(super) fn told(&mut self, turn: &Turn<'_>) {
        self.turns += 1;
        self.framed += usize::from(turn.framing.is_some());
        self.bytes += turn.exact.len();
        self.window_bytes += match turn.mention() {
            Some(mention) => turn.framing.map_or(0, str::len) + self.mentioned(mention),
            None => turn.exact.len(),
        };
    }

    /// An answer went out: for `window`, a line of the channel like any other.
    pub(super) fn answered(&mut self, answer: &str) {
        self.line("- [agent] @guide: ".len() + cut(answer));
        self.reloaded = false;
        self.facts.remove("text");
    }

    /// Takes a mention in; the size that its user turn would have had under `window`.
    fn mentioned(&mut self, mention: &Mention<'_>) -> usize {
        self.mentions += 1;
        self.facts.extend(mention.facts.clone());
        if mention.has_brief() {
            self.brief = mention.guidance.len();
        }
        if let Some(block) = &mention.block {
            self.header = block.exact.lines().next().map_or(0, str::len);
            self.lines += block.lines.len();
            self.left_out += block.left_out;
            match block.extent {
                Extent::Snapshot => self.newest.clear(),
                Extent::Delta => {}
            }
            // What is told of an edit or a deletion is no line of its own for a session without a watermark.
            let news = |line: &&&str| !line.starts_with("[edited]") && !line.starts_with("[deleted]");
            block.lines.iter().filter(news).for_each(|line| self.line("- ".len() + line.len()));
        }
        let payload = Value::Object(self.facts.clone()).to_string().len();
        let lines: usize = self.newest.iter().map(|line| "\n".len() + line).sum();
        let block = if lines == 0 { 0 } else { "\n\n".len() + self.header + lines };
        let size = prose::MENTIONED.len() + "\n\n".len() + payload + "\n\n---\n".len() + self.brief + block;
        let text = |field: &Value| field.as_str().map_or(0, cut);
        let author = self.facts.get("author").and_then(|author| author.get("name")).map_or(0, text);
        let addressed = self.facts.get("text").map_or(0, text);
        self.line("- [user] : ".len() + author + addressed);
        size
    }

    fn line(&mut self, size: usize) {
        self.newest.push_back(size);
        if self.newest.len() > Limits::default().lines {
            self.newest.pop_front();
        }
    }
}

/// The size of a body as it stands in a line.
fn cut(body: &str) -> usize {
    body.chars().take(Limits::default().body_chars).map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests;
