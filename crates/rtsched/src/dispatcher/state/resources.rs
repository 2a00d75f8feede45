//! Decisions about resources, and their consequences for the threads concerned.

use std::{mem, sync::Arc};

use punctual_sched::dynamic::{
    SchedulingParameters, Slot, Time,
    resource::{Acquisition, Criteria, Release, ResourceError, ResourceId, Resources},
};

use super::State;
use crate::dispatcher::wake_list::WakeList;

impl State {
    /// Takes the resource for a thread, or queues the thread for it.
    pub(in crate::dispatcher) fn acquire(
        &mut self,
        resource: ResourceId,
        slot: Slot,
        own: &SchedulingParameters,
        now: Time,
    ) -> (Result<Acquisition, ResourceError>, WakeList) {
        let own = self.scheduler.translate(own, now);
        let decided = self.decide(Some(slot), now, |resources, by, changed| {
            if resources.effective(slot).is_none() {
                resources.set_base(slot, &own, by, changed);
                // The thread is scheduled by these already.
                changed.clear();
            }
            let acquired = resources.acquire(resource, slot, by, changed);
            if acquired.is_err() {
                let _ = resources.leave(slot);
            }
            acquired
        });
        if matches!(decided.0, Ok(Acquisition::Waits)) {
            self.lend_limit(slot);
        }
        decided
    }

    /// Releases a resource. The next owner is ready before the previous one loses what it inherited, so that
    /// no thread in between gets its turn.
    pub(in crate::dispatcher) fn release_resource(
        &mut self,
        resource: ResourceId,
        slot: Slot,
        caller: Option<Slot>,
        now: Time,
    ) -> WakeList {
        let released = self.decide_only(now, |resources, by, changed| {
            resources.release(resource, slot, by, changed)
        });
        let next = match released {
            Ok(Release::HandedTo(next)) => {
                if let Some(locus) = self.threads[next].head.locus_mut() {
                    locus.handed = Some(resource);
                }
                self.inherit_limit(next, resource);
                Some(next)
            }
            Ok(Release::StillOwned | Release::Free) | Err(_) => None,
        };
        let mut wakes = self.apply_changes(next, caller, now);
        self.forget_if_unconcerned(slot);
        wakes.add(self.return_limit(slot, caller, now));
        wakes
    }

    /// Ends the wait of a thread for a resource.
    pub(in crate::dispatcher) fn stop_waiting(&mut self, slot: Slot, now: Time) -> WakeList {
        if self.resources.resources.waits_for(slot).is_none() {
            return WakeList::default();
        }
        let (_, wakes) = self.decide(Some(slot), now, |resources, by, changed| {
            resources.stop_waiting(slot, by, changed)
        });
        self.forget_if_unconcerned(slot);
        wakes
    }

    /// Releases everything that a thread owns when it ends here, the last acquisition first.
    pub(in crate::dispatcher) fn release_resources(&mut self, slot: Slot, now: Time) -> WakeList {
        let mut wakes = WakeList::default();
        if self.resources.effective(slot).is_none() {
            return wakes;
        }
        wakes.add(self.stop_waiting(slot, now));
        while let Some(resource) = self.resources.resources.last_taken(slot) {
            wakes.add(self.release_resource(resource, slot, Some(slot), now));
        }
        wakes
    }

    /// Applies changed parameters of a thread, or a new head, to the resources that concern the thread.
    pub(in crate::dispatcher) fn rebase(&mut self, slot: Slot, now: Time) -> WakeList {
        let Some(own) = self.base_parameters(slot, now) else {
            return WakeList::default();
        };
        let ((), wakes) = self.decide(Some(slot), now, |resources, by, changed| {
            resources.set_base(slot, &own, by, changed);
        });
        self.inherit(slot);
        wakes
    }

    /// Translates all parameters for another scheduler, which knows no thread yet.
    pub(super) fn translate_resources(&mut self, now: Time) {
        self.resources.translate_ceilings(&self.scheduler, now);
        for slot in self.threads.slots() {
            if let Some(own) = self.base_parameters(slot, now) {
                self.decide_only(now, |resources, by, changed| {
                    resources.set_base(slot, &own, by, changed);
                });
            }
        }
        for slot in self.threads.slots() {
            self.inherit(slot);
        }
    }

    /// Translated parameters of the segment of a thread that resources concern, where its head is here.
    fn base_parameters(&self, slot: Slot, now: Time) -> Option<SchedulingParameters> {
        self.resources.resources.effective(slot)?;
        let locus = self.threads[slot].head.locus()?;
        Some(self.scheduler.translate(&locus.own, now))
    }

    /// Decides, and applies the changes.
    fn decide<R>(
        &mut self,
        caller: Option<Slot>,
        now: Time,
        decide: impl FnOnce(&mut Resources, &Criteria<'_>, &mut Vec<Slot>) -> R,
    ) -> (R, WakeList) {
        let result = self.decide_only(now, decide);
        (result, self.apply_changes(None, caller, now))
    }

    fn decide_only<R>(
        &mut self,
        now: Time,
        decide: impl FnOnce(&mut Resources, &Criteria<'_>, &mut Vec<Slot>) -> R,
    ) -> R {
        self.resources
            .decide(&mut self.scheduler, &self.threads, now, decide)
    }

    /// Schedules threads by their changed parameters, after the next owner of a resource has become ready.
    fn apply_changes(&mut self, next: Option<Slot>, caller: Option<Slot>, now: Time) -> WakeList {
        for at in 0..self.resources.changed.len() {
            self.inherit(self.resources.changed[at]);
        }
        let mut wakes = next.map_or_else(WakeList::default, |next| self.hand_over(next, now));
        for at in 0..self.resources.changed.len() {
            // A thread whose reservation the kernel refuses keeps the previous one.
            let updated = self.update(self.resources.changed[at], caller, now);
            wakes.add(updated.unwrap_or_default());
        }
        wakes
    }

    /// Makes a thread ready that waits at its gate and owns the resource from now on.
    fn hand_over(&mut self, next: Slot, now: Time) -> WakeList {
        let mut wakes = WakeList::default();
        let head = &mut self.threads[next].head;
        let Some(locus) = head.locus() else {
            return wakes;
        };
        let gate = Arc::clone(&locus.os_thread.gate);
        if !head.is_ready() {
            let of_caller = self.native.pending.take();
            let admitted = self.admit(next, now);
            // The new owner sleeps, so it cannot demote itself.
            if let Some(demotion) = mem::replace(&mut self.native.pending, of_caller) {
                demotion.apply();
            }
            // The new owner gets a refusal when it waits for its turn itself.
            wakes.add(admitted.unwrap_or_default());
            if self.threads[next].head.park().is_some() {
                return wakes;
            }
        }
        wakes.push(&gate);
        wakes
    }

    fn inherit(&mut self, slot: Slot) {
        let effective = self.resources.effective(slot);
        if let Some(locus) = self.threads[slot].head.locus_mut() {
            locus.inherited = effective;
        }
    }

    fn forget_if_unconcerned(&mut self, slot: Slot) {
        if self.resources.resources.leave(slot).is_ok()
            && let Some(locus) = self.threads[slot].head.locus_mut()
        {
            locus.inherited = None;
        }
    }
}
