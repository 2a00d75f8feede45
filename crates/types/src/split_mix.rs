//! Reproducible random numbers.

/// Random numbers that are the same on every machine for the same seed.
///
/// Source: \[Steele 2014\].
///
/// ```
/// use punctual_types::SplitMix64;
///
/// assert_eq!(SplitMix64::new(1_234_567).next(), 6_457_827_717_110_365_317);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Difference between two consecutive states.
    pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Creates a generator.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        Self::mix(self.0)
    }

    /// Returns the number that belongs to a state, for generators that keep their state elsewhere.
    pub const fn mix(state: u64) -> u64 {
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}
