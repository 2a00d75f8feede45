//! Number of threads of a lane, and of those in upcalls.
//!
//! The number of a lane's threads and the number of those in upcalls are one atomic word (`Occupancy`), so
//! "no thread is left to wait" is decided at one instant. The thread that leaves no other thread waiting
//! starts a dynamic thread, if permitted, or activates borrowing from the lanes below.

use std::sync::atomic::{AtomicU64, Ordering};

/// Number of threads of a lane and number of threads in upcalls: one word, so that "no thread is left to
/// wait" and "this thread may end" are decided in one atomic step.
///
/// Sequentially consistent, because [`crate::borrowing`] builds on its order with other marks.
#[derive(Default)]
pub(crate) struct Occupancy(AtomicU64);

const THREAD: u64 = 1 << 32;
const BUSY: u64 = 1;

impl Occupancy {
    /// Adds a thread.
    pub(crate) fn join(&self) {
        self.0.fetch_add(THREAD, Ordering::SeqCst);
    }

    /// Removes a thread. `true`: it was the last one.
    pub(crate) fn leave(&self) -> bool {
        threads(self.0.fetch_sub(THREAD, Ordering::SeqCst)) == 1
    }

    /// Removes a thread unless it is the last one that could wait. `false`: it must stay.
    pub(crate) fn leave_unless_needed(&self) -> bool {
        let left = |word: u64| (threads(word) > busy(word) + 1).then(|| word - THREAD);
        self.0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, left)
            .is_ok()
    }

    /// Adds a lent thread that serves a request: the lane is as exhausted as before.
    pub(crate) fn join_busy(&self) {
        self.0.fetch_add(THREAD + BUSY, Ordering::SeqCst);
    }

    /// Removes a lent thread. `true`: it was the last thread.
    pub(crate) fn leave_busy(&self) -> bool {
        threads(self.0.fetch_sub(THREAD + BUSY, Ordering::SeqCst)) == 1
    }

    /// Notes that a thread enters an upcall. `true`: no thread is left to wait.
    pub(crate) fn begin(&self) -> bool {
        is_full(self.0.fetch_add(BUSY, Ordering::SeqCst) + BUSY)
    }

    /// Notes that a thread has returned from an upcall.
    pub(crate) fn end(&self) {
        self.0.fetch_sub(BUSY, Ordering::SeqCst);
    }

    /// Returns whether all threads are in upcalls.
    pub(crate) fn is_exhausted(&self) -> bool {
        is_full(self.0.load(Ordering::SeqCst))
    }

    pub(crate) fn threads(&self) -> usize {
        threads(self.0.load(Ordering::SeqCst)) as usize
    }

    pub(crate) fn busy(&self) -> usize {
        busy(self.0.load(Ordering::SeqCst)) as usize
    }
}

fn threads(word: u64) -> u64 {
    word >> 32
}

fn busy(word: u64) -> u64 {
    word & (THREAD - 1)
}

fn is_full(word: u64) -> bool {
    busy(word) >= threads(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_to_go_into_an_upcall_knows_it() {
        let occupancy = Occupancy::default();
        occupancy.join();
        occupancy.join();
        assert!(!occupancy.begin() && !occupancy.is_exhausted());
        assert!(occupancy.begin() && occupancy.is_exhausted());
        occupancy.end();
        assert!(!occupancy.is_exhausted());
        assert_eq!((occupancy.threads(), occupancy.busy()), (2, 1));
        assert!(!occupancy.leave_unless_needed(), "the other one is busy");
        occupancy.end();
        assert!(occupancy.leave_unless_needed());
        occupancy.join_busy();
        assert!(
            !occupancy.leave_unless_needed(),
            "a lent thread leaves when its request is done"
        );
        assert!(!occupancy.is_exhausted());
        assert!(!occupancy.leave_busy());
        assert!(!occupancy.leave_unless_needed(), "a lane keeps one thread");
        assert!(occupancy.leave());
    }
}
