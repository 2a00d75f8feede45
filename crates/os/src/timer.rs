//! Waking a waiting place at a point in time.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

/// A point in time that a [`crate::Poller`] can wait for: a timerfd of CLOCK_MONOTONIC.
///
/// With [`crate::Trigger::Edge`] each time that is set wakes one waiter, once.
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

/// One that has passed already: a zero would disarm the timer.
const AT_ONCE: Duration = Duration::from_nanos(1);
/// No sum of it and a clock overflows.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

impl Timer {
    /// A timer that is not set.
    ///
    /// # Errors
    /// The limit of open files (RLIMIT_NOFILE) is reached.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self {
            timerfd: timerfd_create(TimerfdClockId::Monotonic, flags)?,
        })
    }

    /// Fires at this time instead of the one before, never earlier; at once where it has passed. One system call.
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
