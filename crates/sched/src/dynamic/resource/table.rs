//! Ownership and inheritance.

use alloc::vec::Vec;

use super::{
    super::{Claim, SchedulingParameters, Slot},
    Criteria, Protocol, Resource, ResourceError, ResourceId, Resources,
};

#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    pub(super) base: SchedulingParameters,
    pub(super) effective: SchedulingParameters,
    /// The resource taken last; each owned resource links to the one taken before.
    pub(super) last_taken: Option<ResourceId>,
    pub(super) waits_for: Option<ResourceId>,
    /// While it waits: parameters lent to the owner.
    pub(super) lent: SchedulingParameters,
    /// While it waits: the preceding waiter.
    pub(super) before: Option<Slot>,
    /// While it waits: the following waiter.
    pub(super) after: Option<Slot>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Owned {
    pub(super) owner: Slot,
    /// Number of times the owner has taken it.
    pub(super) depth: u32,
    /// Resource that the owner had taken before this one.
    taken_before: Option<ResourceId>,
}

impl Thread {
    pub(super) fn new(base: SchedulingParameters) -> Self {
        Self {
            base,
            effective: base,
            last_taken: None,
            waits_for: None,
            lent: base,
            before: None,
            after: None,
        }
    }
}

impl Resources {
    pub(super) fn thread(&self, thread: Slot) -> Result<&Thread, ResourceError> {
        let known = self.threads.get(thread.index()).and_then(Option::as_ref);
        known.ok_or(ResourceError::NoSuchThread(thread))
    }

    pub(super) fn thread_mut(&mut self, thread: Slot) -> Option<&mut Thread> {
        self.threads.get_mut(thread.index())?.as_mut()
    }

    pub(super) fn resource(&self, resource: ResourceId) -> Result<&Resource, ResourceError> {
        let known = self.resources.get(resource.index()).and_then(Option::as_ref);
        known.ok_or(ResourceError::NoSuchResource(resource))
    }

    pub(super) fn resource_mut(&mut self, resource: ResourceId) -> Result<&mut Resource, ResourceError> {
        let known = self.resources.get_mut(resource.index()).and_then(Option::as_mut);
        known.ok_or(ResourceError::NoSuchResource(resource))
    }

    /// Makes a thread the owner of a free resource.
    pub(super) fn take(
        &mut self,
        resource: ResourceId,
        thread: Slot,
        by: &Criteria<'_>,
        changed: &mut Vec<Slot>,
    ) {
        let Some(known) = self.thread_mut(thread) else {
            return;
        };
        let taken_before = known.last_taken.replace(resource);
        if let Ok(resource) = self.resource_mut(resource) {
            resource.owned = Some(Owned {
                owner: thread,
                depth: 1,
                taken_before,
            });
        }
        self.inherit(thread, by, changed);
    }

    /// Removes a resource from those that a thread owns.
    pub(super) fn give_back(&mut self, resource: ResourceId, thread: Slot) {
        let Ok(Some(owned)) = self.resource_mut(resource).map(|resource| resource.owned.take()) else {
            return;
        };
        let last = self.thread(thread).ok().and_then(|known| known.last_taken);
        if last == Some(resource) {
            if let Some(known) = self.thread_mut(thread) {
                known.last_taken = owned.taken_before;
            }
            return;
        }
        let mut later = last;
        while let Some(Ok(found)) = later.map(|later| self.resource_mut(later)) {
            let Some(link) = &mut found.owned else {
                return;
            };
            if link.taken_before == Some(resource) {
                link.taken_before = owned.taken_before;
                return;
            }
            later = link.taken_before;
        }
    }

    /// Returns whether `thread` waits for a resource of `other`, directly or through other threads.
    pub(super) fn waits_for_thread(&self, thread: Slot, other: Slot) -> bool {
        let next = |thread: &Slot| self.owner(self.waits_for(*thread)?);
        core::iter::successors(Some(thread), next).any(|owner| owner == other)
    }

    /// Recomputes the effective parameters of a thread, and of the owners along its chain of waits.
    pub(super) fn inherit(&mut self, thread: Slot, by: &Criteria<'_>, changed: &mut Vec<Slot>) {
        let mut next = Some(thread);
        while let Some(thread) = next {
            let Some(effective) = self.inherited(thread, by) else {
                return;
            };
            let Some(known) = self.thread_mut(thread) else {
                return;
            };
            if known.effective == effective {
                return;
            }
            known.effective = effective;
            changed.push(thread);
            // Its position among the waiters may change, and what it lends.
            let Some(resource) = known.waits_for else {
                return;
            };
            self.stop(thread);
            self.wait(resource, thread, by);
            next = self.owner(resource);
        }
    }

    /// Computes the effective parameters of a thread.
    fn inherited(&self, thread: Slot, by: &Criteria<'_>) -> Option<SchedulingParameters> {
        let known = self.thread(thread).ok()?;
        let received = (by.received)(thread);
        let own = Claim::new(known.base, received).lent();
        let mut best = own;
        let mut is_needed = false;
        let mut owned = known.last_taken;
        while let Some(resource) = owned {
            let resource = self.resource(resource).ok()?;
            let waiter = resource.first_waiter.and_then(|waiter| self.thread(waiter).ok());
            let (waiter, ceiling) = match resource.protocol {
                Protocol::None => (None, None),
                Protocol::Inheritance => (waiter, None),
                Protocol::Ceiling(ceiling) => (waiter, Some(ceiling)),
            };
            for lent in [waiter.map(|waiter| waiter.lent), ceiling].into_iter().flatten() {
                is_needed = true;
                if by.compare(&lent, &best).is_gt() {
                    best = lent;
                }
            }
            owned = resource.owned?.taken_before;
        }
        Some(match (is_needed, best == own) {
            (false, _) => known.base,
            // The thread's own parameters, with a constant latest start.
            (true, true) => own.of_thread_that_received(received),
            (true, false) => best.of_thread_that_received(received),
        })
    }
}
