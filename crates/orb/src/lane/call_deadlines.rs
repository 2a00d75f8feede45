//! Time-outs of asynchronous calls: no thread waits for such a call, so those that would read its reply look after them.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_os::timer::Timer;

use super::{Lane, connection::Connection};

/// When the next time-out may pass. It is not taken back when its call is over, so that this costs calls nothing: a thread
/// that wakes for it in vain looks for the next.
///
/// A timer in the lane's waiting place wakes whichever thread waits then: one that had been told how long to wait might be in
/// an upcall.
pub(super) struct CallDeadlines {
    since: Instant,
    /// Nanoseconds.
    next: AtomicU64,
    timer: Timer,
}

const NONE: u64 = u64::MAX;

impl CallDeadlines {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            since: Instant::now(),
            next: AtomicU64::new(NONE),
            timer: Timer::new()?,
        })
    }

    /// Fires when the next one may pass.
    pub(super) fn timer(&self) -> &Timer {
        &self.timer
    }

    /// One system call where it is earlier than all others.
    fn add(&self, at: Instant) {
        let at = self.nanos(at);
        if at >= self.next.fetch_min(at, Ordering::SeqCst) {
            return;
        }
        // Whoever sets the timer last has seen that it is set for the next one.
        let mut next = self.next.load(Ordering::SeqCst);
        while next != NONE {
            // It fails only for what cannot be here: a bad descriptor.
            let _ = self.timer.set(self.since + Duration::from_nanos(next));
            let set = next;
            next = self.next.load(Ordering::SeqCst);
            if next == set {
                return;
            }
        }
    }

    /// `Some(now)`: one may have passed, and whoever is told has to look for the next.
    fn take_due(&self) -> Option<Instant> {
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

impl Lane {
    /// Has a thread look at the calls over shared connections then. To be called after the call is in their table.
    pub(crate) fn watch_deadline(&self, at: Instant) {
        self.call_deadlines.add(at);
    }

    /// Ends the calls whose time-outs have passed.
    #[inline]
    pub(super) fn expire_calls(&self) {
        if let Some(now) = self.call_deadlines.take_due() {
            self.expire_calls_before(now);
        }
    }

    #[cold]
    fn expire_calls_before(&self, now: Instant) {
        let mut from = 0;
        // Waking tasks runs code of the user's, so not while the lane's table is locked.
        while let Some((index, connection)) = self.next_opened(from) {
            let Some(opened) = connection.opened() else { return };
            if let Some(next) = opened.replies.expire(now, connection.is_congested()) {
                self.call_deadlines.add(next);
            }
            from = index + 1;
        }
    }

    /// The first connection that this side has opened, of those in these places of the table.
    fn next_opened(&self, from: usize) -> Option<(usize, Arc<Connection>)> {
        let connections = self.connections.lock();
        (from..connections.capacity()).find_map(|index| {
            let connection = connections.get(index)?;
            connection.opened().map(|_| (index, Arc::clone(connection)))
        })
    }
}

#[cfg(test)]
mod tests {
    use punctual_os::{Interest, Poller, Trigger};

    use super::*;

    fn fires_within(deadlines: &CallDeadlines, patience: Duration) -> bool {
        let poller = Poller::new().unwrap();
        poller
            .add(deadlines.timer(), 1, Interest::READ, Trigger::Edge)
            .unwrap();
        poller.wait_one(Some(patience)).unwrap().is_some()
    }

    #[test]
    fn the_earliest_is_the_next_one() {
        let deadlines = CallDeadlines::new().unwrap();
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
        let deadlines = CallDeadlines::new().unwrap();
        let past = deadlines.since.checked_sub(Duration::from_secs(1));
        deadlines.add(past.unwrap_or(deadlines.since));
        assert!(fires_within(&deadlines, Duration::from_secs(30)));
        assert!(deadlines.take_due().is_some());
        assert_eq!(deadlines.take_due(), None);
    }
}
