//! The scheduler in force, with its failures contained.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use punctual_sched::dynamic::{
    Checked, MostImportantFirst, ParameterKind, Scheduler, SchedulingParameters, Slot, Time,
    TranslationDefaults, UserParameters,
};

use super::thread_table::ThreadTable;
use crate::notice;

/// The scheduler in force: code of the application under the dispatcher's lock.
///
/// A panic or an invalid decision is counted and reported once, and threads run in the order in which they
/// became ready.
pub(super) struct InstalledScheduler {
    scheduler: Checked<Box<dyn Scheduler>>,
    kind: ParameterKind,
    /// Failures of the schedulers before this one.
    earlier_failures: u64,
    /// Threads to run, the most eligible first.
    pub(super) chosen: Vec<Slot>,
    /// Reused for a choice in which lanes limit claims.
    pub(super) by_lane: Vec<Slot>,
    /// Time to choose again without any other event.
    pub(super) reconsider_at: Option<Time>,
}

impl InstalledScheduler {
    pub(super) fn new(scheduler: Box<dyn Scheduler>, max_threads: usize) -> Self {
        let kind = scheduler.kind();
        let mut installed = Self {
            scheduler: Checked::new(scheduler),
            kind,
            earlier_failures: 0,
            chosen: Vec::with_capacity(max_threads),
            by_lane: Vec::with_capacity(max_threads),
            reconsider_at: None,
        };
        installed.contained(|scheduler| scheduler.reserve(max_threads));
        installed
    }

    /// Returns the kind of parameters that it takes.
    pub(super) fn kind(&self) -> ParameterKind {
        self.kind
    }

    /// Returns the scheduler itself, for comparisons.
    pub(super) fn scheduler(&mut self) -> &mut dyn Scheduler {
        &mut self.scheduler
    }

    pub(super) fn name(&self) -> &str {
        self.scheduler.scheduler().name()
    }

    /// Returns the number of failures of all schedulers so far.
    pub(super) fn failures(&self) -> u64 {
        self.earlier_failures + self.scheduler.faults()
    }

    pub(super) fn add_failures(&mut self, failures: u64) {
        self.earlier_failures += failures;
    }

    /// Translates parameters to the kind that the scheduler takes.
    pub(super) fn translate(&self, parameters: &SchedulingParameters, now: Time) -> SchedulingParameters {
        if let ParameterKind::User(_) = self.kind
            && parameters.kind() != self.kind
        {
            // A scheduler that panics here panics again where it is called to decide.
            let adopt = AssertUnwindSafe(|| self.scheduler.adopt(parameters, now));
            let adopted = catch_unwind(adopt).ok().flatten().map(SchedulingParameters::User);
            if let Some(adopted) = adopted.filter(|adopted| adopted.kind() == self.kind) {
                return adopted;
            }
        }
        let defaults = TranslationDefaults {
            now,
            ..TranslationDefaults::default()
        };
        parameters.translated(self.kind, &defaults)
    }

    pub(super) fn ready(
        &mut self,
        slot: Slot,
        parameters: &SchedulingParameters,
        received: Duration,
        now: Time,
    ) {
        self.contained(|scheduler| scheduler.ready(slot, parameters, received, now));
    }

    pub(super) fn update(
        &mut self,
        slot: Slot,
        parameters: &SchedulingParameters,
        received: Duration,
        now: Time,
    ) {
        self.contained(|scheduler| scheduler.update(slot, parameters, received, now));
    }

    pub(super) fn remove(&mut self, slot: Slot, now: Time) {
        self.contained(|scheduler| scheduler.remove(slot, now));
    }

    /// Parameters of its own kind for a request.
    pub(super) fn marshal(&mut self, parameters: &UserParameters, received: Duration) -> UserParameters {
        self.contained(|scheduler| scheduler.marshal(parameters, received))
            .unwrap_or(*parameters)
    }

    /// Parameters of its own kind from a request; `None`: it refuses them.
    pub(super) fn unmarshal(&mut self, parameters: &UserParameters) -> Option<UserParameters> {
        self.contained(|scheduler| scheduler.unmarshal(parameters))
            .unwrap_or(Some(*parameters))
    }

    pub(super) fn fixed_eligibility(&mut self, parameters: &SchedulingParameters) -> Option<i64> {
        self.contained(|scheduler| scheduler.fixed_eligibility(parameters))
            .flatten()
    }

    /// Chooses the threads to run.
    pub(super) fn choose(&mut self, threads: &ThreadTable, processors: usize, now: Time) {
        let received = |slot: Slot| threads.received(slot);
        let mut chosen = mem::take(&mut self.chosen);
        let mut choose = |scheduler: &mut Checked<Box<dyn Scheduler>>| {
            chosen.clear();
            scheduler.choose(processors, now, &received, &mut chosen);
            scheduler.reconsider_at(now)
        };
        // After a panic, the second attempt is in the order of arrival.
        let again = self
            .contained(&mut choose)
            .or_else(|| self.contained(&mut choose));
        self.reconsider_at = again.flatten();
        self.chosen = chosen;
        if self.scheduler.faults() > 0 {
            report_failure();
        }
    }

    /// Calls the scheduler. `None`: it has panicked, and is no longer used.
    fn contained<R>(&mut self, call: impl FnOnce(&mut Checked<Box<dyn Scheduler>>) -> R) -> Option<R> {
        let outcome = catch_unwind(AssertUnwindSafe(|| call(&mut self.scheduler)));
        if outcome.is_err() {
            self.scheduler.disable();
        }
        outcome.ok()
    }
}

#[cold]
fn report_failure() {
    notice::SCHEDULER_FAILED.send();
}

/// Contains a panic of the scheduler's destructor.
impl Drop for InstalledScheduler {
    fn drop(&mut self) {
        let none = Checked::new(Box::new(MostImportantFirst::new()) as Box<dyn Scheduler>);
        let scheduler = mem::replace(&mut self.scheduler, none);
        let _ = catch_unwind(AssertUnwindSafe(|| drop(scheduler)));
    }
}
