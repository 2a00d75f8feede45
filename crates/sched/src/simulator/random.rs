//! Random numbers of the simulator.

use punctual_types::SplitMix64;

/// Random numbers that are the same on every machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Random(SplitMix64);

impl Random {
    /// Creates an independent stream for each combination of parts, so that the values of a thread do not
    /// depend on others.
    pub(super) fn of(parts: [u64; 4]) -> Self {
        let seed = parts
            .iter()
            .fold(0, |state, part| SplitMix64::new(state ^ part).next());
        Self(SplitMix64::new(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// Returns a value in [0, 1).
    pub(super) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns an integer in [`least`, `most`].
    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        let span = most.saturating_sub(least);
        match span.checked_add(1) {
            // The high half of the product is uniform to 2^-64.
            Some(count) => least + ((u128::from(self.next()) * u128::from(count)) >> 64) as u64,
            None => self.next(),
        }
    }

    /// Returns an exponentially distributed value with mean 1, by comparisons only: without the standard
    /// library there is no logarithm.
    ///
    /// Source: \[Neumann 1951\].
    pub(super) fn exponential(&mut self) -> f64 {
        let mut whole = 0.0;
        loop {
            let first = self.share();
            let (mut last, mut descents) = (first, 0u32);
            loop {
                let next = self.share();
                if next >= last {
                    break;
                }
                (last, descents) = (next, descents + 1);
            }
            if descents % 2 == 0 {
                return whole + first;
            }
            whole += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_times_have_mean_and_variance_1() {
        let mut random = Random::of([1, 2, 3, 4]);
        let count = 20_000;
        let drawn: alloc::vec::Vec<f64> = (0..count).map(|_| random.exponential()).collect();
        let mean = drawn.iter().sum::<f64>() / f64::from(count);
        let variance = drawn.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(count);
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
        assert!((variance - 1.0).abs() < 0.1, "{variance}");
    }

    #[test]
    fn integers_are_within_their_limits() {
        let mut random = Random::of([0; 4]);
        let drawn = |random: &mut Random| {
            (0..1000)
                .map(|_| random.between(5, 8))
                .collect::<alloc::vec::Vec<_>>()
        };
        let drawn = drawn(&mut random);
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&5), Some(&8)));
        assert_eq!(random.between(7, 7), 7);
    }
}
