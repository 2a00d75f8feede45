//! Waiting for the last request to leave a deactivated or watched object, and for the end of an object.

use std::{
    sync::atomic::{AtomicU32, Ordering, fence},
    time::{Duration, Instant},
};

use punctual_os::{PiCondvar, PiMutex};

/// Counts how often the last request left a deactivated or watched object, an object ended, or a manager
/// changed its state, while a thread waits for that.
#[derive(Default)]
pub(crate) struct Quiescence {
    waiting: AtomicU32,
    count: PiMutex<u64>,
    changed: PiCondvar,
}

impl Quiescence {
    /// Wakes the threads that wait. Without any, this locks nothing: the last request to a deactivated
    /// object ends here.
    pub(crate) fn announce(&self) {
        // Orders the departure before the load; the fence of `wait_until` is its partner.
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed) > 0 {
            *self.count.lock() += 1;
            self.changed.notify_all();
        }
    }

    /// Repeats the attempt after each departure until it succeeds. Returns `None` after `timeout`.
    pub(crate) fn wait_for<T>(&self, timeout: Duration, attempt: impl FnMut() -> Option<T>) -> Option<T> {
        // A deadline beyond the range of the clock means no deadline.
        self.wait_until(Instant::now().checked_add(timeout), attempt)
    }

    /// Repeats the attempt after each departure until it succeeds. Returns `None` after the deadline.
    pub(crate) fn wait_until<T>(
        &self,
        deadline: Option<Instant>,
        mut attempt: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let result = loop {
            // Read before the attempt, so that no departure after the attempt is missed.
            let seen = *self.count.lock();
            let result = attempt();
            if result.is_some() {
                break result;
            }
            let mut count = self.count.lock();
            let unchanged = |count: &mut u64| *count == seen;
            match deadline {
                None => self.changed.wait_while(&mut count, unchanged),
                Some(deadline) if self.changed.wait_while_until(&mut count, deadline, unchanged).0 => {
                    break None;
                }
                Some(_) => {}
            }
        };
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        result
    }
}
