//! Waiters of a resource, the most eligible first, equals in the order of their arrival.

use super::{
    super::{Claim, Slot},
    Criteria, ResourceId, Resources,
};

impl Resources {
    pub(super) fn first_waiter(&self, resource: ResourceId) -> Option<Slot> {
        self.resource(resource).ok()?.first_waiter
    }

    /// Inserts a thread into the waiters.
    pub(super) fn wait(&mut self, resource: ResourceId, thread: Slot, by: &Criteria<'_>) {
        let Ok(known) = self.thread(thread) else {
            return;
        };
        let lent = Claim::new(known.effective, (by.received)(thread)).lent();
        let precedes = |other: &Slot| {
            self.thread(*other)
                .is_ok_and(|other| by.compare(&lent, &other.lent).is_gt())
        };
        let Ok(known) = self.resource(resource) else {
            return;
        };
        // From the end: a new waiter is seldom more eligible than the others.
        let mut before = known.last_waiter;
        while let Some(other) = before.filter(precedes) {
            before = self.thread(other).ok().and_then(|other| other.before);
        }
        let after = match before {
            Some(before) => self.thread(before).ok().and_then(|before| before.after),
            None => known.first_waiter,
        };
        if let Some(known) = self.thread_mut(thread) {
            known.waits_for = Some(resource);
            known.lent = lent;
        }
        self.connect(resource, before, Some(thread));
        self.connect(resource, Some(thread), after);
    }

    /// Removes a thread from the waiters.
    pub(super) fn stop(&mut self, thread: Slot) {
        let Some(known) = self.thread_mut(thread) else {
            return;
        };
        let (before, after) = (known.before.take(), known.after.take());
        if let Some(resource) = known.waits_for.take() {
            self.connect(resource, before, after);
        }
    }

    /// Links two neighbours; `None` is the beginning or the end.
    fn connect(&mut self, resource: ResourceId, before: Option<Slot>, after: Option<Slot>) {
        match before {
            Some(before) => {
                if let Some(known) = self.thread_mut(before) {
                    known.after = after;
                }
            }
            None => {
                if let Ok(resource) = self.resource_mut(resource) {
                    resource.first_waiter = after;
                }
            }
        }
        match after {
            Some(after) => {
                if let Some(known) = self.thread_mut(after) {
                    known.before = before;
                }
            }
            None => {
                if let Ok(resource) = self.resource_mut(resource) {
                    resource.last_waiter = before;
                }
            }
        }
    }
}
