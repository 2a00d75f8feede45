//! Points in time of event headers: units of 100 ns since 15 October 1582.

use std::time::{Duration, SystemTime};

/// The Unix epoch.
pub const UNIX_EPOCH: u64 = 122_192_928_000_000_000;

/// Returns the current calendar time, in the units of event headers.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    UNIX_EPOCH + units(since.unwrap_or_default())
}

/// Converts a duration to units of 100 ns.
pub(crate) fn units(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos() / 100).unwrap_or(u64::MAX)
}

/// Converts a number of units of 100 ns to a duration.
pub(crate) fn duration(units: u64) -> Duration {
    Duration::from_nanos(units.saturating_mul(100))
}
