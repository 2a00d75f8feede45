//! Service times of a lane's requests, as a histogram of relaxed atomics; recorded only if the lane is
//! configured so.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use punctual_types::LogLinear;

/// Times from reading a request until its reply was written, or until it was redispatched to another lane.
///
/// Log-linear: the relative error is at most 1/16, from 1 ns to 2 minutes. 4 KiB per lane, allocated when the
/// lane is created.
pub struct ServiceTimes {
    buckets: Box<[AtomicU64]>,
    sum: AtomicU64,
    longest: AtomicU64,
}

impl ServiceTimes {
    pub(crate) fn record(&self, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.buckets[Buckets::index(nanoseconds.min(LONGEST))].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(nanoseconds, Ordering::Relaxed);
        if nanoseconds > self.longest.load(Ordering::Relaxed) {
            self.longest.fetch_max(nanoseconds, Ordering::Relaxed);
        }
    }

    /// Buckets that are not empty: exclusive upper bound in nanoseconds, and count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let counts = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        let with_bounds = counts
            .enumerate()
            .map(|(index, count)| (Buckets::last(index) + 1, count));
        with_bounds.filter(|(_, count)| *count > 0)
    }

    /// Returns the sum of all times in nanoseconds.
    pub fn sum(&self) -> u64 {
        self.sum.load(Ordering::Relaxed)
    }

    /// Returns the longest time in nanoseconds.
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

/// 16 buckets per power of two.
type Buckets = LogLinear<4>;

/// Times of 2^37 ns (137 s) and more are in the last bucket.
const LONGEST: u64 = (1 << 37) - 1;
const BUCKETS: usize = Buckets::index(LONGEST) + 1;

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!((BUCKETS, times.buckets().last()), (544, Some((1 << 37, 1))));
    }
}
