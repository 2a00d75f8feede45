//! The end of objects of adapters with a servant activator: after the last request, `etherealize` is called,
//! and only then another incarnation may begin. Source: CORBA 3.3 part 1, 15.3.6.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Weak,
        atomic::{Ordering, fence},
    },
    time::{Duration, Instant},
};

use punctual_lane::LaneTask;
use punctual_poa::{ObjectKey, SlotId};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use crate::{
    OrbError, current,
    poa_state::{
        core::{PoaCore, id_of_slot},
        objects::Objects,
        pending_etherealizations::Upkeep,
        servant_manager_turn_guard::TurnGuard,
    },
    pools::registry::Pools,
    server::ActiveObject,
};

/// The objects of an ORB, and the pools whose threads end them.
///
/// The id of an ending object remains taken, by a slot that no longer admits requests. Requests for it are
/// held at their lanes; collocated callers and threads that activate the id again wait. The thread that
/// deactivates ends the object; if it cannot wait for the last request, because it is inside an upcall or its
/// time is over, a thread of the adapter's pool does after that request has left.
pub(crate) struct ObjectUpkeep {
    objects: Weak<Objects>,
    pools: Weak<Pools>,
}

impl ObjectUpkeep {
    /// Lets these pools end these objects.
    pub(crate) fn connect(objects: &Arc<Objects>, pools: &Arc<Pools>) {
        objects.endings.connect(Box::new(Self {
            objects: Arc::downgrade(objects),
            pools: Arc::downgrade(pools),
        }));
    }
}

impl Upkeep for ObjectUpkeep {
    fn are_shut_down(&self) -> bool {
        self.pools.upgrade().is_none_or(|pools| pools.are_shut_down())
    }

    fn end(&self, slot: u32) {
        if let Some(objects) = self.objects.upgrade() {
            objects.end(slot);
        }
    }

    fn end_on_lane(&self, pool: u32, slot: u32) {
        if let Some(lane) = self.pools.upgrade().and_then(|pools| pools.lane_for_upkeep(pool)) {
            let objects = Weak::clone(&self.objects);
            lane.post(Arc::new(EndObject { objects, slot }));
        }
    }

    fn release_held(&self) {
        if let Some(pools) = self.pools.upgrade() {
            pools.release_held();
        }
    }
}

/// Ends an object on a thread of a lane.
struct EndObject {
    objects: Weak<Objects>,
    slot: u32,
}

impl LaneTask for EndObject {
    fn run(&self) {
        if let Some(objects) = self.objects.upgrade() {
            objects.end(self.slot);
        }
    }
}

impl Objects {
    /// Leaves a deactivated object to a thread of its pool, which ends it after its last request.
    pub(crate) fn leave_to_lane(&self, slot: u32, poa: &Arc<PoaCore>) {
        self.endings.push(slot, poa);
        // A thread that left the object before it was on the list did not see it there.
        fence(Ordering::SeqCst);
        if self.table.is_idle(slot) {
            self.endings.left(slot);
        }
    }

    /// Ends the objects on the list of pending etherealizations that no request uses any longer.
    pub(crate) fn end_pending(&self) {
        for slot in self.endings.slots() {
            if self.table.is_idle(slot) {
                self.end(slot);
            }
        }
    }

    /// Ends an object on that list, unless another thread does, or a request is still inside.
    fn end(&self, slot: u32) {
        let Some(left) = self.endings.take(slot) else {
            return;
        };
        let turn = &left.poa.processing.servant_turn;
        match self.enter_turn(turn, &[]) {
            Ok(turn) => match self.take_out(slot) {
                Some(object) => self.finish_in_turn(object, Some(turn)),
                None => self.leave_to_lane(slot, &left.poa),
            },
            // This thread has to return from other calls first. The end of the turn ends the object.
            Err(_) => {
                self.endings.push(slot, &left.poa);
                if !turn.await_end() {
                    self.endings.left(slot);
                }
            }
        }
    }

    /// Ends an object that has been taken out of the table: calls its servant activator, and frees its id.
    pub(crate) fn finish(&self, object: Arc<ActiveObject>) {
        self.finish_in_turn(object, None);
    }

    /// Does so in a turn of the activator that the thread has already; else it waits for one.
    fn finish_in_turn(&self, object: Arc<ActiveObject>, turn: Option<TurnGuard<'_>>) {
        // The last owner: nobody has looked it up since it was taken out.
        let Some(mut object) = Arc::into_inner(object) else {
            return;
        };
        let Some(incarnation) = object.incarnation.take() else {
            return;
        };
        let poa = Arc::clone(&object.poa);
        let key = mem::take(&mut object.key);
        // The servant that the activator gets is then the only one, unless it shares it.
        drop(object);
        // A thread that is inside the activator leaves objects to others, except at the end of the ORB.
        let turn = turn.or_else(|| self.enter_turn(&poa.processing.servant_turn, &[]).ok());
        // In the order of the calls, so that the last one is for the last object.
        let remaining = self.activation.lock().sharers.remove(incarnation.identity());
        let cleanup =
            self.endings.are_shut_down() || poa.is_destroyed() || poa.processing.manager.has_ended_objects();
        let slot_id;
        let id = match ObjectKey::parse(&key) {
            Some(ObjectKey::Named { id, .. }) => id,
            Some(ObjectKey::Slot { slot, .. }) => {
                slot_id = id_of_slot(slot);
                &slot_id[..]
            }
            None => &[],
        };
        match &turn {
            Some(turn) if poa.processing.etherealizes() => {
                turn.call(|| incarnation.etherealize(id, cleanup, remaining));
            }
            // Its destructor is the user's.
            _ => {
                let _ = catch_unwind(AssertUnwindSafe(|| incarnation.forget()));
            }
        }
        drop(turn);
        if let Some(ObjectKey::Named { adapter, id }) = ObjectKey::parse(&key) {
            self.ids.remove(adapter.path, id);
        }
        poa.processing.conclude_end();
        self.quiescence.announce();
        self.endings.release_held();
    }

    /// Ends all objects, and drops their servants, when no lane has threads any longer. Those that collocated
    /// callers are still executing end when these leave.
    pub(crate) fn clear(&self) {
        self.endings.end_at_departure();
        for poa in self.root().iter().flat_map(PoaCore::subtree) {
            self.end_all(&poa);
        }
        self.end_pending();
        let all = self.activation.lock().slots.clear(&self.table);
        all.into_iter().for_each(|object| self.finish(object));
    }

    /// Ends the objects of an adapter with a servant activator: each after its last request, for which this
    /// does not wait.
    pub(crate) fn end_all(&self, poa: &Arc<PoaCore>) {
        if poa.processing.activator().is_none() {
            return;
        }
        for key in self.keys_of(poa) {
            let Some(slot) = self.forget(poa, &key) else {
                continue;
            };
            let idle = (!current::is_in_upcall())
                .then(|| self.take_out(slot.index))
                .flatten();
            match idle {
                Some(object) => self.finish(object),
                None => self.leave_to_lane(slot.index, poa),
            }
        }
    }

    /// Returns whether the last incarnation of the object with this key has not ended yet.
    pub(crate) fn is_ending(&self, key: &[u8]) -> bool {
        let Some(ObjectKey::Named { adapter, id }) = ObjectKey::parse(key).filter(|_| self.is_short(key))
        else {
            return false;
        };
        let activates = |poa: Arc<PoaCore>| poa.processing.activator().is_some();
        self.adapters.managed.get(adapter.path).is_some_and(activates) && self.is_id_ending(adapter.path, id)
    }

    fn is_id_ending(&self, path: &[u8], id: &[u8]) -> bool {
        let slot = self.ids.get(path, id);
        slot.is_some_and(|slot| !self.table.contains(slot))
    }

    /// Waits, outside upcalls, for the end of the last incarnation of an object, as long as
    /// [`Limits::deactivation`](crate::Limits::deactivation) at most.
    pub(crate) fn await_end(&self, poa: &PoaCore, id: &[u8]) {
        let path = poa.path.as_bytes();
        if self.is_id_ending(path, id) && !current::is_in_upcall() {
            self.quiescence
                .wait_for(self.deactivation, || (!self.is_id_ending(path, id)).then_some(()));
        }
    }

    /// Waits on a collocated caller's thread for the end of the object's last incarnation.
    ///
    /// Fails with TIMEOUT after the deadline, and with TRANSIENT inside an upcall, which may be that of the
    /// object itself, and at the end of the ORB.
    pub(crate) fn wait_while_ending(
        &self,
        key: &[u8],
        deadline: Option<Instant>,
    ) -> Result<(), SystemException> {
        let failed = |kind, minor| Err(SystemException::new(kind, minor, Completion::No));
        if current::is_in_upcall() {
            let minor = match self.is_ending(key) {
                true => Minor::OBJECT_ENDING,
                false => Minor::SERVANT_MANAGER_BUSY,
            };
            return failed(SystemExceptionKind::Transient, minor);
        }
        let ended = self.quiescence.wait_until(deadline, || {
            (!self.is_ending(key) || self.endings.are_shut_down()).then_some(())
        });
        match ended {
            None => failed(SystemExceptionKind::Timeout, Minor::REQUEST_TIMED_OUT),
            Some(()) if self.endings.are_shut_down() => {
                failed(SystemExceptionKind::BadInvOrder, Minor::OMG_ORB_SHUT_DOWN)
            }
            Some(()) => Ok(()),
        }
    }

    /// Waits until the requests that are being served by the objects of these adapters have ended, and the
    /// objects that have been deactivated, or `is_over`, which is asked after each departure. The adapters
    /// serve no further request meanwhile.
    pub(crate) fn await_requests(
        &self,
        adapters: &[Arc<PoaCore>],
        timeout: Duration,
        is_over: impl Fn() -> bool,
    ) -> Result<(), OrbError> {
        if current::is_in_upcall() {
            return Err(OrbError::InUpcall);
        }
        let of_them = |object: &ActiveObject| adapters.iter().any(|poa| Arc::ptr_eq(poa, &object.poa));
        let mut serving = self.activation.lock().slots.watch_all(&self.table, of_them);
        let ended = self.quiescence.wait_for(timeout, || {
            self.end_pending();
            let watch = |slot: &SlotId| self.activation.lock().slots.watch(&self.table, *slot);
            serving.retain(watch);
            let ended = serving.is_empty() && adapters.iter().all(|poa| !poa.processing.has_ending());
            (ended || is_over()).then_some(())
        });
        if !serving.is_empty() {
            let unwatch = |slot: &SlotId| self.activation.lock().slots.unwatch(&self.table, *slot);
            serving.iter().for_each(unwatch);
            // Other threads that wait have to watch them again.
            self.quiescence.announce();
        }
        ended.ok_or(OrbError::RequestsInProgress(timeout))
    }
}
