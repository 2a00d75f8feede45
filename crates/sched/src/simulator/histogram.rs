//! Histogram of response times.

use alloc::vec::Vec;

use punctual_types::LogLinear;

/// Histogram of times with a relative error of at most 1/32.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time, simulator::{Host, Model, Simulation, Step, Task}};
///
/// # let mut task = Task::new("track");
/// # task.hosts = vec![0; 100];
/// # task.steps = vec![Step::compute(Duration::from_millis(2))];
/// # let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// # let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// # simulation.run_until(Time(1_000_000_000), &mut ())?;
/// // A hundred threads of 2 ms, one after the other.
/// let response = &simulation.finish().tasks[0].response;
/// assert_eq!((response.count(), response.max()), (100, Some(200_000_000)));
/// let median = response.percentile(50.0).expect("there are some");
/// assert!((100_000_000..104_000_000).contains(&median));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Histogram {
    counts: Vec<u32>,
    count: u64,
    min: u64,
    max: u64,
}

impl Histogram {
    pub(super) fn record(&mut self, nanoseconds: u64) {
        let bucket = Buckets::index(nanoseconds);
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
                return Some(Buckets::last(bucket).clamp(self.min, self.max));
            }
        }
        Some(self.max)
    }
}

/// 32 buckets per power of two.
type Buckets = LogLinear<5>;

#[cfg(test)]
mod tests {
    use super::*;

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
