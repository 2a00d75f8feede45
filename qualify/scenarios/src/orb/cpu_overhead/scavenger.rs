//! The scavenger process, which counts the time that other threads leave.

use std::time::Duration;

use punctual_harness::{
    Span,
    child::{Role, Task, TaskEntry},
};
use punctual_os::clock;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The scavenger process: one thread of the default class, below every real-time thread.
pub(crate) struct Scavenger;

impl Role for Scavenger {
    const NAME: &'static str = "__orb-scavenger";
    type Setup = ();
    type Ready = ();
    const TASKS: &'static [TaskEntry<Self>] = &[TaskEntry::of::<Spin>()];

    fn start((): ()) -> Result<(Self, ()), Error> {
        Ok((Self, ()))
    }
}

impl Task<Scavenger> for Spin {
    const NAME: &'static str = "spin";
    type Reply = Spun;

    fn perform(self, _: &mut Scavenger) -> Result<Spun, Error> {
        Ok(Spun::of(self.length))
    }
}

/// A command of the driver: count for this time.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Spin {
    pub(super) length: Duration,
}

/// The scavenger's count.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Spun {
    /// Start, by the monotonic clock.
    start_ns: u64,
    /// Iterations that ended in each millisecond since the start.
    counts: Vec<u32>,
}

const BUCKET_NS: u64 = 1_000_000;

impl Spun {
    fn of(length: Duration) -> Self {
        let buckets = length.as_nanos() as u64 / BUCKET_NS;
        let mut counts = vec![0; buckets as usize];
        let start = clock::monotonic();
        loop {
            iteration();
            let bucket = (clock::monotonic() - start).as_nanos() as u64 / BUCKET_NS;
            match counts.get_mut(bucket as usize) {
                Some(count) => *count += 1,
                None => break,
            }
        }
        Self {
            start_ns: start.as_nanos() as u64,
            counts,
        }
    }

    /// Returns iterations per second over the milliseconds that are completely within a span. `None` if there
    /// are none, or if the span exceeds the count.
    pub(super) fn per_second(&self, within: Span) -> Option<f64> {
        let first = within.start_ns.checked_sub(self.start_ns)?.div_ceil(BUCKET_NS) as usize;
        let end = (within.end_ns.checked_sub(self.start_ns)? / BUCKET_NS) as usize;
        let whole = self.counts.get(first..end).filter(|counts| !counts.is_empty())?;
        let sum: f64 = whole.iter().copied().map(f64::from).sum();
        Some(sum * 1e9 / (whole.len() as u64 * BUCKET_NS) as f64)
    }
}

/// Executes about a microsecond of arithmetic that the compiler cannot remove.
fn iteration() {
    let mut value = 1_u64;
    for step in 0..400 {
        value = std::hint::black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_milliseconds_within_the_span_count() {
        let spun = Spun {
            start_ns: 500_000,
            counts: vec![1000, 10, 30, 1000],
        };
        let rate = |start_ns, end_ns| spun.per_second(Span { start_ns, end_ns });
        assert_eq!(rate(1_500_000, 3_500_000), Some(20_000.0));
        assert_eq!(rate(600_000, 3_600_000), Some(20_000.0));
        assert_eq!(rate(600_000, 1_600_000), None, "no whole millisecond");
        assert_eq!(rate(100_000, 3_000_000), None, "before the count");
        assert_eq!(rate(600_000, 9_000_000), None, "after the count");
    }

    #[test]
    fn the_count_has_the_requested_length() {
        let spun = Spun::of(Duration::from_millis(20));
        assert_eq!(spun.counts.len(), 20);
        assert!(spun.counts.iter().sum::<u32>() > 0);
    }
}
