//! Where each message's text stands in a sent prompt, so that deleting the message can scrub it there (8.3).

use std::ops::Range;

use delivery::channel_delivery::Rendered;
use delivery::model::MessageId;
use delivery::prose::MENTIONED;
use delivery::{AuthorKind, Row, clean};

/// Byte ranges in the sent text, in the order of the text.
pub(super) type Parts = Vec<(MessageId, Range<usize>)>;

/// What opens the text in a payload: its last key. Quotes inside a JSON string are escaped, so it occurs once.
const PAYLOAD_TEXT: &str = "\"text\":\"";

/// The parts of a mention's prompt: the payload's text, then each line's body. The prompt ends with `turn`, in which
/// the payload stands behind the first sentence: nothing that a person wrote comes before it.
pub(super) fn of_mention(
    sent: &str,
    turn: &str,
    block: Option<&str>,
    rendered: &Rendered,
    addressed: &MessageId,
) -> Parts {
    let turn_at = sent.len() - turn.len();
    let block_at = sent.len() - block.map_or(0, str::len);
    let mut parts = Parts::new();
    let payload = turn.strip_prefix(MENTIONED).and_then(|rest| rest.strip_prefix("\n\n"));
    let payload = payload.and_then(|rest| rest.split('\n').next()).unwrap_or_default();
    if let Some(open) = payload.rfind(PAYLOAD_TEXT) {
        let start = turn_at + MENTIONED.len() + 2;
        parts.push((addressed.clone(), start + open + PAYLOAD_TEXT.len()..start + payload.len() - 2));
    }
    let Some(block) = block else { return parts };
    let heads: Vec<usize> =
        lines(block).filter(|(_, line)| line.starts_with("- ")).map(|(at, _)| at).collect();
    let items = &heads[heads.len().saturating_sub(rendered.shown.len())..];
    for (n, (id, start)) in rendered.shown.iter().zip(items).enumerate() {
        let end = items.get(n + 1).map_or(block.len(), |next| next - 1);
        // A name holds no colon, so the first one ends it; a deletion's line has none and holds no body.
        if let Some(colon) = block[*start..end].find(": ") {
            parts.push((id.clone(), block_at + start + colon + 2..block_at + end));
        }
    }
    parts
}

/// The parts of a direct conversation's prompt: the newest turn alone, or a replay, read from its end, where the
/// newest message stands, back to where it begins or something was left out.
pub(super) fn of_direct(sent: &str, rows: &[&Row]) -> Parts {
    let mut parts = Parts::new();
    let mut end = sent.len();
    // Alone, or behind framing alone.
    if let [earlier @ .., newest] = rows
        && let Some(before) = sent.strip_suffix(clean::text(&newest.text).as_str())
        && (before.is_empty() || earlier.is_empty())
    {
        return vec![(newest.id.clone(), before.len()..end)];
    }
    for row in rows.iter().rev() {
        let label = match row.author.kind {
            AuthorKind::User => "User: ",
            AuthorKind::Agent => "Assistant: ",
            AuthorKind::System => continue,
        };
        let body = clean::body(&row.text);
        let Some(before) = sent[..end].strip_suffix(body.as_str()).and_then(|rest| rest.strip_suffix(label))
        else {
            break;
        };
        parts.push((row.id.clone(), before.len() + label.len()..end));
        end = before.len().saturating_sub(1);
    }
    parts.reverse();
    parts
}

/// Lines with the offset at which each begins.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split('\n').map(move |line| {
        let start = at;
        at += line.len() + 1;
        (start, line)
    })
}

#[cfg(test)]
mod tests;
