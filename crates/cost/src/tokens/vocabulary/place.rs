//! Where a token stands in the table of a vocabulary: the build script, which makes the table, and the program, which reads
//! it, share this file.

/// Bytes of a token at most; that of 128 spaces has so many.
pub(super) const BYTES_MAX: usize = 128;

/// Bits of a slot that hold a rank plus one; zero is an empty slot. The others hold a mark of the token's bytes.
const RANK_BITS: u32 = 18;

/// The multiplier of `FxHash`: odd, with well-spread bits.
const MULTIPLIER: u64 = 0x517c_c1b7_2722_0a95;

/// Where the search for a token begins, and what its slot holds beside the rank.
#[derive(Clone, Copy)]
pub(super) struct Place {
    hash: u64,
}

impl Place {
    /// The place of these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut hash = (bytes.len() as u64).wrapping_mul(MULTIPLIER);
        let mut mix = |word: u64| hash = (hash.rotate_left(23) ^ word).wrapping_mul(MULTIPLIER);
        if let Some(last) = bytes.last_chunk::<8>() {
            let (words, _) = bytes.as_chunks::<8>();
            words.iter().for_each(|word| mix(u64::from_le_bytes(*word)));
            mix(u64::from_le_bytes(*last));
        } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            mix(u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32);
        } else {
            mix(bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
        Self { hash: hash ^ hash >> 29 }
    }

    /// The slot at which the search begins; it goes on with the next ones, and from the last to the first.
    pub(super) fn start(self, slots: usize) -> usize {
        // The upper half of the product is below `slots`, and as evenly spread as the hash.
        let product = u128::from(self.hash) * slots as u128;
        usize::try_from(product >> 64).unwrap_or_default()
    }

    /// The rank that a slot holds, if it may be that of this place's token.
    pub(super) fn rank(self, slot: u32) -> Option<u32> {
        let rank = slot & ((1 << RANK_BITS) - 1);
        if slot ^ rank == self.mark() { rank.checked_sub(1) } else { None }
    }

    /// What a slot holds beside the rank plus one: the lowest bits of the hash, which say least about the slot.
    pub(super) fn mark(self) -> u32 {
        let [a, b, c, d, ..] = self.hash.to_le_bytes();
        u32::from_le_bytes([a, b, c, d]) << RANK_BITS
    }
}
