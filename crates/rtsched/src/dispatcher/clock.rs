//! The clock of scheduling: CLOCK_MONOTONIC of this host.

use std::time::{Duration, Instant};

use punctual_os::clock;
use punctual_sched::dynamic::Time;

/// Reads the clock.
pub(crate) fn now() -> Time {
    Time(u64::try_from(clock::monotonic().as_nanos()).unwrap_or(u64::MAX))
}

/// Converts a point in time to the type of the standard library.
pub(crate) fn instant(time: Time) -> Instant {
    // A time that the clock never reaches becomes one in a hundred years.
    let left = time.since(now()).min(Duration::from_secs(100 * 365 * 24 * 3600));
    Instant::now() + left
}
