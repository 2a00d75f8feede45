//! Resources: carrying out the decisions of [`Resources`].

use alloc::vec::Vec;

use crate::dynamic::{
    Claim, SchedulingParameters, Slot,
    resource::{self, Acquisition, Criteria, Release, ResourceId, Resources},
};

use super::{
    super::{
        EventKind, Observer, Protocol,
        thread::{Ending, Held, State},
    },
    Simulation,
};

impl Simulation<'_> {
    /// Takes a resource for a thread, or makes the thread wait. A refused wait ends the thread.
    pub(super) fn lock(&mut self, thread: usize, resource: usize, observer: &mut dyn Observer) {
        let host = self.threads[thread].host;
        let id = ResourceId(resource as u32);
        if self.hosts[host].resources.resources.owner(id).is_none() {
            self.set_ceiling(host, resource);
        }
        let base = self.own_parameters(thread, host);
        let slot = self.hosts[host].resources.slot(thread);
        let (acquired, changed) = self.decide_resources(host, |resources, by, changed| {
            if resources.effective(slot).is_none() {
                resources.set_base(slot, &base, by, &mut Vec::new());
            }
            resources.acquire(id, slot, by, changed)
        });
        let resource = resource as u32;
        match acquired {
            Ok(Acquisition::Taken) => {
                self.hold(thread, resource);
                self.report(thread, EventKind::Locked { resource }, observer);
            }
            Ok(Acquisition::Reentered) => self.hold(thread, resource),
            Ok(Acquisition::Waits) => {
                self.report(thread, EventKind::Waiting { resource }, observer);
                self.make_unready(thread, State::Waiting);
            }
            Err(_) => {
                self.hosts[host].resources.forget_if_unconcerned(thread);
                self.threads[thread].unwinding.ending = Some(Ending::Deadlock);
                self.report(thread, EventKind::Refused { resource }, observer);
            }
        }
        self.apply(host, &changed, observer);
    }

    /// Releases a resource once.
    pub(super) fn unlock(&mut self, thread: usize, resource: usize, observer: &mut dyn Observer) {
        let state = &mut self.threads[thread];
        let host = state.host;
        let is_this = |held: &Held| held.resource == resource as u32 && held.host == host;
        let Some(index) = state.held.iter().rposition(is_this) else {
            return;
        };
        state.held.remove(index);
        if !state.held.iter().any(is_this) {
            self.set_ceiling(host, resource);
        }
        let slot = self.hosts[host].resources.slot(thread);
        let id = ResourceId(resource as u32);
        let (released, changed) = self.decide_resources(host, |resources, by, changed| {
            resources.release(id, slot, by, changed)
        });
        let resource = resource as u32;
        if released != Ok(Release::StillOwned) {
            self.report(thread, EventKind::Unlocked { resource }, observer);
        }
        if let Ok(Release::HandedTo(next)) = released {
            let next = self.hosts[host].resources.threads[next.0 as usize];
            self.hold(next, resource);
            self.report(next, EventKind::Locked { resource }, observer);
            self.make_ready(next);
        }
        self.apply(host, &changed, observer);
        self.hosts[host].resources.forget_if_unconcerned(thread);
    }

    /// Releases what the innermost frame still holds, the last first.
    pub(super) fn release_held(&mut self, thread: usize, observer: &mut dyn Observer) {
        loop {
            let state = &self.threads[thread];
            let depth = state.frames.len();
            let Some(held) = state.held.last().filter(|held| held.frames == depth) else {
                return;
            };
            self.unlock(thread, held.resource as usize, observer);
        }
    }

    /// Ends the wait of a thread.
    pub(super) fn stop_waiting(&mut self, thread: usize, observer: &mut dyn Observer) {
        let host = self.threads[thread].host;
        let slot = self.hosts[host].resources.slot(thread);
        let (_, changed) = self.decide_resources(host, |resources, by, changed| {
            resources.stop_waiting(slot, by, changed)
        });
        self.apply(host, &changed, observer);
        self.hosts[host].resources.forget_if_unconcerned(thread);
    }

    /// Updates the own parameters of a thread that uses resources, after a change or its arrival on another
    /// host.
    pub(super) fn rebase(&mut self, thread: usize, observer: &mut dyn Observer) {
        let host = self.threads[thread].host;
        if self.hosts[host].resources.effective(thread).is_none() {
            return;
        }
        let base = self.own_parameters(thread, host);
        let slot = self.hosts[host].resources.slot(thread);
        let ((), changed) = self.decide_resources(host, |resources, by, changed| {
            resources.set_base(slot, &base, by, changed);
        });
        self.apply(host, &changed, observer);
    }

    /// Makes one decision; returns its result and the threads whose effective parameters changed.
    fn decide_resources<R>(
        &mut self,
        host: usize,
        decide: impl FnOnce(&mut Resources, &Criteria<'_>, &mut Vec<Slot>) -> R,
    ) -> (R, Vec<usize>) {
        let (state, threads) = (&mut self.hosts[host], &self.threads);
        let received = |thread: usize| threads[thread].received_at(host);
        state
            .resources
            .decide(&*state.scheduler, received, self.now, decide)
    }

    /// Returns a thread's own parameters in terms of a host's scheduler.
    fn own_parameters(&self, thread: usize, host: usize) -> SchedulingParameters {
        let kind = self.hosts[host].scheduler.kind();
        self.threads[thread].segment().claim(kind, self.now).parameters
    }

    /// Sets the ceiling for the next owner, whose deadline counts from now.
    fn set_ceiling(&mut self, host: usize, resource: usize) {
        if let Protocol::Ceiling(ceiling) = self.model.resources[resource].protocol {
            let state = &mut self.hosts[host];
            let ceiling = ceiling.at(state.scheduler.kind(), self.now);
            let id = ResourceId(resource as u32);
            let set = state
                .resources
                .resources
                .set_protocol(id, resource::Protocol::Ceiling(ceiling));
            debug_assert_eq!(set, Ok(()));
        }
    }

    /// Records an acquisition.
    fn hold(&mut self, thread: usize, resource: u32) {
        let state = &mut self.threads[thread];
        let held = Held {
            host: state.host,
            resource,
            frames: state.frames.len(),
        };
        state.held.push(held);
    }

    /// Reports changed effective parameters to the scheduler.
    fn apply(&mut self, host: usize, changed: &[usize], observer: &mut dyn Observer) {
        for &thread in changed {
            if self.inherits(thread, host) {
                self.report(thread, EventKind::Inherited, observer);
            }
            if self.threads[thread].host == host {
                self.update(thread);
            }
        }
    }

    /// Returns whether a thread is more eligible than by its own parameters.
    fn inherits(&self, thread: usize, host: usize) -> bool {
        let state = &self.hosts[host];
        let Some(effective) = state.resources.effective(thread) else {
            return false;
        };
        let own = self.threads[thread]
            .segment_at(host)
            .claim(state.scheduler.kind(), self.now);
        let effective = Claim::new(*effective, own.received);
        state.scheduler.compare(&effective, &own, self.now).is_gt()
    }
}
