//! Replaces secrets in what an agent says, also where a secret is cut by the pieces of a stream.

use std::fmt;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// What stands in a secret's place.
const REDACTED: &str = "[redacted]";

/// Shorter values are not taken for secrets: replacing `1` or `true` would only garble text.
const SECRET_CHARS_MIN: usize = 8;

/// The texts that must not be shown. Cheap to clone; `Debug` tells their number alone.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Longest first, so that of two that begin at one place the longer is replaced.
    texts: Arc<[String]>,
}

impl Secrets {
    /// Those of `texts` that have at least 8 characters, and the lines of each that have: a key of several lines may
    /// be shown in part, indented, or with other line ends.
    pub fn new(texts: impl IntoIterator<Item = String>) -> Self {
        let mut texts: Vec<String> = texts.into_iter().flat_map(with_lines).collect();
        texts.retain(|text| text.chars().count() >= SECRET_CHARS_MIN);
        texts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        texts.dedup();
        Self { texts: texts.into() }
    }

    /// These and one more.
    #[must_use]
    pub fn with(&self, text: &str) -> Self {
        Self::new(self.texts.iter().cloned().chain([text.to_owned()]))
    }

    /// `text` with every secret replaced by `[redacted]`.
    pub fn redact(&self, text: &str) -> String {
        if self.texts.is_empty() {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        self.copy(text, text.len(), &mut out);
        out
    }

    /// A stream of pieces that redacts as [`Self::redact`] would the whole.
    pub(crate) fn stream(&self) -> Stream {
        Stream { secrets: self.clone(), held: String::new() }
    }

    /// Copies to `out` what begins before `end`, redacted; returns where it stopped: at or, after a secret that
    /// crosses it, past `end`.
    fn copy(&self, text: &str, end: usize, out: &mut String) -> usize {
        let mut at = 0;
        while at < end {
            let rest = &text[at..];
            if let Some(secret) = self.texts.iter().find(|secret| rest.starts_with(secret.as_str())) {
                out.push_str(REDACTED);
                at += secret.len();
            } else if let Some(next) = rest.chars().next() {
                out.push(next);
                at += next.len_utf8();
            }
        }
        at
    }
}

/// A text and its lines, without the blanks around them.
fn with_lines(text: String) -> Vec<String> {
    let mut texts: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    texts.push(text);
    texts
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.texts.len())
    }
}

/// Redacts a text that comes in pieces. Holds back what may be the beginning of a secret, and nothing else, so that
/// an answer can be read while it is written.
#[derive(Debug)]
pub(crate) struct Stream {
    secrets: Secrets,
    held: String,
}

impl Stream {
    /// Takes a piece, gives what can be shown by now.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        if self.secrets.texts.is_empty() {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        self.give(self.undecided())
    }

    /// Where the first text begins that a secret may begin with, but does not end with; the end if there is none.
    fn undecided(&self) -> usize {
        let held = self.held.as_str();
        let longest = self.secrets.texts.first().map_or(0, String::len);
        // Further from the end, a secret that begins is there as a whole.
        let mut near = (held.len() + 1).saturating_sub(longest);
        while !held.is_char_boundary(near) {
            near -= 1;
        }
        let begins = |at: &usize| {
            let rest = &held[*at..];
            self.secrets.texts.iter().any(|secret| secret.len() > rest.len() && secret.starts_with(rest))
        };
        (near..held.len()).filter(|at| held.is_char_boundary(*at)).find(begins).unwrap_or(held.len())
    }

    /// Gives the rest: no more pieces belong to this text.
    pub(crate) fn flush(&mut self) -> String {
        self.give(self.held.len())
    }

    fn give(&mut self, end: usize) -> String {
        let mut out = String::with_capacity(end);
        let stopped = self.secrets.copy(&self.held, end, &mut out);
        self.held.drain(..stopped);
        out
    }
}
