//! The tokens of an encoding, as data that needs no preparation when the program starts.

mod place;
#[cfg(test)]
mod tests;

use place::{BYTES_MAX, Place};

/// A token's number; of two that could be made, the one with the lower number is made first.
pub(super) type Rank = u32;

/// All tokens of an encoding.
pub(super) struct Vocabulary {
    /// The bytes of all tokens, in the order of their ranks.
    bytes: &'static [u8],
    /// Where each ends in `bytes`.
    ends: &'static [[u8; 4]],
    /// A table with open addressing, as the build script made it.
    slots: &'static [[u8; 4]],
}

macro_rules! vocabulary {
    ($name:literal) => {
        Vocabulary::of(
            include_bytes!(concat!("../../data/", $name, ".bin")),
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".ends")),
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".slots")),
        )
    };
}

pub(super) static CL100K_BASE: Vocabulary = vocabulary!("cl100k_base");
pub(super) static O200K_BASE: Vocabulary = vocabulary!("o200k_base");

impl Vocabulary {
    const fn of(data: &'static [u8], ends: &'static [u8], slots: &'static [u8]) -> Self {
        let (ends, _) = ends.as_chunks::<4>();
        // In front of the tokens stand their number and the length of each.
        let (_, bytes) = data.split_at(4 + ends.len());
        let (slots, _) = slots.as_chunks::<4>();
        Self { bytes, ends, slots }
    }

    /// The rank of the token with these bytes.
    pub(super) fn rank(&self, bytes: &[u8]) -> Option<Rank> {
        if bytes.len() > BYTES_MAX {
            return None;
        }
        let place = Place::of(bytes);
        let (before, from) = self.slots.split_at_checked(place.start(self.slots.len()))?;
        for slot in from.iter().chain(before) {
            let slot = u32::from_le_bytes(*slot);
            if slot == 0 {
                return None;
            }
            if let Some(rank) = place.rank(slot).filter(|rank| self.token(*rank) == bytes) {
                return Some(rank);
            }
        }
        None
    }

    /// All tokens, in the order of their ranks.
    #[cfg(test)]
    pub(super) fn tokens(&self) -> impl Iterator<Item = &'static [u8]> {
        (0..).map(|rank| self.token(rank)).take(self.ends.len())
    }

    /// The bytes of a token; none of a rank that does not exist.
    fn token(&self, rank: Rank) -> &'static [u8] {
        let end = |rank: usize| self.ends.get(rank).map_or(0, |end| u32::from_le_bytes(*end) as usize);
        let rank = rank as usize;
        let start = rank.checked_sub(1).map_or(0, end);
        self.bytes.get(start..end(rank)).unwrap_or_default()
    }
}
