//! A long text as messages: where it is cut, and code fences that a cut would leave open.

use unicode_segmentation::GraphemeCursor;

/// Bytes of a fence's opening line that are said again after a cut; of a longer one only the marker is.
const FENCE_LINE_BYTES_MAX: usize = 64;

/// Bytes of a fence's marker with its indent that a cut cares for. Longer ones are left open.
const MARKER_BYTES_MAX: usize = 32;

/// Below this there is no room to close and open fences: they are cut like any text.
const FENCED_BYTES_MIN: usize = 256;

/// A text as messages of at most `bytes_max` bytes (at least 4), cut at a line end, else a space, else a
/// grapheme; a code fence that a cut leaves open is closed and opened again, where `bytes_max` is 256 or more.
///
/// Nothing is lost but the line end or space of a cut, and white space that would be a message of its own: no
/// message is blank, and a blank text has none.
pub fn split(text: &str, bytes_max: usize) -> Vec<String> {
    let bytes_max = bytes_max.max(4);
    let reserve = if bytes_max < FENCED_BYTES_MIN { 0 } else { MARKER_BYTES_MAX + 1 };
    let mut messages = Vec::new();
    let mut fence: Option<Fence<'_>> = None;
    let mut rest = text;
    while !rest.trim().is_empty() {
        let head = fence.map_or(String::new(), |fence| format!("{}\n", fence.opening));
        if head.len() + rest.len() <= bytes_max {
            messages.push(head + rest);
            break;
        }
        let (body, behind) = cut(rest, bytes_max - head.len() - reserve);
        rest = behind;
        if body.trim().is_empty() {
            continue;
        }
        if reserve > 0 {
            fence = open_fence(fence, body);
        }
        let tail = fence.map_or(String::new(), |fence| format!("\n{}", fence.marker));
        messages.push(head + body + &tail);
    }
    messages
}

/// The longest grapheme boundary of `text` that is at most `at` and not 0, else such a character boundary.
pub(super) fn floor_grapheme(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    // The whole text is at hand, so that the cursor never asks for more of it.
    if at == text.len() || cursor.is_boundary(text, 0) == Ok(true) {
        return at;
    }
    match cursor.prev_boundary(text, 0) {
        Ok(Some(boundary)) if boundary > 0 => boundary,
        Ok(_) | Err(_) => at,
    }
}

/// A beginning of at most `room` bytes, and what is behind it without the line end or space of the cut.
fn cut(text: &str, room: usize) -> (&str, &str) {
    // One byte more: the line end itself need not fit.
    let window = &text[..text.floor_char_boundary(room + 1)];
    if let Some(at) = window.rfind('\n').or_else(|| window.rfind(' ')) {
        return (&text[..at], &text[at + 1..]);
    }
    text.split_at(floor_grapheme(text, room))
}

/// An open code fence.
#[derive(Clone, Copy)]
struct Fence<'a> {
    /// The line that opens it again: indent, marker and, if it is short, the info string.
    opening: &'a str,
    /// The line that closes it: indent and marker.
    marker: &'a str,
}

/// The fence that is open at the end of `body` when `fence` is at its beginning.
fn open_fence<'a>(fence: Option<Fence<'a>>, body: &'a str) -> Option<Fence<'a>> {
    body.split('\n').fold(fence, |open, line| {
        let Some((marker, info)) = fence_marker(line) else { return open };
        let Some(fence) = open else {
            let opening = if line.len() <= FENCE_LINE_BYTES_MAX { line } else { marker };
            let opens = marker.len() <= MARKER_BYTES_MAX && !(marker.ends_with('`') && info.contains('`'));
            return opens.then_some(Fence { opening, marker });
        };
        let (mark, open_mark) = (marker.trim_start(), fence.marker.trim_start());
        let closes = mark.starts_with(open_mark) && info.trim().is_empty();
        if closes { None } else { open }
    })
}

/// Indent and marker of a fence line, and what stands behind them.
fn fence_marker(line: &str) -> Option<(&str, &str)> {
    let body = line.trim_start_matches(' ');
    let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = body.trim_start_matches(mark);
    let marker = &line[..line.len() - info.len()];
    (body.len() - info.len() >= 3).then_some((marker, info))
}

#[cfg(test)]
mod tests;
