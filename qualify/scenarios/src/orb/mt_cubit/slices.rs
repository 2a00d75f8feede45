use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Time in slices of one length: in every second one, from the second on, the other clients call beside the
/// first.
///
/// With and without them alternate, so that what disturbs the machine falls on both.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Slices {
    pub(crate) length: Duration,
}

impl Slices {
    /// How long after the others' last call may have begun it may still be under way; what is measured then
    /// is neither.
    const SETTLING: Duration = Duration::from_millis(20);

    /// Whether the others call at that time after the start.
    pub(crate) fn are_beside(self, since_start: Duration) -> bool {
        self.number(since_start) % 2 == 1
    }

    /// Whether the time says something of the kind of slice that it is in.
    pub(crate) fn is_settled(self, since_start: Duration) -> bool {
        let into = since_start - self.length * self.number(since_start);
        self.are_beside(since_start) || into >= Self::SETTLING
    }

    /// When the others may call, from that time on.
    pub(super) fn next_beside(self, since_start: Duration) -> Duration {
        if self.are_beside(since_start) {
            since_start
        } else {
            self.length * (self.number(since_start) + 1)
        }
    }

    fn number(self, since_start: Duration) -> u32 {
        (since_start.as_nanos() / self.length.as_nanos()) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_and_with_alternate() {
        let slices = Slices {
            length: Duration::from_millis(500),
        };
        let at = Duration::from_millis;
        let beside = [0, 499, 500, 999, 1000, 1500].map(|ms| slices.are_beside(at(ms)));
        assert_eq!(beside, [false, false, true, true, false, true]);
        assert_eq!(slices.next_beside(at(100)), at(500));
        assert_eq!(slices.next_beside(at(700)), at(700));
        assert_eq!(slices.next_beside(at(1200)), at(1500));
    }

    #[test]
    fn only_what_is_left_of_the_others_is_waited_for() {
        let slices = Slices {
            length: Duration::from_millis(500),
        };
        let at = Duration::from_millis;
        let settled = [1000, 1019, 1021, 1500].map(|ms| slices.is_settled(at(ms)));
        assert_eq!(settled, [false, false, true, true]);
    }
}
