//! Buckets of log-linear histograms.

/// Buckets of a log-linear histogram with 2^`BITS` buckets per power of two: the relative width of a bucket
/// is at most 1/2^`BITS`, and values below 2^(`BITS` + 1) are exact.
///
/// ```
/// use punctual_types::LogLinear;
///
/// type Buckets = LogLinear<4>;
/// assert_eq!((Buckets::index(31), Buckets::last(31)), (31, 31));
/// let index = Buckets::index(1_000);
/// assert!((1_000..1_000 + 1_000 / 16).contains(&Buckets::last(index)));
/// ```
#[derive(Debug)]
pub enum LogLinear<const BITS: u32> {}

impl<const BITS: u32> LogLinear<BITS> {
    /// Returns the index of a value's bucket. Indices ascend with values, without gaps.
    #[inline]
    pub const fn index(value: u64) -> usize {
        let power = (value | 1).ilog2();
        let shift = power.saturating_sub(BITS);
        ((shift as usize) << BITS) + (value >> shift) as usize
    }

    /// Returns the largest value of a bucket.
    pub const fn last(index: usize) -> u64 {
        let shift = (index >> BITS).saturating_sub(1);
        let leading = index - (shift << BITS);
        let next = (leading as u128 + 1) << shift;
        // The last bucket ends at the largest value.
        (next - 1) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const BITS: u32>() {
        let mut last = 0;
        for value in (0..2_000).chain([50_000, 1 << 20, (1 << 30) + 7, 1 << 40, u64::MAX]) {
            let index = LogLinear::<BITS>::index(value);
            assert!(index >= last, "{value}: ascending");
            last = index;
            let end = LogLinear::<BITS>::last(index);
            assert!(end >= value && end - value <= value >> BITS, "{value}");
            assert!(
                index == 0 || LogLinear::<BITS>::last(index - 1) < value,
                "{value}"
            );
        }
    }

    #[test]
    fn buckets_are_adjacent_and_contain_their_values() {
        check::<4>();
        check::<5>();
    }
}
