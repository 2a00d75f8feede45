//! Reproducible random numbers.

use punctual_types::SplitMix64;

/// A generator of random numbers that are the same in each run.
pub(super) struct Random(SplitMix64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// Returns a number below `end`, nearly uniformly distributed.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0.next() % end.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_depend_on_the_seed_and_cover_the_range() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            (0..100).map(|_| random.below(7)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        assert!((0..7).all(|number| numbers(3).contains(&number)));
    }
}
