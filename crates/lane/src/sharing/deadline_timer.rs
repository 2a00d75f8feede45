//! Timer of deadlines that no thread waits for: of asynchronous calls, and of a lane's periodic work.

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use punctual_os::timer::Timer;

/// Time at which the next deadline may pass. It is not withdrawn when its call ends, so that this costs calls
/// nothing: a thread that wakes for it in vain searches for the next one.
///
/// A timer in the lane's poller wakes any thread that waits then: a single thread with a timeout might be in
/// an upcall.
pub(crate) struct DeadlineTimer {
    since: Instant,
    /// Nanoseconds since `since`.
    next: AtomicU64,
    timer: Timer,
}

const NONE: u64 = u64::MAX;

impl DeadlineTimer {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            since: Instant::now(),
            next: AtomicU64::new(NONE),
            timer: Timer::new()?,
        })
    }

    /// Timer that fires when the next deadline may pass.
    pub(crate) fn timer(&self) -> &Timer {
        &self.timer
    }

    /// Adds a deadline. One system call if it is earlier than all others.
    pub(crate) fn add(&self, at: Instant) {
        let at = self.nanos(at);
        if at >= self.next.fetch_min(at, Ordering::SeqCst) {
            return;
        }
        // The thread that sets the timer last has seen that it is set for the next deadline.
        let mut next = self.next.load(Ordering::SeqCst);
        while next != NONE {
            // It fails only for a bad descriptor, which this one is not.
            let _ = self.timer.set(self.since + Duration::from_nanos(next));
            let set = next;
            next = self.next.load(Ordering::SeqCst);
            if next == set {
                return;
            }
        }
    }

    /// Returns the present time if a deadline may have passed; the caller must then search for the next one.
    pub(crate) fn take_due(&self) -> Option<Instant> {
        let next = self.next.load(Ordering::SeqCst);
        if next == NONE {
            return None;
        }
        let now = Instant::now();
        let due = next <= self.nanos(now);
        let taken = due.then(|| {
            self.next
                .compare_exchange(next, NONE, Ordering::SeqCst, Ordering::SeqCst)
        });
        taken?.ok().map(|_| now)
    }

    fn nanos(&self, at: Instant) -> u64 {
        let nanos = at.saturating_duration_since(self.since).as_nanos();
        u64::try_from(nanos).unwrap_or(NONE - 1).min(NONE - 1)
    }
}

#[cfg(test)]
mod tests {
    use punctual_os::{Interest, Poller, Trigger};

    use super::*;

    fn fires_within(timer: &DeadlineTimer, timeout: Duration) -> bool {
        let poller = Poller::new().unwrap();
        poller
            .add(timer.timer(), 1, Interest::READ, Trigger::Edge)
            .unwrap();
        poller.wait_one(Some(timeout)).unwrap().is_some()
    }

    #[test]
    fn the_earliest_is_the_next_one() {
        let deadlines = DeadlineTimer::new().unwrap();
        assert_eq!(deadlines.take_due(), None);
        let at = |after| deadlines.since + after;
        deadlines.add(at(Duration::from_secs(3600)));
        assert!(!fires_within(&deadlines, Duration::from_millis(10)));
        let soon = deadlines.since.elapsed() + Duration::from_millis(50);
        deadlines.add(at(soon));
        deadlines.add(at(Duration::from_secs(60)));
        assert_eq!(deadlines.take_due(), None, "not yet");
        assert!(fires_within(&deadlines, Duration::from_secs(30)));
        assert!(deadlines.take_due().is_some_and(|now| now >= at(soon)));
    }

    #[test]
    fn one_that_has_passed_is_taken_once() {
        let deadlines = DeadlineTimer::new().unwrap();
        let past = deadlines.since.checked_sub(Duration::from_secs(1));
        deadlines.add(past.unwrap_or(deadlines.since));
        assert!(fires_within(&deadlines, Duration::from_secs(30)));
        assert!(deadlines.take_due().is_some());
        assert_eq!(deadlines.take_due(), None);
    }
}
