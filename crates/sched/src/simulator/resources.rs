//! Resources in the simulator: [`Resources`] decides as in live operation, and the functions here carry out its decisions.

use alloc::{collections::BTreeMap, vec::Vec};
use core::time::Duration;

use crate::dynamic::{
    Claim, Scheduler, SchedulingParameters, Slot, Time,
    resource::{self, Acquisition, By, Release, ResourceId, Resources},
};

use super::{
    EventKind, Observer, Protocol, Simulation,
    host::HostState,
    thread::{Ending, Held, State, Thread},
};

/// The resources of one host, and the threads that own or wait for them.
#[derive(Debug, Default)]
pub(super) struct HostResources {
    resources: Resources,
    /// Slots of the threads known to `resources`.
    slots: BTreeMap<usize, Slot>,
    /// The thread of each slot.
    threads: Vec<usize>,
    free: Vec<Slot>,
}

impl HostResources {
    /// Creates one resource for each resource of the model, with the same index.
    pub(super) fn new(protocols: impl Iterator<Item = Protocol>) -> Self {
        let mut resources = Resources::new();
        for protocol in protocols {
            resources.create(match protocol {
                Protocol::None => resource::Protocol::None,
                // The ceiling is set when the resource is taken, because its deadline counts from then.
                Protocol::Inheritance | Protocol::Ceiling(_) => resource::Protocol::Inheritance,
            });
        }
        Self {
            resources,
            ..Self::default()
        }
    }

    /// Returns the parameters by which a thread is scheduled here while it owns or waits for a resource.
    pub(super) fn effective(&self, thread: usize) -> Option<&SchedulingParameters> {
        self.resources.effective(*self.slots.get(&thread)?)
    }

    fn slot(&mut self, thread: usize) -> Slot {
        let Self { threads, free, .. } = self;
        *self.slots.entry(thread).or_insert_with(|| match free.pop() {
            Some(slot) => {
                threads[slot.0 as usize] = thread;
                slot
            }
            None => {
                threads.push(thread);
                Slot(u32::try_from(threads.len() - 1).expect("fewer than 2^32 threads fit into memory"))
            }
        })
    }

    /// Removes a thread that neither owns nor waits for anything here.
    fn forget_if_unconcerned(&mut self, thread: usize) {
        if let Some(slot) = self.slots.get(&thread).copied()
            && self.resources.leave(slot).is_ok()
        {
            self.slots.remove(&thread);
            self.free.push(slot);
        }
    }

    /// Makes one decision; returns the threads whose effective parameters changed.
    fn decide<R>(
        &mut self,
        scheduler: &dyn Scheduler,
        received: impl Fn(usize) -> Duration,
        now: Time,
        decide: impl FnOnce(&mut Resources, &By<'_>, &mut Vec<Slot>) -> R,
    ) -> (R, Vec<usize>) {
        let threads = &self.threads;
        let by = By {
            scheduler,
            received: &|slot| received(threads[slot.0 as usize]),
            now,
        };
        let mut changed = Vec::new();
        let result = decide(&mut self.resources, &by, &mut changed);
        (
            result,
            changed.iter().map(|slot| threads[slot.0 as usize]).collect(),
        )
    }
}

impl HostState {
    fn decide_resources<R>(
        &mut self,
        host: usize,
        threads: &[Thread<'_>],
        now: Time,
        decide: impl FnOnce(&mut Resources, &By<'_>, &mut Vec<Slot>) -> R,
    ) -> (R, Vec<usize>) {
        let received = |thread: usize| threads[thread].received_at(host);
        self.resources.decide(&*self.scheduler, received, now, decide)
    }
}

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
        let (acquired, changed) =
            self.hosts[host].decide_resources(host, &self.threads, self.now, |resources, by, changed| {
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
            Ok(Acquisition::Again) => self.hold(thread, resource),
            Ok(Acquisition::Waits) => {
                self.report(thread, EventKind::Waiting { resource }, observer);
                self.leave(thread, State::Waiting);
            }
            Err(_) => {
                self.hosts[host].resources.forget_if_unconcerned(thread);
                self.threads[thread].ending = Some(Ending::Deadlock);
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
        let Some(place) = state.held.iter().rposition(is_this) else {
            return;
        };
        state.held.remove(place);
        if !state.held.iter().any(is_this) {
            self.set_ceiling(host, resource);
        }
        let slot = self.hosts[host].resources.slot(thread);
        let id = ResourceId(resource as u32);
        let (released, changed) =
            self.hosts[host].decide_resources(host, &self.threads, self.now, |resources, by, changed| {
                resources.release(id, slot, by, changed)
            });
        let resource = resource as u32;
        if released != Ok(Release::Kept) {
            self.report(thread, EventKind::Unlocked { resource }, observer);
        }
        if let Ok(Release::HandedTo(next)) = released {
            let next = self.hosts[host].resources.threads[next.0 as usize];
            self.hold(next, resource);
            self.report(next, EventKind::Locked { resource }, observer);
            self.ready(next);
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
        let (_, changed) =
            self.hosts[host].decide_resources(host, &self.threads, self.now, |resources, by, changed| {
                resources.stop_waiting(slot, by, changed)
            });
        self.apply(host, &changed, observer);
        self.hosts[host].resources.forget_if_unconcerned(thread);
    }

    /// Follows a change of a thread's own parameters, or its arrival on another host, where it uses resources.
    pub(super) fn rebase(&mut self, thread: usize, observer: &mut dyn Observer) {
        let host = self.threads[thread].host;
        if self.hosts[host].resources.effective(thread).is_none() {
            return;
        }
        let base = self.own_parameters(thread, host);
        let slot = self.hosts[host].resources.slot(thread);
        let ((), changed) =
            self.hosts[host].decide_resources(host, &self.threads, self.now, |resources, by, changed| {
                resources.set_base(slot, &base, by, changed);
            });
        self.apply(host, &changed, observer);
    }

    fn own_parameters(&self, thread: usize, host: usize) -> SchedulingParameters {
        let kind = self.hosts[host].scheduler.kind();
        self.threads[thread].segment().claim(kind, self.now).parameters
    }

    /// Sets the ceiling that holds for the next owner: its deadline counts from now.
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

    fn hold(&mut self, thread: usize, resource: u32) {
        let state = &mut self.threads[thread];
        let held = Held {
            host: state.host,
            resource,
            frames: state.frames.len(),
        };
        state.held.push(held);
    }

    /// Has threads scheduled by their new effective parameters.
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

    /// Whether a thread is more eligible here than by its own parameters.
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
