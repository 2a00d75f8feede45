//! Waiting for a condition that a [`PiMutex`](crate::PiMutex) protects.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::io::Errno;
use rustix::thread::futex;

use crate::PiMutexGuard;

/// A condition variable for a [`PiMutex`](crate::PiMutex): waiters are woken highest priority first, and a
/// woken waiter that finds the mutex locked lends its priority to the owner.
///
/// It has no internal lock, which a thread of lower priority could hold. Notify after unlocking if possible:
/// a waiter woken earlier blocks again on the mutex. Without a waiter, notification makes no system call.
/// Waits may end without a notification; the `_while` methods check the condition again.
///
/// ```
/// use punctual_os::{PiCondvar, PiMutex, ThreadSpec};
/// static READY: (PiMutex<bool>, PiCondvar) = (punctual_os::lock::mutex(false), PiCondvar::new());
///
/// let worker = ThreadSpec::new("worker").spawn(|| {
///     *READY.0.lock() = true;
///     READY.1.notify_one();
/// })?;
/// READY.1.wait_while(&mut READY.0.lock(), |ready| !*ready);
/// # worker.join().unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct PiCondvar {
    /// Changes with each notification, so that a notification between unlocking and sleeping is not lost.
    notifications: AtomicU32,
    /// Number of waiters. Only owners of the mutex change it.
    waiters: AtomicU32,
}

impl PiCondvar {
    /// Creates a condition variable without waiters.
    pub const fn new() -> Self {
        Self {
            notifications: AtomicU32::new(0),
            waiters: AtomicU32::new(0),
        }
    }

    /// Unlocks, waits for a notification without a deadline, and locks again.
    pub fn wait<T: ?Sized>(&self, guard: &mut PiMutexGuard<'_, T>) {
        let TimedOut(_) = self.sleep(guard, None);
    }

    /// Like [`wait`](Self::wait), until `deadline` at most. Locking again may take longer. Returns whether
    /// the deadline came before the notification.
    pub fn wait_until<T: ?Sized>(&self, guard: &mut PiMutexGuard<'_, T>, deadline: Instant) -> TimedOut {
        self.sleep(guard, Some(deadline))
    }

    /// Waits, without a deadline, while `condition` holds.
    pub fn wait_while<T: ?Sized>(
        &self,
        guard: &mut PiMutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) {
        while condition(guard) {
            self.wait(guard);
        }
    }

    /// Waits while `condition` holds, until `deadline` at most. Returns whether it held to the end.
    pub fn wait_while_until<T: ?Sized>(
        &self,
        guard: &mut PiMutexGuard<'_, T>,
        deadline: Instant,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> TimedOut {
        while condition(guard) {
            if self.wait_until(guard, deadline).0 {
                return TimedOut(condition(guard));
            }
        }
        TimedOut(false)
    }

    /// Wakes the waiter of the highest priority; among equals, the one that has waited longest.
    pub fn notify_one(&self) {
        self.notify(1);
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        self.notify(i32::MAX as u32);
    }

    fn notify(&self, number: u32) {
        self.notifications.fetch_add(1, Ordering::Release);
        // A waiter whose condition the caller has changed under the mutex locked the mutex before the caller,
        // and incremented `waiters` before it unlocked: the load below sees it.
        if self.waiters.load(Ordering::Acquire) > 0 {
            // The only error is that of an invalid address.
            let _ = futex::wake(&self.notifications, futex::Flags::PRIVATE, number);
        }
    }

    fn sleep<T: ?Sized>(&self, guard: &mut PiMutexGuard<'_, T>, deadline: Option<Instant>) -> TimedOut {
        let seen = self.notifications.load(Ordering::Acquire);
        self.waiters.fetch_add(1, Ordering::Release);
        let timed_out = PiMutexGuard::unlocked(guard, || self.sleep_unlocked(seen, deadline));
        self.waiters.fetch_sub(1, Ordering::Release);
        timed_out
    }

    fn sleep_unlocked(&self, seen: u32, deadline: Option<Instant>) -> TimedOut {
        loop {
            let remaining = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if remaining == Some(Duration::ZERO) {
                return TimedOut(true);
            }
            // A time that the kernel's type cannot hold is no limit.
            let limit = remaining.and_then(|remaining| Timespec::try_from(remaining).ok());
            match futex::wait(&self.notifications, futex::Flags::PRIVATE, seen, limit.as_ref()) {
                Err(Errno::INTR | Errno::TIMEDOUT) => {}
                // Woken, or notified before the kernel put the thread to sleep.
                _ => return TimedOut(false),
            }
        }
    }
}

/// Whether a wait ended because of its deadline.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub struct TimedOut(pub bool);

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use punctual_types::NativePriority;

    use super::*;
    use crate::{PiMutex, Scheduling, Thread, ThreadSpec};
    use punctual_fixtures::realtime_or_skip;

    type Shared<T> = Arc<(PiMutex<T>, PiCondvar)>;

    #[test]
    fn no_notification_is_lost_between_two_threads() {
        const ROUNDS: u32 = 2_000;
        let shared: Shared<u32> = Arc::default();
        let play = |shared: Shared<u32>, parity| {
            move || {
                for _ in 0..ROUNDS {
                    let mut turn = shared.0.lock();
                    shared.1.wait_while(&mut turn, |turn| *turn % 2 != parity);
                    *turn += 1;
                    drop(turn);
                    shared.1.notify_one();
                }
            }
        };
        let players = [0, 1].map(|parity| {
            ThreadSpec::new(format!("player-{parity}"))
                .spawn(play(Arc::clone(&shared), parity))
                .unwrap()
        });
        players.into_iter().for_each(|player| player.join().unwrap());
        assert_eq!(*shared.0.lock(), 2 * ROUNDS);
    }

    #[test]
    fn a_deadline_ends_the_wait_and_not_before() {
        let shared: Shared<bool> = Arc::default();
        let mut guard = shared.0.lock();
        for delay in [
            Duration::ZERO,
            Duration::from_micros(700),
            Duration::from_millis(3),
        ] {
            let deadline = Instant::now() + delay;
            let condition = |done: &mut bool| !*done;
            assert_eq!(
                shared.1.wait_while_until(&mut guard, deadline, condition),
                TimedOut(true)
            );
            assert!(Instant::now() >= deadline);
        }
        *guard = true;
        let far = Instant::now() + Duration::from_secs(1_000);
        assert_eq!(
            shared.1.wait_while_until(&mut guard, far, |done| !*done),
            TimedOut(false)
        );
    }

    #[test]
    fn the_highest_priority_is_woken_first() {
        if !realtime_or_skip() {
            return;
        }
        #[derive(Default)]
        struct State {
            waiting: usize,
            permits: u32,
            served: Vec<i16>,
        }
        let shared: Shared<State> = Arc::default();
        let wait = |priority: i16| -> Thread<()> {
            let shared = Arc::clone(&shared);
            let spec = ThreadSpec::new("waiter").scheduling(Scheduling::fifo(NativePriority(priority)));
            let run = move || {
                let mut state = shared.0.lock();
                state.waiting += 1;
                shared.1.wait_while(&mut state, |state| state.permits == 0);
                state.permits -= 1;
                state.served.push(priority);
            };
            spec.spawn(run).unwrap()
        };
        let waiters: Vec<_> = [20, 10, 30].map(wait).into();
        let until = |reached: &dyn Fn(&State) -> bool| {
            while !reached(&shared.0.lock()) {
                std::thread::sleep(Duration::from_millis(1));
            }
            // Time from unlocking the mutex to sleeping in the kernel.
            std::thread::sleep(Duration::from_millis(5));
        };
        until(&|state| state.waiting == 3);
        for served in 1..=3 {
            shared.0.lock().permits += 1;
            shared.1.notify_one();
            until(&|state| state.served.len() == served);
        }
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
        assert_eq!(shared.0.lock().served, [30, 20, 10]);
    }
}
