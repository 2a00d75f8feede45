use alloc::vec::Vec;

/// Counts of times, to a 32nd of each.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Histogram {
    counts: Vec<u32>,
    count: u64,
    min: u64,
    max: u64,
}

impl Histogram {
    pub(super) fn record(&mut self, nanoseconds: u64) {
        let place = place(nanoseconds);
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] = self.counts[place].saturating_add(1);
        self.min = if self.count == 0 {
            nanoseconds
        } else {
            self.min.min(nanoseconds)
        };
        self.max = self.max.max(nanoseconds);
        self.count += 1;
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The shortest, in nanoseconds; `None` without any.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// The longest, in nanoseconds; `None` without any.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// What so many percent are not above, in nanoseconds, at most a 32nd too long; `None` without any.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let share = (percent / 100.0).clamp(0.0, 1.0) * self.count as f64;
        // Rounded up, without the standard library's `ceil`.
        let whole = share as u64;
        let rank = (whole + u64::from(whole as f64 != share)).max(1);
        let mut below = 0;
        for (place, count) in self.counts.iter().enumerate() {
            below += u64::from(*count);
            if below >= rank {
                return Some(longest(place).clamp(self.min, self.max));
            }
        }
        Some(self.max)
    }
}

/// Each power of two has so many places.
const SUB: u64 = 32;

fn place(value: u64) -> usize {
    if value < SUB {
        return value as usize;
    }
    let power = value.ilog2() - SUB.ilog2();
    (u64::from(power + 1) * SUB + ((value >> power) - SUB)) as usize
}

/// The longest time that a place counts.
fn longest(place: usize) -> u64 {
    let place = place as u64;
    if place < 2 * SUB {
        return place;
    }
    let power = place / SUB - 1;
    let next = u128::from(place % SUB + SUB + 1) << power;
    u64::try_from(next - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_one_another_and_know_their_times() {
        for value in [0, 1, 31, 32, 33, 63, 64, 65, 1000, 1 << 40, u64::MAX] {
            let at = place(value);
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
