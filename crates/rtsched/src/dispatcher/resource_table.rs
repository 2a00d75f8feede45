//! Resources of distributable threads, and the ceilings that the application gave them.

use std::{
    cmp::Ordering,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use punctual_sched::dynamic::{
    Claim, ParameterKind, Scheduler, SchedulingParameters, Slot, Time,
    resource::{Criteria, Protocol, ResourceId, Resources},
};

use super::{installed_scheduler::InstalledScheduler, thread_table::ThreadTable};

/// Resources under the dispatcher's lock. [`Resources`] decides, by the scheduler in force.
pub(super) struct ResourceTable {
    pub(super) resources: Resources,
    /// Ceilings by id, as the application specified them, for any scheduler.
    ceilings: Vec<Option<SchedulingParameters>>,
    /// Threads whose parameters the last decision changed.
    pub(super) changed: Vec<Slot>,
}

/// Number of resources with memory from the start.
const RESOURCES: usize = 64;

impl ResourceTable {
    pub(super) fn new(max_threads: usize) -> Self {
        let mut resources = Resources::new();
        resources.reserve(max_threads, RESOURCES);
        Self {
            resources,
            ceilings: Vec::with_capacity(RESOURCES),
            changed: Vec::with_capacity(2 * max_threads),
        }
    }

    /// Parameters of a thread that owns a resource or waits for one.
    pub(super) fn effective(&self, slot: Slot) -> Option<SchedulingParameters> {
        self.resources.effective(slot).copied()
    }

    /// Adds a resource without an owner.
    pub(super) fn create(
        &mut self,
        ceiling: Option<SchedulingParameters>,
        scheduler: &InstalledScheduler,
        now: Time,
    ) -> ResourceId {
        let id = self.resources.create(protocol(ceiling, scheduler, now));
        let place = id.0 as usize;
        if self.ceilings.len() <= place {
            self.ceilings.resize(place + 1, None);
        }
        self.ceilings[place] = ceiling;
        id
    }

    /// Sets another ceiling, for later owners.
    pub(super) fn set_ceiling(
        &mut self,
        resource: ResourceId,
        ceiling: SchedulingParameters,
        scheduler: &InstalledScheduler,
        now: Time,
    ) {
        self.ceilings[resource.0 as usize] = Some(ceiling);
        let _ = self
            .resources
            .set_protocol(resource, protocol(Some(ceiling), scheduler, now));
    }

    /// Translates the ceilings for another scheduler.
    pub(super) fn translate_ceilings(&mut self, scheduler: &InstalledScheduler, now: Time) {
        for (place, ceiling) in self.ceilings.iter().enumerate() {
            let protocol = protocol(*ceiling, scheduler, now);
            let _ = self.resources.set_protocol(ResourceId(place as u32), protocol);
        }
    }

    /// Decides about resources; [`changed`](Self::changed) has the threads whose parameters change.
    pub(super) fn decide<R>(
        &mut self,
        scheduler: &mut InstalledScheduler,
        threads: &ThreadTable,
        now: Time,
        decide: impl FnOnce(&mut Resources, &Criteria<'_>, &mut Vec<Slot>) -> R,
    ) -> R {
        self.changed.clear();
        let contained = Contained(scheduler.scheduler());
        let by = Criteria {
            scheduler: &contained,
            received: &|slot| threads.received(slot),
            now,
        };
        decide(&mut self.resources, &by, &mut self.changed)
    }
}

fn protocol(ceiling: Option<SchedulingParameters>, scheduler: &InstalledScheduler, now: Time) -> Protocol {
    match ceiling {
        None => Protocol::Inheritance,
        Some(ceiling) => Protocol::Ceiling(scheduler.translate(&ceiling, now)),
    }
}

/// A scheduler whose comparisons do not panic, because a panic would leave a decision about resources
/// incomplete. After a panic, claims are equal: first come, first served.
struct Contained<'s>(&'s mut dyn Scheduler);

impl Scheduler for Contained<'_> {
    fn name(&self) -> &str {
        "contained"
    }

    fn kind(&self) -> ParameterKind {
        self.0.kind()
    }

    fn reserve(&mut self, _: usize) {}

    fn ready(&mut self, _: Slot, _: &SchedulingParameters, _: Duration, _: Time) {}

    fn update(&mut self, _: Slot, _: &SchedulingParameters, _: Duration, _: Time) {}

    fn remove(&mut self, _: Slot, _: Time) {}

    fn choose(&mut self, _: usize, _: Time, _: &dyn Fn(Slot) -> Duration, _: &mut Vec<Slot>) {}

    fn compare(&self, one: &Claim, other: &Claim, now: Time) -> Ordering {
        let compared = catch_unwind(AssertUnwindSafe(|| self.0.compare(one, other, now)));
        compared.unwrap_or(Ordering::Equal)
    }
}
