//! Resources of distributable threads: who owns which, who waits, and what the owners inherit.
//!
//! [`Resources`] decides under the dispatcher's lock, by the scheduler in force; the functions here carry that out. Who waits for a
//! resource is not ready: whoever is runs meanwhile. It waits at its own gate, as for its turn, and is woken by who releases, by its
//! cancellation, or by its limit.

use std::{
    cmp::Ordering,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use punctual_sched::dynamic::{
    Claim, ParameterKind, Scheduler, SchedulingParameters, Slot, Time, TranslationDefaults,
    resource::{Acquisition, By, Protocol, Release, ResourceError, ResourceId, Resources},
};
use punctual_types::{Completion, DistributableThreadId, Minor, SystemException, SystemExceptionKind};

use super::{
    Dispatcher, Visitor,
    entry::{self, Entry, Head},
    instant, interruption,
    state::State,
    wakes::Wakes,
};
use crate::error::{Interrupted, bad_order};

/// Under the dispatcher's lock.
pub(super) struct ResourceTable {
    resources: Resources,
    /// By id: what the application gave as a ceiling, for whatever scheduler there was.
    ceilings: Vec<Option<SchedulingParameters>>,
    /// Whose parameters have changed.
    changed: Vec<Slot>,
}

/// How many resources there is room for from the start.
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

    /// What a thread that owns or waits for something is scheduled by.
    pub(super) fn effective(&self, slot: Slot) -> Option<SchedulingParameters> {
        self.resources.effective(slot).copied()
    }
}

impl Dispatcher {
    /// A resource that nobody owns; `ceiling`: its owner has at least these parameters.
    pub(crate) fn create_resource(&self, ceiling: Option<SchedulingParameters>) -> ResourceId {
        let mut state = self.state.lock();
        let protocol = state.protocol(ceiling, entry::now());
        let table = &mut state.resources;
        let id = table.resources.create(protocol);
        let place = id.0 as usize;
        if table.ceilings.len() <= place {
            table.ceilings.resize(place + 1, None);
        }
        table.ceilings[place] = ceiling;
        id
    }

    /// Another ceiling, for those that own it from then on.
    pub(crate) fn set_ceiling(&self, resource: ResourceId, ceiling: SchedulingParameters) {
        let mut state = self.state.lock();
        let protocol = state.protocol(Some(ceiling), entry::now());
        let table = &mut state.resources;
        table.ceilings[resource.0 as usize] = Some(ceiling);
        let _ = table.resources.set_protocol(resource, protocol);
    }

    /// Ends a resource; one whose guard was leaked stays until its owner ends, and its id is not used again.
    pub(crate) fn destroy_resource(&self, resource: ResourceId) {
        let _ = self.state.lock().resources.resources.destroy(resource);
    }

    /// Whose it is.
    pub(crate) fn owner_of(&self, resource: ResourceId) -> Option<DistributableThreadId> {
        let state = self.state.lock();
        let owner = state.resources.resources.owner(resource)?;
        Some(state.entry(owner).id)
    }

    /// Takes the resource for the visit's thread, waiting until `until` at most; says whether it has it. A thread that has it takes
    /// it once more.
    pub(crate) fn acquire(
        &self,
        resource: ResourceId,
        visitor: Visitor,
        until: Time,
    ) -> Result<bool, Interrupted> {
        let slot = visitor.slot;
        let mut state = self.state.lock();
        let mut now = entry::now();
        if let Some(interrupted) = interruption(&mut state, visitor, now) {
            return Err(self.interrupt(state, visitor, interrupted, Wakes::default(), now));
        }
        let owner = state.resources.resources.owner(resource);
        if until <= now && owner.is_some_and(|owner| owner != slot) {
            return Ok(false);
        }
        let (acquired, mut wakes) = state.acquire(resource, slot, now);
        match acquired {
            Ok(Acquisition::Taken | Acquisition::Again) => {
                self.unlock(state, wakes);
                return Ok(true);
            }
            Ok(Acquisition::Waits) => {}
            Err(error) => {
                self.unlock(state, wakes);
                return Err(Interrupted::Refused(exception(error)));
            }
        }
        wakes.add(state.suspend(slot, now));
        let limit = visitor.limit.unwrap_or(Time::NEVER).min(until);
        loop {
            let Some(head) = state.entry_mut(slot).head_of(visitor.visit) else {
                // Another visit has taken it, with what it had been given: what the thread waits for now is that one's.
                return Err(self.interrupt(state, visitor, Interrupted::Cancelled, wakes, now));
            };
            if head.handed.take().is_some() {
                let turn = self.proceed(state, visitor, wakes, now);
                if turn.is_err() {
                    self.release(resource, visitor, None);
                }
                return turn.map(|()| true);
            }
            let interrupted = interruption(&mut state, visitor, now);
            if interrupted.is_some() || until <= now {
                wakes.add(state.stop_waiting(slot, now));
                return match interrupted {
                    Some(interrupted) => Err(self.interrupt(state, visitor, interrupted, wakes, now)),
                    None => self.proceed(state, visitor, wakes, now).map(|()| false),
                };
            }
            let head = state.entry_mut(slot).head_mut().expect("it is here");
            // Whoever opens it does so after this: under the lock, or with what was decided under it.
            head.gate.close();
            let gate = Arc::clone(&head.gate);
            self.unlock(state, wakes);
            gate.pass((limit != Time::NEVER).then(|| instant(limit)));
            state = self.state.lock();
            now = entry::now();
            wakes = Wakes::default();
        }
    }

    /// Gives the resource back, as often as it was taken; whoever waits has it next. A scheduling point: what the thread had inherited
    /// is gone. With an id nothing happens where the slot has another thread's meanwhile.
    pub(crate) fn release(&self, resource: ResourceId, visitor: Visitor, id: Option<DistributableThreadId>) {
        let mut state = self.state.lock();
        if id.is_some_and(|id| state.entry(visitor.slot).id != id) {
            return;
        }
        let now = entry::now();
        // Its caller may have gone on without this visit: then the head is at no scheduling point.
        let is_here = state.entry_mut(visitor.slot).head_of(visitor.visit).is_some();
        let caller = is_here.then_some(visitor.slot);
        let wakes = state.release_resource(resource, visitor.slot, caller, now);
        if is_here && state.entry(visitor.slot).is_ready() {
            // Its cancellation is seen at the next point.
            let _ = self.proceed(state, visitor, wakes, now);
        } else {
            self.unlock(state, wakes);
        }
    }
}

impl State {
    fn acquire(
        &mut self,
        resource: ResourceId,
        slot: Slot,
        now: Time,
    ) -> (Result<Acquisition, ResourceError>, Wakes) {
        let own = self.own_parameters(slot, now);
        self.decide(Some(slot), now, |resources, by, changed| {
            if resources.effective(slot).is_none() {
                resources.set_base(slot, &own, by, changed);
                // It is scheduled by these already.
                changed.clear();
            }
            let acquired = resources.acquire(resource, slot, by, changed);
            if acquired.is_err() {
                let _ = resources.leave(slot);
            }
            acquired
        })
    }

    /// Hands it on. The next one is ready before what the owner had inherited is gone, so that nobody in between gets its turn.
    pub(super) fn release_resource(
        &mut self,
        resource: ResourceId,
        slot: Slot,
        caller: Option<Slot>,
        now: Time,
    ) -> Wakes {
        let released = self.decide_only(now, |resources, by, changed| {
            resources.release(resource, slot, by, changed)
        });
        let next = match released {
            Ok(Release::HandedTo(next)) => {
                if let Some(head) = self.entry_mut(next).head_mut() {
                    head.handed = Some(resource);
                }
                Some(next)
            }
            Ok(Release::Kept | Release::Free) | Err(_) => None,
        };
        let wakes = self.carry_out(next, caller, now);
        self.forget_if_unconcerned(slot);
        wakes
    }

    /// A thread that waits, at its gate, owns what it waited for: it is ready, and woken when it is its turn.
    fn hand_over(&mut self, next: Slot, now: Time) -> Wakes {
        let mut wakes = Wakes::default();
        let Some(head) = self.entry(next).head() else {
            return wakes;
        };
        let gate = Arc::clone(&head.gate);
        if self.entry(next).is_ready() {
            wakes.push(&gate);
            return wakes;
        }
        let before = self.lowers.take();
        let admitted = self.admit(next, now);
        if let Some(lowering) = std::mem::replace(&mut self.lowers, before) {
            // It sleeps, so it cannot do that itself; and what the caller has to do to itself must not be forgotten for it.
            lowering.carry_out();
        }
        match admitted {
            Ok(more) => wakes.add(more),
            // It is told when it asks for its turn itself.
            Err(_) => {
                wakes.push(&gate);
                return wakes;
            }
        }
        let head = self
            .entry_mut(next)
            .head_mut()
            .expect("it has just been admitted");
        if head.runs {
            wakes.push(&gate);
        } else {
            head.received_parked = head.received();
            head.parked = true;
        }
        wakes
    }

    /// Nothing happens where it does not wait.
    pub(super) fn stop_waiting(&mut self, slot: Slot, now: Time) -> Wakes {
        if self.resources.resources.waits_for(slot).is_none() {
            return Wakes::default();
        }
        let (_, wakes) = self.decide(Some(slot), now, |resources, by, changed| {
            resources.stop_waiting(slot, by, changed)
        });
        self.forget_if_unconcerned(slot);
        wakes
    }

    /// The thread ends here: what it still has, it gives back, the last first.
    pub(super) fn release_resources(&mut self, slot: Slot, now: Time) -> Wakes {
        let mut wakes = Wakes::default();
        if self.resources.resources.effective(slot).is_none() {
            return wakes;
        }
        wakes.add(self.stop_waiting(slot, now));
        while let Some(resource) = self.resources.resources.last_taken(slot) {
            wakes.add(self.release_resource(resource, slot, Some(slot), now));
        }
        wakes
    }

    /// A thread has other parameters of its own, or its head is another one: where resources concern it, what it is scheduled by
    /// follows.
    pub(super) fn rebase(&mut self, slot: Slot, now: Time) -> Wakes {
        if self.resources.resources.effective(slot).is_none() || self.entry(slot).head().is_none() {
            return Wakes::default();
        }
        let own = self.own_parameters(slot, now);
        let ((), wakes) = self.decide(Some(slot), now, |resources, by, changed| {
            resources.set_base(slot, &own, by, changed);
        });
        let effective = self.resources.effective(slot);
        if let Some(head) = self.entry_mut(slot).head_mut() {
            head.inherited = effective;
        }
        wakes
    }

    /// Another scheduler, which knows no thread yet: all parameters in its terms.
    pub(super) fn translate_resources(&mut self, now: Time) {
        for place in 0..self.resources.ceilings.len() {
            let protocol = self.protocol(self.resources.ceilings[place], now);
            let _ = self
                .resources
                .resources
                .set_protocol(ResourceId(place as u32), protocol);
        }
        for place in 0..self.entries.len() {
            let slot = Slot(place as u32);
            if self.resources.effective(slot).is_none() || self.entry(slot).head().is_none() {
                continue;
            }
            let own = self.own_parameters(slot, now);
            self.decide_only(now, |resources, by, changed| {
                resources.set_base(slot, &own, by, changed)
            });
        }
        for place in 0..self.entries.len() {
            let inherited = self.resources.effective(Slot(place as u32));
            if let Some(head) = self.entries[place].head_mut() {
                head.inherited = inherited;
            }
        }
    }

    /// Decides, and has those whose parameters change scheduled by them.
    fn decide<R>(
        &mut self,
        caller: Option<Slot>,
        now: Time,
        decide: impl FnOnce(&mut Resources, &By<'_>, &mut Vec<Slot>) -> R,
    ) -> (R, Wakes) {
        let result = self.decide_only(now, decide);
        (result, self.carry_out(None, caller, now))
    }

    /// Those whose parameters have changed are scheduled by them; `next`, who got what it waited for, is ready.
    fn carry_out(&mut self, next: Option<Slot>, caller: Option<Slot>, now: Time) -> Wakes {
        for place in 0..self.resources.changed.len() {
            let slot = self.resources.changed[place];
            let inherited = self.resources.effective(slot);
            if let Some(head) = self.entry_mut(slot).head_mut() {
                head.inherited = inherited;
            }
        }
        let mut wakes = next.map_or_else(Wakes::default, |next| self.hand_over(next, now));
        for place in 0..self.resources.changed.len() {
            let slot = self.resources.changed[place];
            // A reservation that the kernel does not admit stays as it was.
            wakes.add(self.changed(slot, caller, now).unwrap_or_default());
        }
        wakes
    }

    fn decide_only<R>(
        &mut self,
        now: Time,
        decide: impl FnOnce(&mut Resources, &By<'_>, &mut Vec<Slot>) -> R,
    ) -> R {
        let Self {
            resources: table,
            choice,
            entries,
            ..
        } = self;
        table.changed.clear();
        let received = |slot: Slot| {
            let head = entries.get(slot.0 as usize).and_then(Entry::head);
            head.map_or(Duration::ZERO, Head::received)
        };
        let scheduler = Contained(choice.scheduler());
        let by = By {
            scheduler: &scheduler,
            received: &received,
            now,
        };
        decide(&mut table.resources, &by, &mut table.changed)
    }

    fn forget_if_unconcerned(&mut self, slot: Slot) {
        if self.resources.resources.leave(slot).is_ok()
            && let Some(head) = self.entry_mut(slot).head_mut()
        {
            head.inherited = None;
        }
    }

    fn own_parameters(&self, slot: Slot, now: Time) -> SchedulingParameters {
        let head = self.entry(slot).head().expect("its head is here");
        self.in_terms_of_the_scheduler(&head.own, now)
    }

    fn protocol(&self, ceiling: Option<SchedulingParameters>, now: Time) -> Protocol {
        match ceiling {
            None => Protocol::Inheritance,
            Some(ceiling) => Protocol::Ceiling(self.in_terms_of_the_scheduler(&ceiling, now)),
        }
    }

    fn in_terms_of_the_scheduler(
        &self,
        parameters: &SchedulingParameters,
        now: Time,
    ) -> SchedulingParameters {
        let defaults = TranslationDefaults {
            now,
            ..TranslationDefaults::default()
        };
        parameters.translated(self.choice.kind(), &defaults)
    }
}

/// A scheduler whose panics stay in it: in the middle of a decision about resources they would leave that half done. Its claims are
/// equal then, so whoever came first goes first.
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
    use punctual_os::ThreadSpec;
    use punctual_sched::dynamic::MostImportantFirst;

    use super::{
        super::{Mechanism, NativePriorities, Preemption, Settings, entry::Carrier},
        *,
    };

    fn visitor(slot: Slot, visit: u64) -> Visitor {
        Visitor {
            slot,
            visit,
            limit: None,
        }
    }

    fn arrive(dispatcher: &Dispatcher, slot: Slot, visit: u64) -> Visitor {
        let parameters = SchedulingParameters::Importance { importance: 1 };
        let head = Head::new(visit, &Carrier::of_this_thread(), parameters, None);
        let visitor = visitor(slot, visit);
        dispatcher.arrive(visitor, head).unwrap();
        visitor
    }

    fn eventually(mut holds: impl FnMut() -> bool) {
        while !holds() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A visit whose caller goes on without it waits for a resource that the caller then waits for itself.
    #[test]
    fn a_visit_that_is_left_behind_does_not_end_the_wait_of_the_next_one() {
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
            let left_behind = ThreadSpec::new("left").spawn(move || {
                let left = arrive(&of_other, slot, 3 * round + 1);
                of_other.acquire(resource, left, Time::NEVER)
            });
            let waits = || dispatcher.look(|state| state.resources.resources.waits_for(slot).is_some());
            eventually(waits);
            let here = arrive(&dispatcher, slot, 3 * round + 2);
            let (of_owner, left_behind) = (Arc::clone(&dispatcher), left_behind.unwrap());
            let releases = ThreadSpec::new("owner").spawn(move || {
                assert_eq!(left_behind.join().unwrap(), Err(Interrupted::Cancelled));
                of_owner.release(resource, owner, None);
            });
            // With a time-out, so that a mistake is none for ever.
            let until = entry::now() + Duration::from_secs(10);
            assert_eq!(
                dispatcher.acquire(resource, here, until),
                Ok(true),
                "round {round}"
            );
            releases.unwrap().join().unwrap();
            dispatcher.release(resource, here, None);
            assert_eq!(dispatcher.owner_of(resource), None);
        }
    }
}
