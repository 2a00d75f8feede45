//! Acquiring and releasing resources of distributable threads.
//!
//! A thread that waits for a resource is not ready: others run meanwhile. It waits at its own gate, as for
//! its turn, and is woken by the release, by its cancellation, or by its deadline.

use std::sync::Arc;

use punctual_sched::dynamic::{
    SchedulingParameters, SheddingPoint, Time,
    resource::{Acquisition, ResourceError, ResourceId},
};
use punctual_types::{Completion, DistributableThreadId, Minor, SystemException, SystemExceptionKind};

use super::{
    Dispatcher,
    clock::{instant, now},
    scheduling_point::SchedulingPoint,
    state::State,
    wake_list::WakeList,
};
use crate::error::{Interrupted, bad_order};

impl Dispatcher {
    /// Creates a resource without an owner. `ceiling`: minimum parameters of its owners.
    pub(crate) fn create_resource(&self, ceiling: Option<SchedulingParameters>) -> ResourceId {
        let State {
            resources, scheduler, ..
        } = &mut *self.state.lock();
        resources.create(ceiling, scheduler, now())
    }

    /// Sets another ceiling, for later owners.
    pub(crate) fn set_ceiling(&self, resource: ResourceId, ceiling: SchedulingParameters) {
        let State {
            resources, scheduler, ..
        } = &mut *self.state.lock();
        resources.set_ceiling(resource, ceiling, scheduler, now());
    }

    /// Destroys a resource. One whose guard was leaked stays until its owner ends; its id is not reused.
    pub(crate) fn destroy_resource(&self, resource: ResourceId) {
        let _ = self.state.lock().resources.resources.destroy(resource);
    }

    pub(crate) fn owner_of(&self, resource: ResourceId) -> Option<DistributableThreadId> {
        let state = self.state.lock();
        let owner = state.resources.resources.owner(resource)?;
        Some(state.threads[owner].id)
    }

    /// Acquires the resource for the thread at a scheduling point, by `deadline` at the latest; returns
    /// whether the thread has it. The owner acquires it once more.
    pub(crate) fn acquire(
        &self,
        resource: ResourceId,
        point: SchedulingPoint,
        deadline: Time,
    ) -> Result<bool, Interrupted> {
        let slot = point.slot;
        let mut state = self.state.lock();
        let now = now();
        let own = match state.threads[slot].locus_at(point, now) {
            Ok(locus) => locus.own,
            Err(interrupted) => {
                return Err(self.interrupt(state, point, interrupted, WakeList::default(), now));
            }
        };
        let owner = state.resources.resources.owner(resource);
        if deadline <= now && owner.is_some_and(|owner| owner != slot) {
            return Ok(false);
        }
        let (acquired, mut wakes) = state.acquire(resource, slot, &own, now);
        match acquired {
            Ok(Acquisition::Taken | Acquisition::Reentered) => {
                self.unlock(state, wakes);
                Ok(true)
            }
            Ok(Acquisition::Waits) => {
                wakes.add(state.suspend(slot, now));
                self.unlock(state, wakes);
                self.wait_for(resource, point, deadline)
            }
            Err(error) => {
                self.unlock(state, wakes);
                Err(Interrupted::Refused(exception(error)))
            }
        }
    }

    /// Waits in the queue of a resource.
    fn wait_for(
        &self,
        resource: ResourceId,
        point: SchedulingPoint,
        deadline: Time,
    ) -> Result<bool, Interrupted> {
        let slot = point.slot;
        let wake_up = point.deadline.unwrap_or(Time::NEVER).min(deadline);
        loop {
            let mut state = self.state.lock();
            let (now, mut wakes) = (now(), WakeList::default());
            let Some(locus) = state.threads[slot].locus_of(point.activation) else {
                // Another activation has the head, and what was handed to it: the thread may wait there for
                // something else.
                return Err(self.interrupt(state, point, Interrupted::Cancelled, wakes, now));
            };
            if locus.handed.take().is_some() {
                let turn = self.proceed(state, point, SheddingPoint::Dispatch, wakes, now);
                if turn.is_err() {
                    self.release(resource, point, None);
                }
                return turn.map(|()| true);
            }
            let gate = Arc::clone(&locus.os_thread.gate);
            let interrupted = state.interruption(point, now);
            if interrupted.is_some() || deadline <= now {
                wakes.add(state.stop_waiting(slot, now));
                return match interrupted {
                    Some(interrupted) => Err(self.interrupt(state, point, interrupted, wakes, now)),
                    None => self
                        .proceed(state, point, SheddingPoint::Dispatch, wakes, now)
                        .map(|()| false),
                };
            }
            // Closed under the lock: what opens it is decided afterwards.
            gate.close();
            self.unlock(state, wakes);
            gate.pass((wake_up != Time::NEVER).then(|| instant(wake_up)));
        }
    }

    /// Releases the resource once; after the last acquisition, the first waiter owns it. A scheduling point:
    /// the thread loses what it inherited. With an id, nothing happens where the slot belongs to another
    /// thread by now.
    pub(crate) fn release(
        &self,
        resource: ResourceId,
        point: SchedulingPoint,
        id: Option<DistributableThreadId>,
    ) {
        let mut state = self.state.lock();
        if id.is_some_and(|id| state.threads[point.slot].id != id) {
            return;
        }
        let now = now();
        // The caller may have abandoned this activation: then the head is at no scheduling point.
        let entry = &mut state.threads[point.slot];
        let is_here = entry.locus_of(point.activation).is_some();
        let caller = is_here.then_some(point.slot);
        let wakes = state.release_resource(resource, point.slot, caller, now);
        if is_here && state.threads[point.slot].head.is_ready() {
            // A cancellation is reported at the next scheduling point.
            let point = SchedulingPoint { watch: None, ..point };
            let _ = self.proceed(state, point, SheddingPoint::Checkpoint, wakes, now);
        } else {
            self.unlock(state, wakes);
        }
    }
}

fn exception(error: ResourceError) -> SystemException {
    match error {
        ResourceError::Deadlock { .. } => bad_order(Minor::OMG_WOULD_DEADLOCK),
        ResourceError::Waits(_) => bad_order(Minor::DISTRIBUTABLE_THREAD_ACTIVE),
        ResourceError::NoSuchResource(_)
        | ResourceError::NoSuchThread(_)
        | ResourceError::NotOwner(_)
        | ResourceError::Owned(_)
        | ResourceError::Owns(_) => {
            SystemException::new(SystemExceptionKind::ObjectNotExist, Minor::NONE, Completion::No)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use punctual_fixtures::eventually;
    use punctual_os::ThreadSpec;
    use punctual_sched::dynamic::{MostImportantFirst, Slot};

    use super::{
        super::{Locus, Mechanism, NativePriorities, OsThread, Preemption, Settings},
        *,
    };

    fn arrive(dispatcher: &Dispatcher, slot: Slot, activation: u64) -> SchedulingPoint {
        let parameters = SchedulingParameters::Importance { importance: 1 };
        let locus = Locus::new(activation, OsThread::current(), parameters, None);
        let point = SchedulingPoint {
            slot,
            activation,
            deadline: None,
            watch: None,
        };
        dispatcher.arrive(point, locus).unwrap();
        point
    }

    /// An activation that its caller has abandoned waits for a resource that the caller then waits for
    /// itself.
    #[test]
    fn an_abandoned_activation_does_not_end_the_wait_of_the_next_one() {
        let settings = Settings {
            processors: 4,
            preemption: Preemption::Cooperative,
            native: NativePriorities::default(),
            max_threads: 4,
            decisions: 0,
        };
        let scheduler = Box::new(MostImportantFirst::new());
        let dispatcher = Arc::new(Dispatcher::new(scheduler, Mechanism::ReadyQueue, settings).unwrap());
        let [owner, slot] = [1, 2].map(|id| dispatcher.register(DistributableThreadId(id), "track").unwrap());
        let resource = dispatcher.create_resource(None);
        for round in 0..50 {
            let owner = arrive(&dispatcher, owner, 3 * round);
            assert!(dispatcher.acquire(resource, owner, Time::NEVER).unwrap());
            let of_other = Arc::clone(&dispatcher);
            let abandoned = ThreadSpec::new("abandoned").spawn(move || {
                let point = arrive(&of_other, slot, 3 * round + 1);
                of_other.acquire(resource, point, Time::NEVER)
            });
            let waits = || dispatcher.inspect(|state| state.resources.resources.waits_for(slot).is_some());
            eventually("it waits for the resource", waits);
            let here = arrive(&dispatcher, slot, 3 * round + 2);
            let (of_owner, abandoned) = (Arc::clone(&dispatcher), abandoned.unwrap());
            let releases = ThreadSpec::new("owner").spawn(move || {
                assert_eq!(abandoned.join().unwrap(), Err(Interrupted::Cancelled));
                of_owner.release(resource, owner, None);
            });
            // With a timeout, so that a failure ends.
            let deadline = now() + Duration::from_secs(10);
            assert_eq!(
                dispatcher.acquire(resource, here, deadline),
                Ok(true),
                "round {round}"
            );
            releases.unwrap().join().unwrap();
            dispatcher.release(resource, here, None);
            assert_eq!(dispatcher.owner_of(resource), None);
        }
    }
}
