//! Octets per second, as the program counts them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use punctual_os::PiMutex;

use crate::Condition;

/// Source of a condition in octets per second. Clones count together; lanes may count, without a lock.
///
/// ```
/// use punctual_qos::{Bandwidth, Condition};
///
/// let condition = Condition::new("octets_s");
/// let bandwidth = Bandwidth::new(&condition);
/// bandwidth.add(1_500);
/// bandwidth.sample();
/// assert!(condition.value().is_some_and(|octets| octets > 0.0));
/// ```
#[derive(Clone, Debug)]
pub struct Bandwidth {
    condition: Condition,
    counted: Arc<Counted>,
}

#[derive(Debug)]
struct Counted {
    octets: AtomicU64,
    /// Time of the last sample.
    sampled: PiMutex<Instant>,
}

impl Bandwidth {
    /// Begins to count now.
    pub fn new(condition: &Condition) -> Self {
        Self {
            condition: condition.clone(),
            counted: Arc::new(Counted {
                octets: AtomicU64::new(0),
                sampled: PiMutex::new(Instant::now()),
            }),
        }
    }

    /// Counts octets that were sent, received or processed.
    pub fn add(&self, octets: u64) {
        self.counted.octets.fetch_add(octets, Relaxed);
    }

    /// Sets the condition to the octets per second since the last sample; 0 if there were none.
    pub fn sample(&self) {
        self.sample_at(Instant::now());
    }

    fn sample_at(&self, now: Instant) {
        let mut sampled = self.counted.sampled.lock();
        let elapsed = now.saturating_duration_since(*sampled);
        if elapsed.is_zero() {
            return;
        }
        *sampled = now;
        let octets = self.counted.octets.swap(0, Relaxed);
        self.condition.set(octets as f64 / elapsed.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn octets_of_all_clones_are_divided_by_the_time_between_samples() {
        let condition = Condition::new("octets_s");
        let bandwidth = Bandwidth::new(&condition);
        let begin = *bandwidth.counted.sampled.lock();
        let at = |milliseconds| begin + Duration::from_millis(milliseconds);
        bandwidth.sample_at(begin);
        assert_eq!(condition.value(), None, "no time has passed");
        bandwidth.add(600);
        bandwidth.clone().add(400);
        bandwidth.sample_at(at(250));
        assert_eq!(condition.value(), Some(4_000.0));
        bandwidth.sample_at(at(250));
        assert_eq!(condition.value(), Some(4_000.0), "no time has passed");
        bandwidth.sample_at(at(500));
        assert_eq!(condition.value(), Some(0.0));
    }
}
