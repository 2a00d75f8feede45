//! Ownership of resources, and inheritance by owners.

use std::time::Duration;

use proptest::prelude::*;
use punctual_sched::dynamic::{
    resource::{Acquisition, Criteria, Protocol, Release, ResourceError, ResourceId, Resources},
    *,
};

use crate::dynamic::machine::{at, ms};

fn important(importance: i32) -> SchedulingParameters {
    SchedulingParameters::Importance { importance }
}

/// Resources and the criteria of decisions about them.
struct Setting {
    resources: Resources,
    scheduler: Box<dyn Scheduler>,
    received: Vec<Duration>,
    changed: Vec<Slot>,
}

impl Setting {
    fn new(name: &str) -> Self {
        Self {
            resources: Resources::new(),
            scheduler: standard(name).unwrap(),
            received: vec![Duration::ZERO; 16],
            changed: Vec::new(),
        }
    }

    fn with<R>(&mut self, call: impl FnOnce(&mut Resources, &Criteria<'_>, &mut Vec<Slot>) -> R) -> R {
        let received = |slot: Slot| self.received[slot.0 as usize];
        let by = Criteria {
            scheduler: &*self.scheduler,
            received: &received,
            now: at(0),
        };
        self.changed.clear();
        call(&mut self.resources, &by, &mut self.changed)
    }

    fn base(&mut self, thread: u32, parameters: &SchedulingParameters) {
        self.with(|resources, by, changed| resources.set_base(Slot(thread), parameters, by, changed));
    }

    fn acquire(&mut self, resource: ResourceId, thread: u32) -> Result<Acquisition, ResourceError> {
        self.with(|resources, by, changed| resources.acquire(resource, Slot(thread), by, changed))
    }

    fn release(&mut self, resource: ResourceId, thread: u32) -> Result<Release, ResourceError> {
        self.with(|resources, by, changed| resources.release(resource, Slot(thread), by, changed))
    }

    fn stop_waiting(&mut self, thread: u32) -> Option<ResourceId> {
        self.with(|resources, by, changed| resources.stop_waiting(Slot(thread), by, changed))
    }

    fn effective(&self, thread: u32) -> SchedulingParameters {
        *self.resources.effective(Slot(thread)).unwrap()
    }

    fn importance(&self, thread: u32) -> i32 {
        self.effective(thread).importance().unwrap()
    }
}

fn mif(importances: &[i32]) -> Setting {
    let mut setting = Setting::new("MIF");
    for (thread, importance) in (0..).zip(importances) {
        setting.base(thread, &important(*importance));
    }
    setting
}

#[test]
fn inheritance_goes_along_a_chain_and_back() {
    let mut setting = mif(&[1, 2, 3, 9]);
    let [a, b, c] = [0; 3].map(|_| setting.resources.create(Protocol::Inheritance));
    for (resource, thread) in [(a, 0), (b, 1), (c, 2)] {
        assert_eq!(setting.acquire(resource, thread), Ok(Acquisition::Taken));
    }
    assert_eq!(setting.acquire(a, 1), Ok(Acquisition::Waits));
    assert_eq!(setting.acquire(b, 2), Ok(Acquisition::Waits));
    assert_eq!([0, 1, 2].map(|thread| setting.importance(thread)), [3, 3, 3]);
    assert_eq!(setting.acquire(c, 3), Ok(Acquisition::Waits));
    assert_eq!([0, 1, 2].map(|thread| setting.importance(thread)), [9, 9, 9]);
    assert_eq!(setting.changed, [Slot(2), Slot(1), Slot(0)]);

    assert_eq!(setting.stop_waiting(3), Some(c));
    assert_eq!([0, 1, 2].map(|thread| setting.importance(thread)), [3, 3, 3]);
    assert_eq!(setting.release(a, 0), Ok(Release::HandedTo(Slot(1))));
    assert_eq!([0, 1, 2].map(|thread| setting.importance(thread)), [1, 3, 3]);
    assert_eq!(setting.release(b, 1), Ok(Release::HandedTo(Slot(2))));
    assert_eq!([0, 1, 2].map(|thread| setting.importance(thread)), [1, 2, 3]);
    assert_eq!(setting.stop_waiting(2), None);
}

#[test]
fn the_most_eligible_waiter_is_next_and_equals_are_served_in_order() {
    let mut setting = mif(&[5, 1, 4, 4, 7, 1]);
    let resource = setting.resources.create(Protocol::Inheritance);
    setting.acquire(resource, 0).unwrap();
    for thread in 1..=5 {
        assert_eq!(setting.acquire(resource, thread), Ok(Acquisition::Waits));
    }
    // Its importance decreases, so it moves behind the others.
    setting.base(4, &important(0));
    let mut owner = 0;
    let mut order = Vec::new();
    while let Ok(Release::HandedTo(next)) = setting.release(resource, owner) {
        owner = next.0;
        order.push(owner);
    }
    assert_eq!(order, [2, 3, 1, 5, 4]);
    assert_eq!(setting.resources.owner(resource), None);
}

#[test]
fn a_ceiling_applies_from_the_beginning() {
    let mut setting = mif(&[1, 9]);
    let resource = setting.resources.create(Protocol::Ceiling(important(6)));
    setting.acquire(resource, 0).unwrap();
    assert_eq!((setting.importance(0), &setting.changed[..]), (6, &[Slot(0)][..]));
    setting.acquire(resource, 1).unwrap();
    assert_eq!(setting.importance(0), 9);
    setting.base(0, &important(20));
    assert_eq!(setting.importance(0), 20);
    setting.base(0, &important(1));
    setting.release(resource, 0).unwrap();
    assert_eq!((setting.importance(0), setting.importance(1)), (1, 9));
}

#[test]
fn ownership_is_reentrant() {
    let mut setting = mif(&[1, 2]);
    let [a, b] = [0; 2].map(|_| setting.resources.create(Protocol::Inheritance));
    assert_eq!(setting.acquire(a, 0), Ok(Acquisition::Taken));
    assert_eq!(setting.acquire(b, 0), Ok(Acquisition::Taken));
    assert_eq!(setting.acquire(a, 0), Ok(Acquisition::Reentered));
    assert_eq!(setting.release(a, 0), Ok(Release::StillOwned));
    assert_eq!(setting.resources.last_taken(Slot(0)), Some(b));
    // Not in the reverse order of acquisition.
    assert_eq!(setting.release(a, 0), Ok(Release::Free));
    assert_eq!(setting.resources.last_taken(Slot(0)), Some(b));
    assert_eq!(setting.resources.leave(Slot(0)), Err(ResourceError::Owns(b)));
    assert_eq!(setting.release(b, 0), Ok(Release::Free));
    assert_eq!(setting.resources.leave(Slot(0)), Ok(()));
    assert_eq!(setting.resources.effective(Slot(0)), None);
}

#[test]
fn deadlocks_and_calls_by_other_threads_are_refused() {
    let mut setting = mif(&[1, 2, 3]);
    let [a, b, c] = [0; 3].map(|_| setting.resources.create(Protocol::Inheritance));
    for (resource, thread) in [(a, 0), (b, 1), (c, 2)] {
        setting.acquire(resource, thread).unwrap();
    }
    setting.acquire(b, 0).unwrap();
    setting.acquire(c, 1).unwrap();
    let refused = ResourceError::Deadlock {
        resource: a,
        owner: Slot(0),
    };
    assert_eq!(setting.acquire(a, 2), Err(refused));
    assert_eq!(setting.importance(2), 3);
    assert_eq!(setting.acquire(c, 0), Err(ResourceError::Waits(Slot(0))));
    assert_eq!(setting.resources.leave(Slot(0)), Err(ResourceError::Owns(a)));
    assert_eq!(setting.release(c, 0), Err(ResourceError::NotOwner(c)));
    assert_eq!(setting.acquire(c, 7), Err(ResourceError::NoSuchThread(Slot(7))));
    assert_eq!(setting.resources.destroy(c), Err(ResourceError::Owned(c)));

    setting.release(c, 2).unwrap();
    setting.release(c, 1).unwrap();
    assert_eq!(setting.resources.destroy(c), Ok(()));
    assert_eq!(setting.acquire(c, 2), Err(ResourceError::NoSuchResource(c)));
    assert_eq!(setting.resources.create(Protocol::Inheritance), c);
}

/// The owner inherits the latest start of the waiter, not its execution time, and keeps it while it runs.
#[test]
fn laxities_are_inherited_as_latest_starts() {
    let laxity = |deadline, work| SchedulingParameters::Laxity {
        deadline: at(deadline),
        execution_time: ms(work),
        importance: 0,
    };
    let mut setting = Setting::new("MLF");
    setting.base(0, &laxity(100, 20));
    setting.base(1, &laxity(60, 30));
    let resource = setting.resources.create(Protocol::Inheritance);
    setting.acquire(resource, 0).unwrap();
    assert_eq!(setting.effective(0), laxity(100, 20));
    setting.received[0] = ms(5);
    setting.received[1] = ms(10);
    setting.acquire(resource, 1).unwrap();
    assert_eq!(setting.effective(0), laxity(40, 0));
    let inherited = |received| Claim::new(setting.effective(0), received);
    let waiter = Claim::new(laxity(60, 30), ms(10));
    for received in [5, 15] {
        let order = setting
            .scheduler
            .compare(&inherited(ms(received)), &waiter, at(0));
        assert!(order.is_eq());
    }
    setting.release(resource, 0).unwrap();
    assert_eq!(setting.effective(0), laxity(100, 20));
    assert_eq!(setting.effective(1), laxity(60, 30));

    // A less urgent waiter: the owner's own latest start remains as at the arrival of the waiter.
    setting.received[0] = ms(8);
    setting.release(resource, 1).unwrap();
    setting.acquire(resource, 0).unwrap();
    setting.base(1, &laxity(500, 1));
    setting.acquire(resource, 1).unwrap();
    assert_eq!(setting.effective(0), laxity(88, 0));
}

/// The density is inherited, regardless of the processor time that the owner has received.
#[test]
fn utilities_are_inherited_as_densities() {
    let utility = |work, value| SchedulingParameters::Utility {
        deadline: at(100),
        execution_time: ms(work),
        utility: Utility {
            value,
            decay: Duration::ZERO,
        },
    };
    let mut setting = Setting::new("MAU");
    setting.received[0] = ms(10);
    setting.received[1] = ms(3);
    setting.base(0, &utility(30, 1));
    setting.base(1, &utility(8, 50));
    let resource = setting.resources.create(Protocol::Inheritance);
    setting.acquire(resource, 0).unwrap();
    setting.acquire(resource, 1).unwrap();
    assert_eq!(setting.effective(0), utility(15, 50));
    let claims = [
        Claim::new(setting.effective(0), ms(10)),
        Claim::new(utility(8, 50), ms(3)),
    ];
    assert!(setting.scheduler.compare(&claims[0], &claims[1], at(0)).is_eq());
}

const THREADS: usize = 6;
const RESOURCES: usize = 5;

#[derive(Clone, Debug)]
enum Step {
    Base(u32, i32),
    Acquire(usize, u32),
    Release(usize, u32),
    Stop(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let thread = 0..THREADS as u32;
    let resource = 0..RESOURCES;
    let step = prop_oneof![
        1 => (thread.clone(), 0..9i32).prop_map(|(thread, importance)| Step::Base(thread, importance)),
        6 => (resource.clone(), thread.clone())
            .prop_map(|(resource, thread)| Step::Acquire(resource, thread)),
        4 => (resource, thread.clone()).prop_map(|(resource, thread)| Step::Release(resource, thread)),
        1 => thread.prop_map(Step::Stop),
    ];
    prop::collection::vec(step, 1..150)
}

/// Reference implementation.
#[derive(Clone, Default)]
struct Model {
    base: Vec<i32>,
    ceilings: Vec<i32>,
    /// Owner of each resource, and its number of acquisitions.
    owners: Vec<Option<(u32, u32)>>,
    /// Resource for which each thread waits.
    waits: Vec<Option<usize>>,
}

impl Model {
    /// Returns the effective importances: the least fixed point of inheritance.
    fn effective(&self) -> Vec<i32> {
        let mut effective = self.base.clone();
        loop {
            let before = effective.clone();
            for (resource, owner) in self.owners.iter().enumerate() {
                let Some((owner, _)) = owner else { continue };
                let waiters = (0..THREADS).filter(|thread| self.waits[*thread] == Some(resource));
                let most = waiters.map(|waiter| before[waiter]).max();
                let owner = &mut effective[*owner as usize];
                *owner = most.max(Some(self.ceilings[resource])).max(Some(*owner)).unwrap();
            }
            if effective == before {
                return effective;
            }
        }
    }

    fn would_wait_for(&self, mut owner: u32, thread: u32) -> bool {
        for _ in 0..=THREADS {
            if owner == thread {
                return true;
            }
            match self.waits[owner as usize].and_then(|resource| self.owners[resource]) {
                Some((next, _)) => owner = next,
                None => return false,
            }
        }
        false
    }
}

proptest! {
    #[test]
    fn owners_inherit_as_in_the_reference(steps in steps()) {
        let mut setting = mif(&[4; THREADS]);
        let mut model = Model {
            base: vec![4; THREADS],
            ceilings: vec![i32::MIN, 3, i32::MIN, 6, i32::MIN],
            owners: vec![None; RESOURCES],
            waits: vec![None; THREADS],
        };
        let ids: Vec<ResourceId> = model
            .ceilings
            .iter()
            .map(|ceiling| setting.resources.create(match ceiling {
                &i32::MIN => Protocol::Inheritance,
                ceiling => Protocol::Ceiling(important(*ceiling)),
            }))
            .collect();
        for step in steps {
            let before = model.effective();
            match step {
                Step::Base(thread, importance) => {
                    model.base[thread as usize] = importance;
                    setting.base(thread, &important(importance));
                }
                Step::Acquire(resource, thread) => {
                    let outcome = setting.acquire(ids[resource], thread);
                    let waits = model.waits[thread as usize].is_some();
                    match &mut model.owners[resource] {
                        _ if waits => prop_assert_eq!(outcome, Err(ResourceError::Waits(Slot(thread)))),
                        free @ None => {
                            *free = Some((thread, 1));
                            prop_assert_eq!(outcome, Ok(Acquisition::Taken));
                        }
                        Some((owner, depth)) if *owner == thread => {
                            *depth += 1;
                            prop_assert_eq!(outcome, Ok(Acquisition::Reentered));
                        }
                        Some((owner, _)) => {
                            let owner = *owner;
                            if model.would_wait_for(owner, thread) {
                                let resource = ids[resource];
                                let owner = Slot(owner);
                                prop_assert_eq!(outcome, Err(ResourceError::Deadlock { resource, owner }));
                            } else {
                                model.waits[thread as usize] = Some(resource);
                                prop_assert_eq!(outcome, Ok(Acquisition::Waits));
                            }
                        }
                    }
                }
                Step::Release(resource, thread) => {
                    let outcome = setting.release(ids[resource], thread);
                    match model.owners[resource] {
                        Some((owner, depth)) if owner == thread && depth > 1 => {
                            model.owners[resource] = Some((owner, depth - 1));
                            prop_assert_eq!(outcome, Ok(Release::StillOwned));
                        }
                        Some((owner, _)) if owner == thread => {
                            let waits = |thread: &usize| model.waits[*thread] == Some(resource);
                            let waiters = (0..THREADS).filter(waits);
                            let most = waiters.map(|waiter| before[waiter]).max();
                            let next = match outcome {
                                Ok(Release::Free) => None,
                                Ok(Release::HandedTo(next)) => Some(next.0),
                                other => return Err(TestCaseError::fail(format!("{other:?}"))),
                            };
                            prop_assert_eq!(next.map(|next| before[next as usize]), most);
                            if let Some(next) = next {
                                prop_assert_eq!(model.waits[next as usize].take(), Some(resource));
                            }
                            model.owners[resource] = next.map(|next| (next, 1));
                        }
                        _ => prop_assert_eq!(outcome, Err(ResourceError::NotOwner(ids[resource]))),
                    }
                }
                Step::Stop(thread) => {
                    let stopped = model.waits[thread as usize].take().map(|resource| ids[resource]);
                    prop_assert_eq!(setting.stop_waiting(thread), stopped);
                }
            }
            let effective = model.effective();
            for thread in 0..THREADS {
                prop_assert_eq!(setting.importance(thread as u32), effective[thread]);
                let is_reported = setting.changed.contains(&Slot(thread as u32));
                let is_unchanged = effective[thread] == before[thread];
                prop_assert!(is_reported || is_unchanged, "thread {} was not reported", thread);
            }
        }
    }
}
