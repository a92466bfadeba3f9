//! Signatures of thinking blocks: each is bound to what the model had been told when it thought.
//!
//! Source: Anthropic's guide to preserved thinking (models from Fable 5.1 on): a block that stands behind a changed prefix is
//! refused. Which bytes the real signature covers is not published; this one covers all pieces before the answer that the block
//! is part of, but for other thinking blocks, which a client may leave out.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cost::cache::Kind;
use sha2::{Digest, Sha256};

use crate::asked::Refused;
use crate::prompt::{Piece, Role};
use crate::raw::Fields;

/// Models whose thinking blocks are bound to their prefix, by the beginning of their names; the same ones keep their cache when
/// the effort changes.
const BOUND: &[&str] = &[
    "claude-fable-5-1",
    "claude-fable-5-2",
    "claude-mythos-5-1",
    "claude-mythos-5-2",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
];

/// Whether `model` refuses a thinking block behind a changed prefix.
pub(super) fn is_bound(model: &str) -> bool {
    BOUND.iter().any(|bound| model.starts_with(bound))
}

/// The signature of something thought after `pieces`.
pub(super) fn of(pieces: &[Piece], thought: &str) -> String {
    let mut hash = Sha256::new();
    for piece in pieces.iter().filter(|piece| piece.kind != Kind::Thinking) {
        hash.update([piece.role as u8]);
        hash.update((piece.json.len() as u64).to_le_bytes());
        hash.update(piece.json.as_bytes());
    }
    let mut signature = hash.finalize().to_vec();
    signature.extend(Sha256::digest(thought.as_bytes()));
    STANDARD.encode(signature)
}

/// Each thinking block of the conversation, which starts at `from`, is one of this provider's, and stands where it stood.
pub(super) fn verify(model: &str, pieces: &[Piece], from: usize) -> Result<(), Refused> {
    let conversation = pieces.iter().enumerate().skip(from);
    for (index, piece) in conversation.filter(|(_, piece)| piece.kind == Kind::Thinking) {
        let Ok(block) = serde_json::from_str::<Fields<'_>>(&piece.json) else { continue };
        // A redacted block has neither, and is taken as it comes.
        let (Some(thought), Some(signature)) = (block.text("thinking"), block.text("signature")) else {
            continue;
        };
        let answer_from = pieces[..index].iter().rposition(|piece| piece.role != Role::Assistant);
        let before = &pieces[..answer_from.map_or(from, |last| last + 1)];
        let expected = of(before, &thought);
        if expected == signature {
            continue;
        }
        let own = STANDARD
            .decode(&signature)
            .is_ok_and(|bytes| bytes.ends_with(&Sha256::digest(thought.as_bytes())));
        let path = piece.path.replace(['[', ']'], ".").replace("..", ".");
        let path = path.trim_end_matches('.');
        if !own {
            return Err(Refused::invalid(format!("{path}: Invalid `signature` in `thinking` block")));
        }
        if is_bound(model) {
            return Err(Refused::invalid(format!(
                "{path}: Invalid signature in thinking block. The block is bound to a different conversation"
            )));
        }
    }
    Ok(())
}
