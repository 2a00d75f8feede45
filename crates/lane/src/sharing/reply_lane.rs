//! Choice of the lane that reads the reply of a call over a shared connection.

use std::sync::Arc;

use punctual_types::Priority;

use crate::{BlockedThread, Lane, ServingSlot, ServingThread};

/// Lane of the calling thread, as reader of a reply.
pub enum ReplyLane<H: ServingSlot> {
    /// The thread serves no lane.
    None,
    /// A thread of the lane reads, as long as the wait is announced.
    Reads(Arc<Lane<H>>, Option<BlockedThread<H>>),
    /// No thread of the lane would read, or only at too low a priority.
    CannotRead,
}

impl<H: ServingSlot> ReplyLane<H> {
    /// Returns the lane that reads a reply for the calling thread, which has this priority and serves its
    /// lane while it waits, or not.
    ///
    /// As with [`BlockedThread::enter_call`], one thread of the lane must be left that waits for none of the
    /// others if those that wait sleep.
    pub fn of_calling_thread(priority: Priority, serves_meanwhile: bool) -> Self {
        // A lent thread is missing in its own lane, and the lane that it helps continues without it.
        let serving =
            ServingThread::<H>::current(|serving| (Arc::clone(&serving.lane), serving.is_at_home()));
        let Some((lane, at_home)) = serving else {
            return Self::None;
        };
        if !at_home || lane.waits_at() < priority || !lane.reads_replies() {
            return Self::CannotRead;
        }
        if lane.mode.is_buffered() || serves_meanwhile {
            // The I/O thread is in no upcall, or the calling thread itself reads.
            return Self::Reads(lane, None);
        }
        let threads = lane.threads.occupancy.threads();
        let (blocked, waiting) = BlockedThread::enter(Arc::clone(&lane));
        if waiting >= threads {
            return Self::CannotRead;
        }
        Self::Reads(lane, Some(blocked))
    }
}

impl<H: ServingSlot> Lane<H> {
    /// Returns the lane that the calling thread belongs to, if it reads replies at this priority: for a reply
    /// that the thread does not wait for, or not inside this upcall.
    pub fn of_calling_thread(priority: Priority) -> Option<Arc<Self>> {
        ServingThread::<H>::current(|serving| {
            let lane = &serving.home;
            (lane.waits_at() >= priority && lane.reads_replies()).then(|| Arc::clone(lane))
        })?
    }

    /// Returns whether its threads read replies: those that block in `read` do not.
    pub fn reads_replies(&self) -> bool {
        !self.mode.is_blocking() && !self.is_stopping()
    }
}
