//! Deadlines by the clocks of two hosts.

use core::time::Duration;

use punctual_sched::dynamic::Time;

/// One instant by the two clocks between which deadlines are converted. Read one directly after the other.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use {punctual_rtsched::*, punctual_sched::dynamic::*}; } }
/// use std::time::SystemTime;
///
/// use punctual::rtscheduling::{Time, wire::{Clocks, UtcTime}};
///
/// let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
/// // `local` is the reading of CLOCK_MONOTONIC.
/// let clocks = Clocks { local: Time(1_000), utc: UtcTime::from_unix(since_1970) };
/// assert!(clocks.utc > UtcTime(0));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Clocks {
    /// The monotonic clock of this host.
    pub local: Time,
    /// The calendar, which other hosts share approximately.
    pub utc: UtcTime,
}

/// A point in time of the calendar: units of 100 ns since the 15th of October 1582 (UTC). Source:
/// `TimeBase::TimeT`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct UtcTime(pub u64);

impl UtcTime {
    /// The start of 1970.
    const UNIX_EPOCH: u64 = 0x01b2_1dd2_1381_4000;

    /// Converts the time since the start of 1970, rounded down; at most some 58,000 years.
    ///
    /// ```
    /// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
    /// use punctual::rtscheduling::wire::UtcTime;
    /// use std::time::SystemTime;
    ///
    /// let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    /// let now = UtcTime::from_unix(since_1970.unwrap_or_default());
    /// assert!(now > UtcTime(0x01ed_0000_0000_0000), "it is later than 2022");
    /// ```
    pub fn from_unix(since_1970: Duration) -> Self {
        let units = u64::try_from(since_1970.as_nanos() / 100).unwrap_or(u64::MAX);
        Self(units.saturating_add(Self::UNIX_EPOCH))
    }
}

/// A deadline in a context.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct SentDeadline {
    /// Deadline by the sender's calendar.
    pub(super) absolute: UtcTime,
    /// Remaining time when the request was sent, in nanoseconds; negative after the deadline.
    pub(super) left: i64,
}

impl SentDeadline {
    /// Converts a deadline; `None` for [`Time::NEVER`].
    pub(super) fn of(deadline: Time, clocks: &Clocks) -> Option<Self> {
        if deadline == Time::NEVER {
            return None;
        }
        let left = i128::from(deadline.0) - i128::from(clocks.local.0);
        // Rounded down, so that no host gains time.
        let absolute = i128::from(clocks.utc.0) + left.div_euclid(100);
        Some(Self {
            absolute: UtcTime(absolute.clamp(0, i128::from(u64::MAX)) as u64),
            left: left.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64,
        })
    }

    /// Converts to the receiver's clock. The calendar determines the remaining time, which is never more than
    /// when the request was sent, and at most `max_skew` less, however wrong either calendar is.
    pub(super) fn here(self, clocks: &Clocks, max_skew: Duration) -> Time {
        let sent = i128::from(self.left);
        let by_calendar = (i128::from(self.absolute.0) - i128::from(clocks.utc.0)) * 100;
        let skew = i128::try_from(max_skew.as_nanos()).unwrap_or(i128::MAX >> 1);
        after(clocks.local, by_calendar.clamp(sent - skew, sent))
    }
}

/// Returns the time `left` nanoseconds after `now`.
pub(super) fn after(now: Time, left: i128) -> Time {
    Time((i128::from(now.0) + left).clamp(0, i128::from(Time::NEVER.0 - 1)) as u64)
}

/// Converts a deadline of Kokyu: units of 100 ns since 1970. Its schedulers send a meaningless one for
/// threads without a deadline, so anything more than a day away is ignored.
pub(super) fn kokyu_deadline(units_since_1970: u64, clocks: &Clocks) -> Time {
    const A_DAY: i128 = 24 * 3600 * 1_000_000_000;
    let absolute = i128::from(units_since_1970) + i128::from(UtcTime::UNIX_EPOCH);
    let left = (absolute - i128::from(clocks.utc.0)) * 100;
    if left.abs() < A_DAY {
        after(clocks.local, left)
    } else {
        Time::NEVER
    }
}
