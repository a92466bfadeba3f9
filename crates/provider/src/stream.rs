//! Server-sent events: how answers are cut into pieces.

use serde_json::Value;

/// Characters of a piece: a few words, as models send them.
const CHUNK_CHARS: usize = 24;

/// `text` in pieces that a stream sends one by one; no character is cut.
pub(crate) fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().nth(CHUNK_CHARS).map_or(rest.len(), |(index, _)| index);
        let (chunk, left) = rest.split_at(end);
        rest = left;
        Some(chunk)
    })
}

/// An event that is named by its `type`.
pub(crate) fn named(event: &Value) -> String {
    let name = event.get("type").and_then(Value::as_str).unwrap_or_default();
    format!("event: {name}\ndata: {event}\n\n")
}

/// An event without a name.
pub(crate) fn unnamed(event: &Value) -> String {
    format!("data: {event}\r\n\r\n")
}
