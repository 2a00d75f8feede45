//! Service times of a lane's requests, as a histogram of relaxed atomics; recorded only if the lane is configured so.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Times from reading a request until its reply was written, or until it was redispatched to another lane.
///
/// Log-linear, like an HDR histogram: 16 buckets per power of two, so the relative error is at most 1/16; from 1 ns to 2 minutes.
/// 4 KiB for each lane, allocated and touched when the lane is made.
pub struct ServiceTimes {
    buckets: Box<[AtomicU64]>,
    sum: AtomicU64,
    longest: AtomicU64,
}

impl ServiceTimes {
    pub(crate) fn record(&self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.buckets[index(nanoseconds)].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(nanoseconds, Ordering::Relaxed);
        if nanoseconds > self.longest.load(Ordering::Relaxed) {
            self.longest.fetch_max(nanoseconds, Ordering::Relaxed);
        }
    }

    /// Buckets that are not empty: exclusive upper bound in nanoseconds, and count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let counts = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        let with_bounds = counts.enumerate().map(|(index, count)| (end(index), count));
        with_bounds.filter(|(_, count)| *count > 0)
    }

    /// Sum of all times in nanoseconds.
    pub fn sum(&self) -> u64 {
        self.sum.load(Ordering::Relaxed)
    }

    /// Longest time in nanoseconds.
    pub fn longest(&self) -> u64 {
        self.longest.load(Ordering::Relaxed)
    }
}

impl Default for ServiceTimes {
    fn default() -> Self {
        Self {
            buckets: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
            longest: AtomicU64::new(0),
        }
    }
}

/// Logarithm of the number of buckets per power of two.
const FINE: u32 = 4;
/// Times of 2^37 ns (137 s) and more are in the last bucket.
const LONGEST: u64 = (1 << 37) - 1;
const BUCKETS: usize = index(LONGEST) + 1;

/// Index of the bucket of a time; exact below 32 ns.
const fn index(nanoseconds: u64) -> usize {
    let nanoseconds = if nanoseconds > LONGEST {
        LONGEST
    } else {
        nanoseconds
    };
    let power = 63 - (nanoseconds | 1).leading_zeros();
    let shift = power.saturating_sub(FINE);
    ((shift as usize) << FINE) + (nanoseconds >> shift) as usize
}

/// Exclusive upper bound of a bucket.
fn end(index: usize) -> u64 {
    let shift = (index >> FINE).saturating_sub(1);
    let leading = index - (shift << FINE);
    (leading as u64 + 1) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_lies_in_the_bucket_below_whose_end_it_is() {
        let mut last = 0;
        for nanoseconds in (0..2000).chain([50_000, 1 << 20, (1 << 30) + 7, LONGEST]) {
            let index = index(nanoseconds);
            assert!(index >= last, "{nanoseconds}: in order");
            last = index;
            assert!(nanoseconds < end(index), "{nanoseconds}");
            assert!(index == 0 || nanoseconds >= end(index - 1), "{nanoseconds}");
            assert!(
                end(index) - nanoseconds <= 1 + nanoseconds / 16,
                "{nanoseconds}: to a sixteenth"
            );
        }
        assert_eq!((BUCKETS, index(u64::MAX)), (544, 543));
    }

    #[test]
    fn what_is_recorded_is_there() {
        let times = ServiceTimes::default();
        for microseconds in [10, 10, 2_000, 10] {
            times.record(Duration::from_micros(microseconds));
        }
        let counts: Vec<_> = times.buckets().map(|(_, count)| count).collect();
        assert_eq!(counts, [3, 1]);
        assert_eq!((times.sum(), times.longest()), (2_030_000, 2_000_000));
        times.record(Duration::MAX);
        assert_eq!(times.longest(), u64::MAX);
    }
}
