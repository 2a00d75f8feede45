//! The resources of one host: [`Resources`] decides about them as in live operation.

use alloc::{collections::BTreeMap, vec::Vec};
use core::time::Duration;

use crate::dynamic::{
    Scheduler, SchedulingParameters, Slot, Time,
    resource::{self, Criteria, Resources},
};

use super::Protocol;

/// The resources of one host, and the threads that own or wait for them.
#[derive(Debug, Default)]
pub(super) struct HostResources {
    pub(super) resources: Resources,
    /// Slots of the threads known to `resources`.
    slots: BTreeMap<usize, Slot>,
    /// The thread of each slot.
    pub(super) threads: Vec<usize>,
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

    /// Returns the slot of a thread in `resources`.
    pub(super) fn slot(&mut self, thread: usize) -> Slot {
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
    pub(super) fn forget_if_unconcerned(&mut self, thread: usize) {
        if let Some(slot) = self.slots.get(&thread).copied()
            && self.resources.leave(slot).is_ok()
        {
            self.slots.remove(&thread);
            self.free.push(slot);
        }
    }

    /// Makes one decision; returns the threads whose effective parameters changed.
    pub(super) fn decide<R>(
        &mut self,
        scheduler: &dyn Scheduler,
        received: impl Fn(usize) -> Duration,
        now: Time,
        decide: impl FnOnce(&mut Resources, &Criteria<'_>, &mut Vec<Slot>) -> R,
    ) -> (R, Vec<usize>) {
        let threads = &self.threads;
        let by = Criteria {
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
