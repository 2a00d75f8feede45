//! Time-outs of asynchronous calls: no thread waits for such a call, so those that would read its reply look after them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use super::{Lane, connection::Connection};

/// When the next time-out may pass. It is not taken back when its call is over, so that this costs calls nothing: a thread
/// that wakes for it in vain looks for the next.
pub(super) struct CallDeadlines {
    since: Instant,
    /// Nanoseconds.
    next: AtomicU64,
}

const NONE: u64 = u64::MAX;

impl CallDeadlines {
    pub(super) fn new() -> Self {
        Self {
            since: Instant::now(),
            next: AtomicU64::new(NONE),
        }
    }

    /// `true`: it is earlier than all others.
    fn add(&self, at: Instant) -> bool {
        let at = self.nanos(at);
        at < self.next.fetch_min(at, Ordering::SeqCst)
    }

    /// How long a thread may wait. Reads the clock only where there is one.
    pub(super) fn left(&self) -> Option<Duration> {
        let next = self.next.load(Ordering::SeqCst);
        (next != NONE).then(|| Duration::from_nanos(next.saturating_sub(self.nanos(Instant::now()))))
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
        if self.call_deadlines.add(at) {
            // Its threads look how long they may wait.
            let _ = self.bell.ring();
        }
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
    use super::*;

    #[test]
    fn the_earliest_is_the_next_one() {
        let deadlines = CallDeadlines::new();
        assert_eq!((deadlines.left(), deadlines.take_due()), (None, None));
        let (hour, soon) = (Duration::from_secs(3600), Duration::from_secs(60));
        let at = |after| deadlines.since + after;
        assert!(deadlines.add(at(hour)));
        assert!(deadlines.add(at(soon)));
        assert!(!deadlines.add(at(hour)), "nobody needs to be told");
        assert!(deadlines.left().unwrap() <= soon);
        assert_eq!(deadlines.take_due(), None, "not yet");
    }

    #[test]
    fn one_that_has_passed_is_taken_once() {
        let deadlines = CallDeadlines::new();
        let past = deadlines.since.checked_sub(Duration::from_secs(1));
        assert!(deadlines.add(past.unwrap_or(deadlines.since)));
        assert_eq!(deadlines.left(), Some(Duration::ZERO));
        assert!(deadlines.take_due().is_some());
        assert_eq!((deadlines.left(), deadlines.take_due()), (None, None));
    }
}
