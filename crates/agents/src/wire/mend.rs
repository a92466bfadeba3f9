//! Mends lines in which a surrogate stands alone: what JavaScript writes of a character that was cut in two.

use std::borrow::Cow;

#[cfg(test)]
mod tests;

/// What stands in place of half a character.
const LOST: &str = "\\ufffd";

/// Bytes of an escape such as `\ud83d`.
const ESCAPE_BYTES: usize = 6;

/// A line that can be read, and which halves were taken out of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mended<'a> {
    /// The line with U+FFFD in place of each half.
    pub(crate) line: Cow<'a, str>,
    /// The halves.
    pub(crate) halves: Halves,
}

/// The outermost halves of a line, by which the next or last piece of a text can be completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Halves {
    /// The first, if it is the second half of a character.
    pub(crate) first: Option<u16>,
    /// The last, if it is the first half of a character.
    pub(crate) last: Option<u16>,
}

/// Mends a line. JSON without such halves, and what is no JSON, stays as it is.
pub(crate) fn mended(line: &str) -> Mended<'_> {
    let mut out = String::new();
    let mut ends = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = line[at..].find('\\') {
        at += found;
        let half = match escape(line, at) {
            Some(high) if is_high(high) && escape(line, at + ESCAPE_BYTES).is_some_and(is_low) => {
                at += 2 * ESCAPE_BYTES;
                continue;
            }
            Some(half) if is_high(half) || is_low(half) => half,
            Some(_) => {
                at += ESCAPE_BYTES;
                continue;
            }
            // Another escape: the character after the backslash, which may be one too, belongs to it.
            None => {
                at += 1 + line[at + 1..].chars().next().map_or(0, char::len_utf8);
                continue;
            }
        };
        ends = Some((ends.map_or(half, |(first, _)| first), half));
        if out.is_empty() {
            // The escapes are of one length, and so are the lines.
            out.reserve_exact(line.len());
        }
        out.push_str(&line[copied..at]);
        out.push_str(LOST);
        at += ESCAPE_BYTES;
        copied = at;
    }
    let Some((first, last)) = ends else {
        return Mended { line: Cow::Borrowed(line), halves: Halves::default() };
    };
    out.push_str(&line[copied..]);
    let halves = Halves {
        first: Some(first).filter(|&half| is_low(half)),
        last: Some(last).filter(|&half| is_high(half)),
    };
    Mended { line: Cow::Owned(out), halves }
}

/// The number of the `\uXXXX` that begins at `at`.
fn escape(line: &str, at: usize) -> Option<u16> {
    let digits = line.get(at..at + ESCAPE_BYTES)?.strip_prefix("\\u")?;
    // The sign that the parser would take is no digit.
    if digits.starts_with('+') { None } else { u16::from_str_radix(digits, 16).ok() }
}

fn is_high(unit: u16) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

fn is_low(unit: u16) -> bool {
    (0xdc00..0xe000).contains(&unit)
}

/// Completes characters that two pieces of a text have half each.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    /// A first half that ended the piece before.
    half: Option<u16>,
}

impl Joiner {
    /// Takes a piece of a line with these halves; gives it with what the pieces before left of a character. A first
    /// half at its end is kept for the next.
    pub(crate) fn push(&mut self, piece: &str, halves: Halves) -> String {
        if piece.is_empty() {
            return String::new();
        }
        let mut out = String::new();
        let mut rest = piece;
        if let Some(high) = self.half.take() {
            let low = halves.first.filter(|_| rest.starts_with(char::REPLACEMENT_CHARACTER));
            let joined = low.and_then(|low| char::decode_utf16([high, low]).next()?.ok());
            out.push(joined.unwrap_or(char::REPLACEMENT_CHARACTER));
            if joined.is_some() {
                rest = &rest[char::REPLACEMENT_CHARACTER.len_utf8()..];
            }
        }
        if let (Some(high), Some(before)) = (halves.last, rest.strip_suffix(char::REPLACEMENT_CHARACTER)) {
            self.half = Some(high);
            rest = before;
        }
        out + rest
    }

    /// What is left of a character when no piece follows.
    pub(crate) fn flush(&mut self) -> Option<char> {
        self.half.take().map(|_| char::REPLACEMENT_CHARACTER)
    }
}
