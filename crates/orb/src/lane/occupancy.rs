use std::sync::atomic::{AtomicU64, Ordering};

/// How many threads a lane has and how many of them are in upcalls: one word, so that "none is left to wait" and "I may go" are
/// decided at one instant.
///
/// Sequentially consistent, because [`super::borrowing`] builds on its order with other marks.
#[derive(Default)]
pub(super) struct Occupancy(AtomicU64);

const THREAD: u64 = 1 << 32;
const BUSY: u64 = 1;

impl Occupancy {
    /// One thread more.
    pub(super) fn join(&self) {
        self.0.fetch_add(THREAD, Ordering::SeqCst);
    }

    /// One thread less. `true`: that was the last one.
    pub(super) fn leave(&self) -> bool {
        threads(self.0.fetch_sub(THREAD, Ordering::SeqCst)) == 1
    }

    /// One thread less, unless it is the last one that could wait. `false`: it has to stay.
    pub(super) fn leave_unless_needed(&self) -> bool {
        let left = |word: u64| (threads(word) > busy(word) + 1).then(|| word - THREAD);
        self.0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, left)
            .is_ok()
    }

    /// A thread goes into an upcall. `true`: no thread is left to wait.
    pub(super) fn begin(&self) -> bool {
        is_full(self.0.fetch_add(BUSY, Ordering::SeqCst) + BUSY)
    }

    /// A thread is back from an upcall.
    pub(super) fn end(&self) {
        self.0.fetch_sub(BUSY, Ordering::SeqCst);
    }

    /// Whether all threads are in upcalls.
    pub(super) fn is_exhausted(&self) -> bool {
        is_full(self.0.load(Ordering::SeqCst))
    }

    pub(super) fn threads(&self) -> usize {
        threads(self.0.load(Ordering::SeqCst)) as usize
    }

    pub(super) fn busy(&self) -> usize {
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
        assert!(!occupancy.leave_unless_needed(), "a lane keeps one thread");
        assert!(occupancy.leave());
    }
}
