//! Text, split into the pieces that tokens do not reach across: the patterns of OpenAI's `tiktoken`, written by hand, since a
//! regular expression with Unicode classes takes milliseconds to compile.
//!
//! The patterns are those of `tiktoken_ext/openai_public.py`. Their alternatives are tried in order, and the first that matches
//! counts, in its greediest form.

mod class;
#[cfg(test)]
mod tests;

use class::{ASCII, Class};

/// The end of the piece that begins at a place of a text. The place is a character's, and not the end of the text.
pub(super) type Pattern = fn(&str, usize) -> usize;

/// The pieces of a text; together they are the text.
pub(super) fn pieces(text: &str, pattern: Pattern) -> impl Iterator<Item = &str> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from;
        if start >= text.len() {
            return None;
        }
        from = pattern(text, start);
        text.get(start..from)
    })
}

/// `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`
pub(super) fn cl100k_base(text: &str, at: usize) -> usize {
    if let Some(end) = contraction(text, at) {
        return end;
    }
    let (class, second) = character(text, at);
    let is_letter = |class: Class| class.is_letter();
    match class {
        Class::Upper | Class::Lower | Class::Letter => return run(text, second, is_letter),
        Class::Number => return number(text, second),
        Class::Mark | Class::Space | Class::Other => {
            let end = run(text, second, is_letter);
            if end > second {
                return end;
            }
        }
        Class::Break => {}
    }
    if let Some(end) = signs(text, at) {
        return run(text, end, |class| class == Class::Break);
    }
    let white = White::at(text, at);
    if white.end == text.len() { white.end } else { white.broken().unwrap_or_else(|| white.but_one()) }
}

/// The alternatives of o200k_base, in its order: a word in capitals that ends in small letters, with an apostrophe's ending; one that
/// does not; up to three digits; signs; white space that breaks the line; white space before white space; white space.
///
/// `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
/// `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
/// `\p{N}{1,3}`
/// ` ?[^\s\p{L}\p{N}]+[\r\n/]*`
/// `\s*[\r\n]+`
/// `\s+(?!\S)`
/// `\s+`
pub(super) fn o200k_base(text: &str, at: usize) -> usize {
    let (class, second) = character(text, at);
    let word = match class {
        Class::Upper | Class::Lower | Class::Letter => word(text, at),
        Class::Space | Class::Other => word(text, second),
        Class::Mark => match word(text, second) {
            Some(Word::Small(end)) => Some(Word::Small(end)),
            // A mark is a small letter itself, and a word of such comes before one of capitals alone.
            Some(Word::Capital(_)) | None => Some(Word::Small(second)),
        },
        Class::Number => return number(text, second),
        Class::Break => None,
    };
    if let Some(Word::Small(end) | Word::Capital(end)) = word {
        return contraction(text, end).unwrap_or(end);
    }
    if let Some(mut end) = signs(text, at) {
        while matches!(text.as_bytes().get(end), Some(b'\r' | b'\n' | b'/')) {
            end += 1;
        }
        return end;
    }
    let white = White::at(text, at);
    white.broken().unwrap_or_else(|| if white.end == text.len() { white.end } else { white.but_one() })
}

/// A word of o200k_base without what may stand before and behind it, by its end.
enum Word {
    /// Capitals, if any, and small letters.
    Small(usize),
    /// Capitals alone.
    Capital(usize),
}

/// The word that begins at a place. Letters without case and marks are capitals as well as small letters.
fn word(text: &str, at: usize) -> Option<Word> {
    let mut end = at;
    let mut small = None;
    while end < text.len() {
        let (class, next) = character(text, end);
        if !class.is_capital() {
            break;
        }
        end = next;
        if class.is_small() {
            small = Some(end);
        }
    }
    let longest = run(text, end, |class| class.is_small());
    if longest > end {
        return Some(Word::Small(longest));
    }
    // The capitals give back what they took, up to one that can be the small end.
    small.map(Word::Small).or_else(|| (end > at).then_some(Word::Capital(end)))
}

/// The end of `'(?i:s|d|m|t|ll|ve|re)`.
fn contraction(text: &str, at: usize) -> Option<usize> {
    let rest = text.as_bytes().get(at..)?.strip_prefix(b"'")?;
    match rest {
        [b's' | b'S' | b'd' | b'D' | b'm' | b'M' | b't' | b'T', ..] => Some(at + 2),
        [b'l' | b'L', b'l' | b'L', ..] | [b'v' | b'V' | b'r' | b'R', b'e' | b'E', ..] => Some(at + 3),
        // The long s, which is an s to whom case does not matter.
        [0xc5, 0xbf, ..] => Some(at + 3),
        _ => None,
    }
}

/// The end of `\p{N}{1,3}`, of which the first one ends at `second`.
fn number(text: &str, second: usize) -> usize {
    let mut end = second;
    for _ in 0..2 {
        if end < text.len()
            && let (Class::Number, next) = character(text, end)
        {
            end = next;
        }
    }
    end
}

/// The end of ` ?[^\s\p{L}\p{N}]+`.
fn signs(text: &str, at: usize) -> Option<usize> {
    let from = if text.as_bytes().get(at) == Some(&b' ') { at + 1 } else { at };
    let end = run(text, from, |class| class.is_sign());
    (end > from).then_some(end)
}

/// All white space from some place on.
struct White {
    start: usize,
    /// Where the last character begins.
    last: usize,
    end: usize,
    /// Behind the last character that breaks the line.
    broken: Option<usize>,
}

impl White {
    fn at(text: &str, start: usize) -> Self {
        let mut white = Self { start, last: start, end: start, broken: None };
        while white.end < text.len() {
            let (class, next) = character(text, white.end);
            if !class.is_white() {
                break;
            }
            (white.last, white.end) = (white.end, next);
            if class == Class::Break {
                white.broken = Some(next);
            }
        }
        white
    }

    /// `\s*[\r\n]+`
    fn broken(&self) -> Option<usize> {
        self.broken
    }

    /// `\s+(?!\S)|\s+`, where something else follows.
    fn but_one(&self) -> usize {
        if self.last > self.start { self.last } else { self.end }
    }
}

/// Where the characters end that are of such a class, one after the other.
fn run(text: &str, from: usize, belongs: impl Fn(Class) -> bool) -> usize {
    let mut end = from;
    while end < text.len() {
        let (class, next) = character(text, end);
        if !belongs(class) {
            break;
        }
        end = next;
    }
    end
}

/// The class of the character at a place, and where it ends. Behind the text there is nothing but an end.
fn character(text: &str, at: usize) -> (Class, usize) {
    match text.as_bytes().get(at) {
        Some(byte) if byte.is_ascii() => {
            (ASCII.get(usize::from(*byte)).copied().unwrap_or(Class::Other), at + 1)
        }
        Some(_) | None => match text.get(at..).and_then(|rest| rest.chars().next()) {
            Some(character) => (Class::of(character), at + character.len_utf8()),
            None => (Class::Other, text.len()),
        },
    }
}
