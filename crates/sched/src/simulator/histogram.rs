//! Histogram of response times.

use alloc::vec::Vec;

/// Histogram of times with a relative error of at most 1/32.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Histogram {
    counts: Vec<u32>,
    count: u64,
    min: u64,
    max: u64,
}

impl Histogram {
    pub(super) fn record(&mut self, nanoseconds: u64) {
        let bucket = bucket_of(nanoseconds);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] = self.counts[bucket].saturating_add(1);
        self.min = if self.count == 0 {
            nanoseconds
        } else {
            self.min.min(nanoseconds)
        };
        self.max = self.max.max(nanoseconds);
        self.count += 1;
    }

    /// Returns the number of recorded times.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the shortest time in nanoseconds; `None` if there is none.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Returns the longest time in nanoseconds; `None` if there is none.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Returns a percentile in nanoseconds, at most 1/32 too long; `None` if there is none.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let share = (percent / 100.0).clamp(0.0, 1.0) * self.count as f64;
        // Rounded up, without the standard library's `ceil`.
        let whole = share as u64;
        let rank = (whole + u64::from(whole as f64 != share)).max(1);
        let mut below = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            below += u64::from(*count);
            if below >= rank {
                return Some(longest(bucket).clamp(self.min, self.max));
            }
        }
        Some(self.max)
    }
}

/// Buckets per power of two.
const SUB: u64 = 32;

fn bucket_of(value: u64) -> usize {
    if value < SUB {
        return value as usize;
    }
    let power = value.ilog2() - SUB.ilog2();
    (u64::from(power + 1) * SUB + ((value >> power) - SUB)) as usize
}

/// The longest time that a bucket counts.
fn longest(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * SUB {
        return bucket;
    }
    let power = bucket / SUB - 1;
    let next = u128::from(bucket % SUB + SUB + 1) << power;
    u64::try_from(next - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_contiguous_and_accurate() {
        for value in [0, 1, 31, 32, 33, 63, 64, 65, 1000, 1 << 40, u64::MAX] {
            let at = bucket_of(value);
            assert!(longest(at) >= value, "{value}");
            assert!(longest(at) - value <= value / 32, "{value}");
            assert!(at == 0 || longest(at - 1) < value, "{value}");
        }
    }

    #[test]
    fn percentiles_of_1_to_100() {
        let mut histogram = Histogram::default();
        (1..=100).for_each(|value| histogram.record(value));
        assert_eq!(histogram.percentile(0.0), Some(1));
        assert_eq!(histogram.percentile(50.0), Some(50));
        assert_eq!(histogram.percentile(99.0), Some(99));
        assert_eq!(histogram.percentile(100.0), Some(100));
        assert_eq!(Histogram::default().percentile(50.0), None);
    }
}
