//! Memory that the peers of a lane make it keep: incomplete messages, replies that are not read, and buffers
//! that were needed before. It is counted where it changes, which is rare: first buffers do not count.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Memory kept for all connections of a lane, within a limit.
pub(crate) struct LaneMemory {
    limit: usize,
    kept: AtomicUsize,
}

/// Memory kept for one connection. What is left is given back when it is dropped.
pub(crate) struct KeptMemory {
    lane: Arc<LaneMemory>,
    received: AtomicUsize,
    unsent: AtomicUsize,
}

impl LaneMemory {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            kept: AtomicUsize::new(0),
        })
    }

    /// Octets kept now.
    pub(crate) fn kept(&self) -> usize {
        self.kept.load(Ordering::Relaxed)
    }

    pub(crate) fn is_exceeded(&self) -> bool {
        self.kept() > self.limit
    }

    fn replace(&self, part: &AtomicUsize, octets: usize) {
        let before = part.swap(octets, Ordering::Relaxed);
        // Modulo 2⁶⁴: the sum of all parts is never negative.
        self.kept
            .fetch_add(octets.wrapping_sub(before), Ordering::Relaxed);
    }
}

impl KeptMemory {
    pub(crate) fn new(lane: &Arc<LaneMemory>) -> Self {
        Self {
            lane: Arc::clone(lane),
            received: AtomicUsize::new(0),
            unsent: AtomicUsize::new(0),
        }
    }

    /// Octets kept for this connection.
    pub(crate) fn octets(&self) -> usize {
        self.received.load(Ordering::Relaxed) + self.unsent.load(Ordering::Relaxed)
    }

    /// Sets the octets that its receive side keeps. The caller has claimed the right to read.
    #[cold]
    pub(crate) fn set_received(&self, octets: usize) {
        self.lane.replace(&self.received, octets);
    }

    /// Sets the octets that its send side keeps. The caller has locked that.
    #[cold]
    pub(crate) fn set_unsent(&self, octets: usize) {
        self.lane.replace(&self.unsent, octets);
    }
}

impl Drop for KeptMemory {
    fn drop(&mut self) {
        self.set_received(0);
        self.set_unsent(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lane_keeps_the_sum_of_its_connections() {
        let lane = LaneMemory::new(100);
        let (first, second) = (KeptMemory::new(&lane), KeptMemory::new(&lane));
        first.set_received(60);
        first.set_unsent(10);
        second.set_unsent(30);
        assert_eq!(
            (first.octets(), lane.kept(), lane.is_exceeded()),
            (70, 100, false)
        );
        second.set_received(1);
        assert!(lane.is_exceeded());
        first.set_received(0);
        assert_eq!((first.octets(), lane.kept()), (10, 41));
        drop(first);
        drop(second);
        assert_eq!(lane.kept(), 0);
    }
}
