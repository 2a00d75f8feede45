//! Gate at which one thread waits until another lets it pass.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::io::Errno;
use rustix::thread::futex;

/// Gate for one waiting thread: a futex.
///
/// Opening the gate wakes the waiting thread, which closes it again as it passes. If no thread waits, the
/// gate stays open for the next one, so no wake-up is lost. Opening it twice lets one thread pass. It has no
/// owner, hence no priority inheritance; opening never waits. No system call is made unless a thread must
/// wait.
///
/// ```
/// use std::{sync::Arc, time::Duration, time::Instant};
///
/// use punctual_os::{Gate, ThreadSpec};
///
/// let gate = Arc::new(Gate::new());
/// let opener = Arc::clone(&gate);
/// let worker = ThreadSpec::new("opener").spawn(move || opener.open())?;
/// assert!(gate.pass(None));
/// assert!(!gate.pass(Some(Instant::now() + Duration::from_millis(1))), "closed again");
/// # worker.join().unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Gate {
    word: AtomicU32,
}

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
/// Closed, and a thread sleeps or is about to sleep.
const AWAITED: u32 = 2;

impl Gate {
    /// Creates a closed gate.
    pub const fn new() -> Self {
        Self {
            word: AtomicU32::new(CLOSED),
        }
    }

    /// Lets the waiting thread pass, or else the next one. One system call if a thread waits, otherwise none.
    pub fn open(&self) {
        if self.word.swap(OPEN, Ordering::Release) == AWAITED {
            // The only error is that of an invalid address.
            let _ = futex::wake(&self.word, futex::Flags::PRIVATE, 1);
        }
    }

    /// Revokes an opening that no thread has used.
    pub fn close(&self) {
        let _ = self
            .word
            .compare_exchange(OPEN, CLOSED, Ordering::Acquire, Ordering::Relaxed);
    }

    /// Waits until the gate is open, until `deadline` at most (`None`: no deadline), and closes it. Returns
    /// whether it was open.
    ///
    /// For one thread at a time.
    pub fn pass(&self, deadline: Option<Instant>) -> bool {
        loop {
            let opened = self
                .word
                .compare_exchange(OPEN, CLOSED, Ordering::Acquire, Ordering::Relaxed);
            if opened.is_ok() {
                return true;
            }
            let awaited = self
                .word
                .compare_exchange(CLOSED, AWAITED, Ordering::Relaxed, Ordering::Relaxed);
            if awaited == Err(OPEN) {
                continue;
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                // An opening at the last moment counts.
                return self.word.swap(CLOSED, Ordering::Acquire) == OPEN;
            }
            // A time that the kernel's type cannot hold is no limit.
            let limit = left.and_then(|left| Timespec::try_from(left).ok());
            match futex::wait(&self.word, futex::Flags::PRIVATE, AWAITED, limit.as_ref()) {
                Ok(()) | Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT) => {}
                Err(error) => panic!("the kernel refused FUTEX_WAIT: {error}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ThreadSpec;

    #[test]
    fn no_opening_is_lost_between_two_threads() {
        const ROUNDS: u32 = 20_000;
        let gates = Arc::new([Gate::new(), Gate::new()]);
        let other = Arc::clone(&gates);
        let echo = ThreadSpec::new("echo")
            .spawn(move || {
                for _ in 0..ROUNDS {
                    assert!(other[0].pass(None));
                    other[1].open();
                }
            })
            .unwrap();
        for _ in 0..ROUNDS {
            gates[0].open();
            assert!(gates[1].pass(None));
        }
        echo.join().unwrap();
    }

    #[test]
    fn two_openings_let_one_pass_and_closing_revokes_them() {
        let gate = Gate::new();
        let past = Some(Instant::now());
        gate.open();
        gate.open();
        assert!(gate.pass(past));
        assert!(!gate.pass(past));
        gate.open();
        gate.close();
        assert!(!gate.pass(past));
        gate.open();
        assert!(gate.pass(None), "works after a timeout");
    }
}
