//! Times that the program measures: of calls, of services, from end to end.

use std::{sync::Arc, time::Duration};

use punctual_os::PiMutex;

use crate::Condition;

/// Source of a condition in milliseconds. Clones record together; lanes may record: the lock inherits
/// priority, and nothing is allocated.
///
/// ```
/// use std::time::{Duration, Instant};
/// use punctual_qos::{Condition, Latency};
///
/// let condition = Condition::new("longest_call_ms");
/// let latency = Latency::longest(&condition);
/// let began = Instant::now();
/// // A call.
/// latency.record(began.elapsed());
/// latency.record(Duration::from_millis(12));
/// latency.sample();
/// assert_eq!(condition.value(), Some(12.0));
/// ```
#[derive(Clone, Debug)]
pub struct Latency {
    condition: Condition,
    kind: Kind,
    recorded: Arc<PiMutex<Recorded>>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Mean,
    Longest,
}

/// Values recorded since the last sample.
#[derive(Debug, Default)]
struct Recorded {
    count: u32,
    sum: Duration,
    longest: Duration,
}

impl Latency {
    /// Fills the condition with the mean of the times since the last sample.
    pub fn mean(condition: &Condition) -> Self {
        Self::of_kind(condition, Kind::Mean)
    }

    /// Fills the condition with the longest time since the last sample.
    pub fn longest(condition: &Condition) -> Self {
        Self::of_kind(condition, Kind::Longest)
    }

    fn of_kind(condition: &Condition, kind: Kind) -> Self {
        Self {
            condition: condition.clone(),
            kind,
            recorded: Arc::default(),
        }
    }

    /// Records a time.
    pub fn record(&self, time: Duration) {
        let mut recorded = self.recorded.lock();
        recorded.count = recorded.count.saturating_add(1);
        recorded.sum = recorded.sum.saturating_add(time);
        recorded.longest = recorded.longest.max(time);
    }

    /// Sets the condition to the mean or the longest time since the last sample; without one, it stays.
    pub fn sample(&self) {
        let Recorded { count, sum, longest } = std::mem::take(&mut *self.recorded.lock());
        if count == 0 {
            return;
        }
        let nanoseconds = match self.kind {
            Kind::Mean => sum.as_nanos() as f64 / f64::from(count),
            Kind::Longest => longest.as_nanos() as f64,
        };
        self.condition.set(nanoseconds / 1e6);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_the_mean_or_the_longest_since_the_one_before() {
        let (mean, longest) = (Condition::new("mean_ms"), Condition::new("longest_ms"));
        let sources = [Latency::mean(&mean), Latency::longest(&longest)];
        let sampled = |times: &[u64]| {
            for source in &sources {
                let other = source.clone();
                let record = |time: &u64| other.record(Duration::from_millis(*time));
                times.iter().for_each(record);
                source.sample();
            }
            (mean.value(), longest.value())
        };
        assert_eq!(sampled(&[]), (None, None));
        assert_eq!(sampled(&[2, 4, 12]), (Some(6.0), Some(12.0)));
        assert_eq!(sampled(&[3]), (Some(3.0), Some(3.0)), "earlier ones do not count");
        assert_eq!(sampled(&[]), (Some(3.0), Some(3.0)), "nothing is known");
    }
}
