//! Timers of the kernel.

use std::os::fd::OwnedFd;

use rustix::{
    thread::clock_nanosleep_absolute,
    time::{
        ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    },
};

use super::samples::now_ns;
use crate::error::Error;

/// A periodic kernel timer.
pub(super) struct Timer(OwnedFd);

impl Timer {
    pub(super) fn start(first_ns: u64, period_ns: u64) -> Result<Self, Error> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        let times = Itimerspec {
            it_interval: timespec(period_ns),
            it_value: timespec(first_ns),
        };
        timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &times)?;
        Ok(Self(timer))
    }

    /// Waits for the next expiry, without a deadline, and returns the number of expiries since the last call.
    pub(super) fn wait(&self) -> Result<u64, Error> {
        let mut expired = [0; 8];
        rustix::io::retry_on_intr(|| rustix::io::read(&self.0, &mut expired))?;
        Ok(u64::from_ne_bytes(expired))
    }
}

/// Sleeps until a time of the monotonic clock, in nanoseconds.
pub(super) fn sleep_until(time_ns: u64) {
    // A signal ends the sleep early.
    while now_ns() < time_ns {
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(time_ns));
    }
}

fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / 1_000_000_000).cast_signed(),
        tv_nsec: (ns % 1_000_000_000).cast_signed(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn expiries_are_counted_when_the_thread_is_late() {
        let period_ns = 1_000_000;
        let began = now_ns();
        let timer = Timer::start(began + period_ns, period_ns).unwrap();
        std::thread::sleep(Duration::from_millis(5));
        let expired = timer.wait().unwrap();
        let elapsed = (now_ns() - began) / period_ns;
        assert!((4..=elapsed).contains(&expired), "{expired} in {elapsed} ms");
    }
}
