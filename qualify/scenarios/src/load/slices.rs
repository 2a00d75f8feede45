//! Alternating slices of time, without and with the other clients.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Time in slices of one length: in every second one, starting with the second, the other clients call, too.
///
/// They alternate so that disturbances of the machine affect both kinds.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Slices {
    pub(crate) length: Duration,
}

impl Slices {
    /// Time for which the others' last call may still run; measurements in it belong to neither kind.
    const SETTLING: Duration = Duration::from_millis(20);

    /// Returns whether the others call at this time after the start.
    pub(crate) fn have_others(self, since_start: Duration) -> bool {
        self.number(since_start) % 2 == 1
    }

    /// Returns whether this time belongs to its kind of slice.
    pub(crate) fn is_settled(self, since_start: Duration) -> bool {
        let into = since_start - self.length * self.number(since_start);
        self.have_others(since_start) || into >= Self::SETTLING
    }

    /// Returns the earliest time from this one on at which the others may call.
    pub(super) fn next_with_others(self, since_start: Duration) -> Duration {
        if self.have_others(since_start) {
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
    fn slices_without_and_with_the_others_alternate() {
        let slices = Slices {
            length: Duration::from_millis(500),
        };
        let at = Duration::from_millis;
        let with_others = [0, 499, 500, 999, 1000, 1500].map(|ms| slices.have_others(at(ms)));
        assert_eq!(with_others, [false, false, true, true, false, true]);
        assert_eq!(slices.next_with_others(at(100)), at(500));
        assert_eq!(slices.next_with_others(at(700)), at(700));
        assert_eq!(slices.next_with_others(at(1200)), at(1500));
    }

    #[test]
    fn slices_without_the_others_settle_first() {
        let slices = Slices {
            length: Duration::from_millis(500),
        };
        let at = Duration::from_millis;
        let settled = [1000, 1019, 1021, 1500].map(|ms| slices.is_settled(at(ms)));
        assert_eq!(settled, [false, false, true, true]);
    }
}
