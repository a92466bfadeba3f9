//! Cleaning of untrusted text: a body cannot forge a line, a name cannot either (4.7, 4.8).

mod pieces;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use crate::faults::{Rule, broken};
use pieces::{Piece, pieces};

/// Graphemes of a name that are kept.
pub const NAME_GRAPHEMES_MAX: usize = 64;

/// Stands for a name of which nothing is left.
pub const UNKNOWN: &str = "unknown";

/// What begins a fence line, after spaces.
const FENCE: &str = "```";

/// A break within a body: column zero belongs to the host.
const INDENTED_BREAK: &str = "\n  ";

/// A body as it stands in a line: breaks indented, what hides shown, host literals altered.
pub fn body(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let line_break = if broken(Rule::BreaksAreIndented) { "\n" } else { INDENTED_BREAK };
    write_clean(text, line_break, &mut out);
    out
}

/// A body of at most `chars_max` Unicode scalar values as it stands in a line, cut on a grapheme boundary
/// before it is cleaned, with the marker that says how much is missing (4.1, 4.8).
pub fn cut_body(text: &str, chars_max: usize) -> String {
    let kept = kept(text, chars_max);
    let mut out = body(kept);
    if kept.len() == text.len() {
        return out;
    }
    let fences = out.split('\n').filter(|line| line.trim_start_matches(' ').starts_with(FENCE)).count();
    if fences % 2 == 1 {
        out.extend([INDENTED_BREAK, FENCE, INDENTED_BREAK]);
    }
    let behind = &text[kept.len()..];
    let missing = if broken(Rule::MissingIsCounted) { text.len() } else { behind.chars().count() };
    out.push_str(&format!("… [{missing} more characters; channel_history has the full message]"));
    out
}

/// A name on one line: at most [`NAME_GRAPHEMES_MAX`] graphemes, [`UNKNOWN`] if nothing is left.
pub fn name(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Plain(run) => out.extend(run.chars().filter(|c| *c != '\t').map(|c| match c {
                ':' => '\u{A789}',
                other => other,
            })),
            Piece::Flag(flag) => out.push_str(flag),
            Piece::Break => out.push(' '),
            Piece::Hidden(_) => {}
            Piece::Angle(_) => out.push('⟨'),
            Piece::Square(_) => out.push('['),
        }
    }
    let trimmed = out.trim();
    // No more bytes, no more graphemes.
    let end = match trimmed.len() {
        0..=NAME_GRAPHEMES_MAX => None,
        _ => trimmed.grapheme_indices(true).nth(NAME_GRAPHEMES_MAX),
    };
    let end = end.map_or(trimmed.len(), |(at, _)| at);
    let kept = trimmed[..end].trim_end();
    if kept.is_empty() { UNKNOWN.to_owned() } else { kept.to_owned() }
}

/// A string of a payload: the character rules of 4.7; line breaks become LF, without indent.
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    write_clean(text, "\n", &mut out);
    out
}

/// The longest beginning of whole graphemes that has at most `chars_max` Unicode scalar values.
fn kept(text: &str, chars_max: usize) -> &str {
    if text.len() <= chars_max {
        return text;
    }
    let Some((limit, _)) = text.char_indices().nth(chars_max) else { return text };
    let mut cursor = GraphemeCursor::new(limit, text.len(), true);
    // The text is there as a whole, so that the cursor never asks for more of it.
    let end = match cursor.is_boundary(text, 0) {
        Ok(true) => limit,
        Ok(false) | Err(_) => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
    };
    &text[..end]
}

fn write_clean(text: &str, line_break: &str, out: &mut String) {
    for piece in pieces(text) {
        match piece {
            Piece::Plain(run) | Piece::Flag(run) => out.push_str(run),
            Piece::Break => out.push_str(line_break),
            Piece::Hidden(c) => out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
            Piece::Angle(behind) => out.push(if opens_host_tag(behind) { '⟨' } else { '<' }),
            Piece::Square(behind) => out.push(if is_cut_marker(behind) { '⟦' } else { '[' }),
        }
    }
}

/// Whether what stands behind a `<` makes it a tag of the host's.
fn opens_host_tag(behind: &str) -> bool {
    let tag = behind.strip_prefix('/').unwrap_or(behind).as_bytes();
    ["system-reminder", "channel", "command-"]
        .iter()
        .any(|host| tag.get(..host.len()).is_some_and(|head| head.eq_ignore_ascii_case(host.as_bytes())))
}

/// Whether what stands behind a `[` makes it the marker of a cut.
fn is_cut_marker(behind: &str) -> bool {
    let words = behind.trim_start_matches(|c: char| c.is_ascii_digit());
    words.len() < behind.len() && words.starts_with(" more characters; channel_history has the full message]")
}

#[cfg(test)]
mod tests;
