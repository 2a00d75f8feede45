//! Durations, each with its start time.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use punctual_harness::Span;
use punctual_os::clock;
use serde::{Deserialize, Serialize};

/// A start time and a duration, in nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Sample(pub(crate) u64, pub(crate) u64);

impl Sample {
    pub(crate) fn span(self) -> Span {
        Span {
            start_ns: self.0,
            end_ns: self.0 + self.1,
        }
    }
}

/// A log of samples for measured threads: no lock, system call, allocation or page fault. When it is full,
/// further samples are dropped.
pub(crate) struct Log {
    places: Box<[(AtomicU64, AtomicU64)]>,
    taken: AtomicUsize,
}

impl Log {
    pub(crate) fn with_room_for(samples: usize) -> Self {
        // Written, so that the pages are mapped.
        let place = |_| (AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX));
        Self {
            places: (0..samples).map(place).collect(),
            taken: AtomicUsize::new(0),
        }
    }

    /// Records a sample from two readings of [`now_ns`].
    pub(crate) fn record(&self, begin_ns: u64, end_ns: u64) {
        if let Some((begin, length)) = self.places.get(self.taken.fetch_add(1, Ordering::Relaxed)) {
            begin.store(begin_ns, Ordering::Relaxed);
            length.store(end_ns.saturating_sub(begin_ns), Ordering::Relaxed);
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.taken.load(Ordering::Relaxed) >= self.places.len()
    }

    /// Returns the samples in the order of recording. Call it after all recording threads have ended.
    pub(crate) fn samples(&self) -> Vec<Sample> {
        let taken = self.taken.load(Ordering::Relaxed).min(self.places.len());
        let places = self.places[..taken].iter();
        places
            .map(|(begin, length)| Sample(begin.load(Ordering::Relaxed), length.load(Ordering::Relaxed)))
            .collect()
    }
}

/// Reads the monotonic clock.
pub(crate) fn now_ns() -> u64 {
    let now = clock::monotonic();
    Span::between(now, now).start_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_drops_further_samples() {
        let log = Log::with_room_for(2);
        assert!(!log.is_full());
        for begin in [10, 20, 30] {
            log.record(begin, begin + 5);
        }
        assert!(log.is_full());
        assert_eq!(log.samples(), [Sample(10, 5), Sample(20, 5)]);
        assert_eq!(
            Sample(10, 5).span(),
            Span {
                start_ns: 10,
                end_ns: 15
            }
        );
    }
}
