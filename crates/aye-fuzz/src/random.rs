//! Numbers that look random and are the same each time.

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        let mut random = Self(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of `0..below`; 0 if there is none.
    pub(crate) fn below(&mut self, below: usize) -> usize {
        let below = u64::try_from(below).unwrap_or(u64::MAX);
        usize::try_from(self.next().checked_rem(below).unwrap_or_default()).unwrap_or_default()
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }
}
