//! The seeded numbers that a world is drawn with: SplitMix64, the same on every machine and in every version.

/// A stream of numbers; the same seed gives the same stream.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The stream that this seed begins.
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
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        u64::try_from((u128::from(self.next()) * u128::from(limit.max(1))) >> 64).unwrap_or(0)
    }

    /// A place in something of this length.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }

    /// Whether something happens that does so many times in a hundred.
    pub(crate) fn percent(&mut self, times: u64) -> bool {
        self.below(100) < times
    }

    /// One of them; `None` of nothing.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.index(from.len()))
    }

    /// One of them by weight; the weights are not all 0.
    pub(crate) fn weighed<T: Copy>(&mut self, from: &[(u64, T)]) -> T {
        let mut left = self.below(from.iter().map(|(weight, _)| weight).sum());
        for (weight, one) in from {
            if left < *weight {
                return *one;
            }
            left -= weight;
        }
        from[from.len() - 1].1
    }
}
