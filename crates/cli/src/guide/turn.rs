//! Reads the text of a turn back into its parts: framing, payload, brief, context block (2.3) or replay (3.3).

use delivery::prose;
use serde_json::{Map, Value};

/// What separates the payload from the brief.
const RULE: &str = "\n\n---\n";

/// How the headers of context blocks begin: a snapshot, and only what is new.
const HEADERS: [(&str, Extent); 2] =
    [("\n\nRecent messages in this ", Extent::Snapshot), ("\n\nNew messages in this ", Extent::Delta)];

/// Whether a turn is the first of its session, or of a process that loaded it; only a first one brings framing or a
/// replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    First,
    Later,
}

/// A turn in its parts.
#[derive(Debug, PartialEq)]
pub(super) struct Turn<'a> {
    /// All of it, as it came.
    pub(super) exact: &'a str,
    /// What came before the user turn or the replay.
    pub(super) framing: Option<&'a str>,
    /// What the person wrote.
    pub(super) text: String,
    /// How it was said.
    pub(super) content: Content<'a>,
}

/// How a turn says what the person wrote.
#[derive(Debug, PartialEq)]
pub(super) enum Content<'a> {
    /// A mention in a channel.
    Mention(Mention<'a>),
    /// A direct conversation.
    Direct {
        /// How many earlier messages were replayed.
        replayed: usize,
        /// How many even earlier ones were not.
        left_out: usize,
    },
}

/// The parts of a mention's user turn.
#[derive(Debug, PartialEq)]
pub(super) struct Mention<'a> {
    /// The payload as it came.
    pub(super) payload: &'a str,
    /// Its fields.
    pub(super) facts: Map<String, Value>,
    /// The brief, or the reminder in its place.
    pub(super) guidance: &'a str,
    /// The context block.
    pub(super) block: Option<Block<'a>>,
}

/// A context block.
#[derive(Debug, PartialEq)]
pub(super) struct Block<'a> {
    /// All of it, as it came.
    pub(super) exact: &'a str,
    /// Snapshot or delta.
    pub(super) extent: Extent,
    /// Of a `channel` or a `thread`.
    pub(super) whose: &'static str,
    /// Its lines in order, each with its continuation lines and without `- `.
    pub(super) lines: Vec<&'a str>,
    /// How many new messages were left out.
    pub(super) left_out: usize,
}

/// What a block covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The newest lines.
    Snapshot,
    /// Only what is new.
    Delta,
}

impl<'a> Turn<'a> {
    /// Reads a turn. Any text is one: what is no mention is a direct conversation.
    pub(super) fn read(exact: &'a str, place: Place) -> Self {
        mention(exact, place).unwrap_or_else(|| match place {
            Place::First => replay(exact),
            Place::Later => plain(exact),
        })
    }

    /// The mention, if it is one.
    pub(super) fn mention(&self) -> Option<&Mention<'a>> {
        match &self.content {
            Content::Mention(mention) => Some(mention),
            Content::Direct { .. } => None,
        }
    }
}

impl Mention<'_> {
    /// Whether the brief is there in full.
    pub(super) fn has_brief(&self) -> bool {
        self.guidance != prose::REMINDER
    }
}

fn mention(exact: &str, place: Place) -> Option<Turn<'_>> {
    let opening = format!("{}\n\n{{", prose::MENTIONED);
    let start = match place {
        _ if exact.starts_with(&opening) => 0,
        Place::First => exact.find(&format!("\n\n{opening}"))? + "\n\n".len(),
        // Framing comes with the first turn alone: here it would be a person's own words.
        Place::Later => return None,
    };
    let framing = &exact[..start];
    // The opening ends with the first character of the payload.
    let (payload, rest) = exact[start + opening.len() - 1..].split_once(RULE)?;
    let facts: Map<String, Value> = serde_json::from_str(payload).ok()?;
    let text = facts.get("text")?.as_str()?.to_owned();
    // A body's lines are indented, so that the last header at the beginning of a line is the host's.
    let found = HEADERS.iter().filter_map(|(header, extent)| Some((rest.rfind(header)?, *extent)));
    let (guidance, block) = match found.max_by_key(|(at, _)| *at) {
        Some((at, extent)) => (&rest[..at], Some(block(&rest[at + 2..], extent))),
        None => (rest, None),
    };
    let content = Content::Mention(Mention { payload, facts, guidance, block });
    Some(Turn { exact, framing: filled(framing), text, content })
}

fn block(exact: &str, extent: Extent) -> Block<'_> {
    let mut parts = exact.split("\n- ").skip(1).peekable();
    let left_out = parts.peek().and_then(|first| left_out(first));
    let lines = parts.skip(usize::from(left_out.is_some())).collect();
    let header = exact.lines().next().unwrap_or_default();
    let whose = if header.contains(" in this thread") { "thread" } else { "channel" };
    Block { exact, extent, whose, lines, left_out: left_out.unwrap_or(0) }
}

fn left_out(line: &str) -> Option<usize> {
    let (n, what) = line.strip_prefix('(')?.split_once(' ')?;
    let said = what.starts_with("earlier new messages not shown;")
        || what.starts_with("earlier messages not shown;");
    n.parse().ok().filter(|_| said)
}

/// The first turn of a direct conversation: framing, then `User:` and `Assistant:` lines, the newest last. A note
/// on what was left out may come before them.
fn replay(exact: &str) -> Turn<'_> {
    let (mut first, mut starts, mut omitted, mut at) = (None, Vec::new(), 0, 0);
    for line in exact.split_inclusive('\n') {
        let labelled = line.starts_with("User: ") || line.starts_with("Assistant: ");
        if labelled {
            starts.push(at);
        } else if let (None, Some(n)) = (first, left_out(line)) {
            omitted = n;
        }
        if labelled || omitted > 0 {
            first = first.or(Some(at));
        }
        at += line.len();
    }
    let newest = starts.iter().rev().copied().find(|at| exact[*at..].starts_with("User: "));
    let (Some(first), Some(newest)) = (first, newest) else {
        return plain(exact);
    };
    let replayed = starts.iter().filter(|at| **at < newest).count();
    let text = exact[newest + "User: ".len()..].replace("\n  ", "\n");
    let content = Content::Direct { replayed, left_out: omitted };
    Turn { exact, framing: filled(&exact[..first]), text, content }
}

fn plain(exact: &str) -> Turn<'_> {
    Turn {
        exact,
        framing: None,
        text: exact.to_owned(),
        content: Content::Direct { replayed: 0, left_out: 0 },
    }
}

fn filled(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests;
