//! Counts of short pieces that were counted before: ordinary text is made of few different words.

use std::cell::RefCell;

use super::Encoding;

/// Pieces remembered at most, for each encoding and thread; a power of two.
const SLOTS: usize = 8 * 1024;

/// Bytes of a piece that is remembered; longer ones seldom come again.
const BYTES_MAX: usize = 24;

/// A piece that was counted; the empty one where none was.
#[derive(Clone, Default)]
struct Slot {
    piece: Box<str>,
    tokens: usize,
}

thread_local! {
    static CL100K: RefCell<Vec<Slot>> = const { RefCell::new(Vec::new()) };
    static O200K: RefCell<Vec<Slot>> = const { RefCell::new(Vec::new()) };
}

/// The tokens of a piece of text, which `count` counts if it is not remembered.
pub(super) fn tokens(encoding: Encoding, piece: &str, count: impl FnOnce() -> usize) -> usize {
    if piece.len() > BYTES_MAX {
        return count();
    }
    let slots = match encoding {
        Encoding::Cl100kBase => &CL100K,
        Encoding::O200kBase => &O200K,
    };
    slots.with_borrow_mut(|slots| {
        if slots.is_empty() {
            slots.resize(SLOTS, Slot::default());
        }
        let Some(slot) = slots.get_mut(place(piece)) else { return count() };
        if *slot.piece != *piece {
            *slot = Slot { piece: piece.into(), tokens: count() };
        }
        slot.tokens
    })
}

/// The slot of a piece, by FNV-1a.
fn place(piece: &str) -> usize {
    let hash = piece
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let folded = hash ^ (hash >> 32);
    usize::try_from(folded % SLOTS as u64).unwrap_or_default()
}
