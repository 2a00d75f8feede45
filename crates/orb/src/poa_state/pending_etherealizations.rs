//! Deactivated objects of servant activators whose last request has not left yet.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use punctual_os::PiMutex;

use crate::poa_state::core::PoaCore;

/// The deactivated objects of servant activators that no thread waits for.
#[derive(Default)]
pub(crate) struct PendingEtherealizations {
    number: AtomicUsize,
    pending: PiMutex<Vec<PendingEtherealization>>,
    /// Set when no lane has threads any longer: the thread that leaves last ends the object.
    at_departure: AtomicBool,
    upkeep: OnceLock<Box<dyn Upkeep>>,
}

/// The parts of the ORB that end objects.
pub(crate) trait Upkeep: Send + Sync {
    fn are_shut_down(&self) -> bool;

    /// Ends the object in this slot on the calling thread.
    fn end(&self, slot: u32);

    /// Has a thread of this pool, or of another one, end the object in this slot.
    fn end_on_lane(&self, pool: u32, slot: u32);

    /// Lets the lanes of all pools serve the requests that they hold.
    fn release_held(&self);
}

/// A deactivated object. The thread that takes this off the list is responsible for the slot.
pub(crate) struct PendingEtherealization {
    slot: u32,
    pub(crate) poa: Arc<PoaCore>,
    /// Whether a lane has been given the task of ending it.
    posted: bool,
}

impl PendingEtherealizations {
    /// Introduces the parts of the ORB that end objects.
    pub(crate) fn connect(&self, upkeep: Box<dyn Upkeep>) {
        self.upkeep.get_or_init(|| upkeep);
    }

    pub(crate) fn are_shut_down(&self) -> bool {
        self.upkeep.get().is_none_or(|upkeep| upkeep.are_shut_down())
    }

    pub(crate) fn release_held(&self) {
        if let Some(upkeep) = self.upkeep.get() {
            upkeep.release_held();
        }
    }

    /// Has the objects ended by the threads that leave them last.
    pub(crate) fn end_at_departure(&self) {
        self.at_departure.store(true, Ordering::SeqCst);
    }

    /// Has the object in this slot ended if it is on the list, because its last request has left.
    #[inline]
    pub(crate) fn left(&self, slot: u32) {
        // The fence of `Quiescence::announce`, before this, is the partner of that in `leave_to_lane`.
        if self.number.load(Ordering::Relaxed) > 0 {
            self.end_soon(slot);
        }
    }

    #[cold]
    fn end_soon(&self, slot: u32) {
        let Some(upkeep) = self.upkeep.get() else {
            return;
        };
        if self.at_departure.load(Ordering::SeqCst) {
            upkeep.end(slot);
            return;
        }
        let mut list = self.pending.lock();
        let Some(left) = list
            .iter_mut()
            .find(|pending| pending.slot == slot && !pending.posted)
        else {
            return;
        };
        left.posted = true;
        let pool = left.poa.pool_id();
        drop(list);
        upkeep.end_on_lane(pool, slot);
    }

    /// Adds an object to the list.
    pub(crate) fn push(&self, slot: u32, poa: &Arc<PoaCore>) {
        let mut list = self.pending.lock();
        list.push(PendingEtherealization {
            slot,
            poa: Arc::clone(poa),
            posted: false,
        });
        self.number.store(list.len(), Ordering::SeqCst);
    }

    /// Takes an object off the list.
    pub(crate) fn take(&self, slot: u32) -> Option<PendingEtherealization> {
        let mut list = self.pending.lock();
        let at = list.iter().position(|pending| pending.slot == slot)?;
        let left = list.swap_remove(at);
        self.number.store(list.len(), Ordering::SeqCst);
        Some(left)
    }

    /// Returns the slots of the objects on the list.
    pub(crate) fn slots(&self) -> Vec<u32> {
        if self.number.load(Ordering::SeqCst) == 0 {
            return Vec::new();
        }
        self.pending.lock().iter().map(|pending| pending.slot).collect()
    }
}
