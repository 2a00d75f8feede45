use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use punctual_sched::dynamic::{Checked, ParameterKind, Scheduler, SchedulingParameters, Slot, Time};

use super::entry::{Entry, Head};
use crate::notice;

/// The scheduler in force. It is code of somebody else's under our lock: a panic or a senseless decision is counted and told once,
/// and threads run in the order in which they became ready instead.
pub(super) struct Choice {
    /// There until this is dropped.
    scheduler: Option<Checked<Box<dyn Scheduler>>>,
    kind: ParameterKind,
    /// Of the schedulers before this one.
    failures_before: u64,
    /// Those to run, the most eligible first.
    pub(super) chosen: Vec<Slot>,
    /// When to choose again although nothing happens.
    pub(super) reconsider_at: Option<Time>,
}

impl Choice {
    pub(super) fn new(scheduler: Box<dyn Scheduler>, room: usize) -> Self {
        let kind = scheduler.kind();
        let mut choice = Self {
            scheduler: Some(Checked::new(scheduler)),
            kind,
            failures_before: 0,
            chosen: Vec::with_capacity(room),
            reconsider_at: None,
        };
        choice.guarded(|scheduler| scheduler.reserve(room));
        choice
    }

    /// The parameters it takes.
    pub(super) fn kind(&self) -> ParameterKind {
        self.kind
    }

    /// The one in force, to compare by.
    pub(super) fn scheduler(&mut self) -> &mut dyn Scheduler {
        self.scheduler.as_mut().expect("there until the end")
    }

    pub(super) fn name(&self) -> &str {
        self.checked().scheduler().name()
    }

    /// How often schedulers have failed.
    pub(super) fn failures(&self) -> u64 {
        self.failures_before + self.checked().nonsense()
    }

    pub(super) fn add_failures(&mut self, failures: u64) {
        self.failures_before += failures;
    }

    pub(super) fn ready(
        &mut self,
        slot: Slot,
        parameters: &SchedulingParameters,
        received: Duration,
        now: Time,
    ) {
        self.guarded(|scheduler| scheduler.ready(slot, parameters, received, now));
    }

    pub(super) fn update(
        &mut self,
        slot: Slot,
        parameters: &SchedulingParameters,
        received: Duration,
        now: Time,
    ) {
        self.guarded(|scheduler| scheduler.update(slot, parameters, received, now));
    }

    pub(super) fn remove(&mut self, slot: Slot, now: Time) {
        self.guarded(|scheduler| scheduler.remove(slot, now));
    }

    pub(super) fn fixed_eligibility(&mut self, parameters: &SchedulingParameters) -> Option<i64> {
        self.guarded(|scheduler| scheduler.fixed_eligibility(parameters))
            .flatten()
    }

    pub(super) fn choose(&mut self, entries: &[Entry], processors: usize, now: Time) {
        let received = |slot: Slot| {
            let head = entries.get(slot.0 as usize).and_then(Entry::head);
            head.map_or(Duration::ZERO, Head::received)
        };
        let mut chosen = std::mem::take(&mut self.chosen);
        let mut choose = |scheduler: &mut Checked<Box<dyn Scheduler>>| {
            chosen.clear();
            scheduler.choose(processors, now, &received, &mut chosen);
            scheduler.reconsider_at(now)
        };
        // After a panic it is in the order of arrival.
        let again = self.guarded(&mut choose).or_else(|| self.guarded(&mut choose));
        self.reconsider_at = again.flatten();
        self.chosen = chosen;
        if self.checked().nonsense() > 0 {
            self.tell();
        }
    }

    #[cold]
    fn tell(&self) {
        notice::SCHEDULER_FAILED.send();
    }

    fn checked(&self) -> &Checked<Box<dyn Scheduler>> {
        self.scheduler.as_ref().expect("there until the end")
    }

    /// `None`: it has panicked, and is not asked any more.
    fn guarded<R>(&mut self, call: impl FnOnce(&mut Checked<Box<dyn Scheduler>>) -> R) -> Option<R> {
        let scheduler = self.scheduler.as_mut().expect("there until the end");
        let outcome = catch_unwind(AssertUnwindSafe(|| call(&mut *scheduler)));
        if outcome.is_err() {
            scheduler.give_up();
        }
        outcome.ok()
    }
}

impl Drop for Choice {
    fn drop(&mut self) {
        let scheduler = self.scheduler.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(scheduler)));
    }
}
