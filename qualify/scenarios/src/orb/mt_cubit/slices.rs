use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Time in slices of one length: in every second one, from the second on, the other clients call beside the first.
///
/// With and without them alternate, so that what disturbs the machine falls on both.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Slices {
    pub(crate) length_s: f64,
}

impl Slices {
    /// How long after the others' last call may have begun it may still be under way; what is measured then is neither.
    const SETTLING_S: f64 = 0.02;

    /// Whether the others call at that time after the start.
    pub(crate) fn are_beside(self, since_start: Duration) -> bool {
        self.number(since_start) % 2 == 1
    }

    /// Whether the time says something of the kind of slice that it is in.
    pub(crate) fn is_settled(self, since_start: Duration) -> bool {
        let into = since_start.as_secs_f64() - self.number(since_start) as f64 * self.length_s;
        self.are_beside(since_start) || into >= Self::SETTLING_S
    }

    /// When the others may call, from that time on.
    pub(super) fn next_beside(self, since_start: Duration) -> Duration {
        if self.are_beside(since_start) {
            since_start
        } else {
            Duration::from_secs_f64((self.number(since_start) + 1) as f64 * self.length_s)
        }
    }

    fn number(self, since_start: Duration) -> u64 {
        // A rounding error at the border between two is none: the slice after it is as good.
        (since_start.as_secs_f64() / self.length_s + 1e-9) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_and_with_alternate() {
        let slices = Slices { length_s: 0.5 };
        let at = Duration::from_millis;
        let beside = [0, 499, 500, 999, 1000, 1500].map(|ms| slices.are_beside(at(ms)));
        assert_eq!(beside, [false, false, true, true, false, true]);
        assert_eq!(slices.next_beside(at(100)), at(500));
        assert_eq!(slices.next_beside(at(700)), at(700));
        assert_eq!(slices.next_beside(at(1200)), at(1500));
    }

    #[test]
    fn only_what_is_left_of_the_others_is_waited_for() {
        let slices = Slices { length_s: 0.5 };
        let at = Duration::from_millis;
        let settled = [1000, 1019, 1021, 1500].map(|ms| slices.is_settled(at(ms)));
        assert_eq!(settled, [false, false, true, true]);
    }

    #[test]
    fn the_next_slice_with_the_others_is_one() {
        let slices = Slices { length_s: 0.7 };
        for number in 0..200 {
            let next = slices.next_beside(Duration::from_secs_f64(f64::from(number) * 0.7));
            assert!(slices.are_beside(next), "{number}");
        }
    }
}
