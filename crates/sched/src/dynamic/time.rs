use core::{
    ops::{Add, Sub},
    time::Duration,
};

/// A point in time of one host: nanoseconds since the beginning of its clock. Live that is CLOCK_MONOTONIC, in the simulator the
/// virtual clock. Times of different hosts are not comparable.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Time(pub u64);

impl Time {
    /// Later than all others: a deadline that is none.
    pub const NEVER: Self = Self(u64::MAX);

    /// How long it is from `earlier` to this; zero where that is not earlier.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Ends at [`Time::NEVER`].
impl Add<Duration> for Time {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanoseconds))
    }
}

/// Ends at the clock's beginning.
impl Sub<Duration> for Time {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_sub(nanoseconds))
    }
}
