//! Detection of threads that would wait for their own lane.

use std::sync::{Arc, atomic::Ordering};

use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use crate::{Acceptor, Lane, ServingSlot, ServingThread};

/// Thread that waits for the lane that it serves, or for a reply that another thread of the lane reads, until
/// this is dropped.
pub struct BlockedThread<H: ServingSlot>(Arc<Lane<H>>);

impl<H: ServingSlot> BlockedThread<H> {
    /// Announces a call for whose reply the calling thread blocks, to an endpoint that `leads_to` recognises.
    ///
    /// # Errors
    /// BAD_INV_ORDER if the thread serves the lane that listens there and all other threads of the lane wait
    /// like this already. The lane counts it, and standard error names the lane once. Longer cycles, over
    /// other processes or lanes, are not detected: the call's timeout ends them.
    #[inline(always)]
    pub fn enter_call(leads_to: impl Fn(&Acceptor) -> bool) -> Result<Option<Self>, SystemException> {
        let lane = ServingThread::<H>::current(|serving| {
            let lane = &serving.lane;
            lane.acceptors().iter().any(leads_to).then(|| Arc::clone(lane))
        });
        let Some(lane) = lane.flatten() else {
            return Ok(None);
        };
        let (blocked, waiting) = Self::enter(lane);
        if !blocked.0.has_no_more_than(waiting) {
            return Ok(Some(blocked));
        }
        Err(blocked.0.refuse_deadlock())
    }

    /// Announces a wait, of any length, for a reply that this lane reads.
    ///
    /// # Errors
    /// BAD_INV_ORDER if the calling thread is one of the lane's, and all others of them wait like this
    /// already.
    pub fn enter_wait_for_reply(lane: &Arc<Lane<H>>) -> Result<Option<Self>, SystemException> {
        let own = ServingThread::<H>::current(|serving| Arc::ptr_eq(&serving.home, lane));
        // The I/O thread of a lane that buffers is in no upcall.
        if own != Some(true) || lane.mode.is_buffered() {
            return Ok(None);
        }
        let (blocked, waiting) = Self::enter(Arc::clone(lane));
        if waiting < lane.threads.occupancy.threads() {
            return Ok(Some(blocked));
        }
        Err(lane.refuse_deadlock())
    }

    /// Counts the calling thread, and returns how many threads of the lane wait now.
    pub(crate) fn enter(lane: Arc<Lane<H>>) -> (Self, usize) {
        let waiting = lane.self_waits.waiting.fetch_add(1, Ordering::SeqCst) + 1;
        (Self(lane), waiting)
    }
}

impl<H: ServingSlot> Drop for BlockedThread<H> {
    fn drop(&mut self) {
        self.0.self_waits.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

impl<H: ServingSlot> Lane<H> {
    fn refuse_deadlock(&self) -> SystemException {
        self.counters.threads.deadlocks.add_one();
        self.self_waits.notice.send();
        SystemException::new(
            SystemExceptionKind::BadInvOrder,
            Minor::DEADLOCK_DETECTED,
            Completion::No,
        )
    }
}
