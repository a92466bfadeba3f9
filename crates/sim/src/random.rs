//! The seeded numbers that made channels are drawn with: SplitMix64, the same on every machine and in every version.

/// A stream of numbers; the same seed gives the same stream.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// A stream that this seed begins.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `limit` - 1; 0 if there is none.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let limit = limit.max(1) as u128;
        // The high half of the product: no division, and no low bits that repeat.
        usize::try_from((u128::from(self.next()) * limit) >> 64).unwrap_or(0)
    }

    /// One of them; `None` of nothing.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> Option<&'a T> {
        from.get(self.below(from.len())).copied()
    }
}

#[cfg(test)]
mod tests;
