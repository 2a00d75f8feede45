//! Waking a poller at a point in time.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

/// Timer that a [`crate::Poller`] can wait for: a timerfd of CLOCK_MONOTONIC.
///
/// With [`crate::Trigger::Edge`] each expiry wakes one waiter once.
///
/// ```
/// use std::time::{Duration, Instant};
/// use punctual_os::{Interest, Poller, Trigger, timer::Timer};
/// let (poller, timer) = (Poller::new()?, Timer::new()?);
/// poller.add(&timer, 7, Interest::READ, Trigger::Edge)?;
/// let soon = Instant::now() + Duration::from_millis(5);
/// timer.set(soon)?;
/// assert_eq!(poller.wait_one(None)?.map(|event| event.token()), Some(7));
/// assert!(Instant::now() >= soon);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Timer {
    timerfd: OwnedFd,
}

/// Shortest time: zero would disarm the timer.
const AT_ONCE: Duration = Duration::from_nanos(1);
/// Longest time: its sum with the clock's value does not overflow.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

impl Timer {
    /// Creates a timer that is not set.
    ///
    /// # Errors
    /// The limit of open files (RLIMIT_NOFILE) is reached.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self {
            timerfd: timerfd_create(TimerfdClockId::Monotonic, flags)?,
        })
    }

    /// Sets the time of expiry, replacing an earlier one. The timer never expires earlier; if the time has
    /// passed, it expires at once. One system call.
    ///
    /// # Errors
    /// None is known for a valid timer.
    pub fn set(&self, at: Instant) -> io::Result<()> {
        let left = at
            .saturating_duration_since(Instant::now())
            .clamp(AT_ONCE, LONGEST);
        let none = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let value = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        };
        let once = Itimerspec {
            it_interval: none,
            it_value: value,
        };
        timerfd_settime(&self.timerfd, TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timerfd.as_fd()
    }
}
