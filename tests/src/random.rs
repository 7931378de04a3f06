//! A small generator of pseudo-random numbers: the same seed gives the same numbers everywhere.

/// `SplitMix64`.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator that begins with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    ///
    /// # Panics
    ///
    /// If it is.
    pub fn below(&mut self, bound: u32) -> u32 {
        u32::try_from(self.next_number() % u64::from(bound)).expect("less than the bound")
    }

    /// A place in a list of so many.
    ///
    /// # Panics
    ///
    /// If it is empty.
    pub fn index(&mut self, bound: usize) -> usize {
        self.below(u32::try_from(bound).expect("a short list")) as usize
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    /// One of some items.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        let index = self.index(items.len());
        items.get(index).expect("within the list").clone()
    }
}
