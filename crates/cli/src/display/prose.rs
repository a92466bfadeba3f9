//! Prose that wraps at words.

use unicode_width::UnicodeWidthStr as _;

use super::block;

/// A text with `head` before it, cleaned as [`block`]. Lines but the first begin with `indent`, so that no text can
/// pose as a line of ours. With a width, lines wrap at words; but not those that begin with a space or stand between
/// fences, as code does. What is longer than a line by itself stays whole, so that it can be copied.
pub(crate) fn prose(head: &str, text: &str, indent: &str, width: Option<usize>) -> String {
    let mut wrapped = head.to_owned();
    let mut is_code = false;
    let text = block(text);
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            wrapped.push('\n');
            wrapped.push_str(indent);
        }
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        match width {
            Some(width) if !is_fence && !is_code && !line.starts_with([' ', '\t']) => {
                push_words(&mut wrapped, line, indent, width);
            }
            Some(_) | None => wrapped.push_str(line),
        }
    }
    wrapped
}

/// Adds a line's words to what stands on the last line, each on a new one when it has no room.
fn push_words(wrapped: &mut String, line: &str, indent: &str, width: usize) {
    let last = wrapped.rsplit('\n').next().unwrap_or_default();
    let mut used = last.width();
    for (at, word) in line.split(' ').enumerate() {
        let gap = usize::from(at > 0);
        if at > 0 && used + gap + word.width() > width {
            wrapped.push('\n');
            wrapped.push_str(indent);
            used = indent.width();
        } else if at > 0 {
            wrapped.push(' ');
            used += gap;
        }
        wrapped.push_str(word);
        used += word.width();
    }
}

#[cfg(test)]
mod tests;
