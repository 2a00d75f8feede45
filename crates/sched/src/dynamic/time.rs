//! Points in time.

use core::{
    ops::{Add, Sub},
    time::Duration,
};

/// A point in time of one host: nanoseconds since the beginning of its clock. This is CLOCK_MONOTONIC in live
/// operation and the virtual clock in the simulator. Times of different hosts are not comparable.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::Time;
///
/// let (now, period) = (Time(5_000_000), Duration::from_millis(10));
/// let deadline = now + period;
/// assert_eq!(deadline, Time(15_000_000));
/// assert_eq!(deadline.since(now), period);
/// assert!(deadline < Time::NEVER);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Time(pub u64);

impl Time {
    /// Later than all others: the deadline of work without a deadline.
    pub const NEVER: Self = Self(u64::MAX);

    /// Returns the time elapsed since `earlier`; zero if that is not earlier.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Saturates at [`Time::NEVER`].
impl Add<Duration> for Time {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(nanoseconds(duration)))
    }
}

/// Saturates at the beginning of the clock.
impl Sub<Duration> for Time {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(nanoseconds(duration)))
    }
}

/// Returns the nanoseconds of a duration, saturating.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
