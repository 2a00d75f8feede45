//! Counts of operations by their result.

use serde::{Deserialize, Serialize};

/// The result of one arrival of an operation.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Fate {
    /// Dispatched, and completed by its deadline.
    Made,
    /// Dispatched, and completed later or not at all.
    Missed,
    /// Cancelled before it was dispatched, because it would have been late.
    Cancelled,
    /// Never dispatched: the run ended first, or, where arrivals do not queue, the previous one had not
    /// completed.
    Dropped,
}

/// One arrival.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Arrival {
    /// Index of the model's task.
    pub(super) task: u32,
    /// Release time in nanoseconds since the start.
    pub(super) release: u64,
    pub(super) fate: Fate,
}

/// Numbers of results of one kind of operation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Counts {
    pub(super) made: u32,
    pub(super) missed: u32,
    pub(super) cancelled: u32,
    pub(super) dropped: u32,
}

impl Counts {
    pub(super) fn add(&mut self, fate: Fate) {
        match fate {
            Fate::Made => self.made += 1,
            Fate::Missed => self.missed += 1,
            Fate::Cancelled => self.cancelled += 1,
            Fate::Dropped => self.dropped += 1,
        }
    }

    /// Returns the missed deadlines of operations that were not cancelled, dispatched or not.
    pub(super) fn all_missed(self) -> u32 {
        self.missed + self.dropped
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            made: self.made + other.made,
            missed: self.missed + other.missed,
            cancelled: self.cancelled + other.cancelled,
            dropped: self.dropped + other.dropped,
        }
    }
}

/// The results of one second of arrivals.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Sample {
    pub(super) critical: Counts,
    pub(super) other: Counts,
}

impl Sample {
    pub(super) const LENGTH_NS: u64 = 1_000_000_000;

    /// Counts results by second of arrival; `is_critical` classifies tasks.
    pub(super) fn all(arrivals: &[Arrival], seconds: u64, is_critical: impl Fn(u32) -> bool) -> Vec<Self> {
        let mut samples = vec![Self::default(); seconds as usize];
        for arrival in arrivals {
            let place = (arrival.release / Self::LENGTH_NS) as usize;
            let Some(sample) = samples.get_mut(place) else {
                continue;
            };
            let counts = match is_critical(arrival.task) {
                true => &mut sample.critical,
                false => &mut sample.other,
            };
            counts.add(arrival.fate);
        }
        samples
    }

    pub(super) fn total(samples: &[Self]) -> Self {
        samples.iter().fold(Self::default(), |sum, sample| Self {
            critical: sum.critical.plus(sample.critical),
            other: sum.other.plus(sample.other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_counted_by_second_and_kind() {
        let arrival = |task, release, fate| Arrival { task, release, fate };
        let arrivals = [
            arrival(0, 0, Fate::Made),
            arrival(1, 999_999_999, Fate::Missed),
            arrival(1, 1_000_000_000, Fate::Cancelled),
            arrival(0, 1_500_000_000, Fate::Dropped),
            arrival(0, 2_000_000_000, Fate::Made),
        ];
        let samples = Sample::all(&arrivals, 2, |task| task == 0);
        assert_eq!((samples[0].critical.made, samples[0].other.missed), (1, 1));
        let total = Sample::total(&samples);
        assert_eq!((total.critical.made, total.critical.all_missed()), (1, 1));
        assert_eq!((total.other.cancelled, total.other.all_missed()), (1, 1));
    }
}
