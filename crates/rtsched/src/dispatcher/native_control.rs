//! Native priorities of OS threads, as the mechanism in force uses them.

use std::{io, time::Duration};

use punctual_os::{
    TaskId, ThreadSpec,
    deadline_class::{self, Reservation},
};
use punctual_sched::dynamic::{ParameterKind, Scheduler, SchedulingParameters, Slot, TranslationDefaults};
use punctual_types::NativePriority;

use super::{
    mechanism::{Mechanism, NativePriorities, Preemption},
    os_thread::{OsThread, PendingDemotion},
    priority_levels::PriorityLevels,
    settings::Settings,
};
use crate::{error::BuildError, notice};

/// Native control of OS threads.
pub(super) struct NativeControl {
    pub(super) mechanism: Mechanism,
    pub(super) priorities: NativePriorities,
    pub(super) levels: PriorityLevels,
    /// Buffer for new priorities of many threads.
    pub(super) moves: Vec<(NativePriority, Slot)>,
    /// Demotion that the caller has to apply to itself after the lock has been released.
    pub(super) pending: Option<PendingDemotion>,
    preemption: Preemption,
    /// The kernel has refused a native priority.
    denied: bool,
}

impl NativeControl {
    pub(super) fn new(mechanism: Mechanism, settings: Settings) -> Self {
        Self {
            mechanism,
            levels: PriorityLevels::new(settings.native.levels.clone()),
            moves: Vec::with_capacity(settings.max_threads),
            priorities: settings.native,
            pending: None,
            preemption: settings.preemption,
            denied: false,
        }
    }

    /// Changes the mechanism; a permission granted since then counts.
    pub(super) fn install(&mut self, mechanism: Mechanism) {
        self.mechanism = mechanism;
        self.levels.clear();
        self.denied = false;
    }

    /// Returns whether running threads are preempted by native priorities.
    pub(super) fn preempts(&self) -> bool {
        self.mechanism == Mechanism::ReadyQueue && self.preemption == Preemption::Native && !self.denied
    }

    /// Gives the OS thread a priority within its limit; returns whether it has it.
    pub(super) fn set_priority(&mut self, thread: &mut OsThread, priority: NativePriority) -> bool {
        if self.denied {
            return false;
        }
        let Some(priority) = thread.limit.apply(priority) else {
            thread.restore();
            return false;
        };
        let changed = thread.set_priority(priority).is_ok();
        if !changed {
            self.denied = true;
            notice::COOPERATIVE.send();
        }
        changed
    }

    /// Sets a priority like [`set_priority`](Self::set_priority), also of the caller's own OS thread.
    ///
    /// A caller that lowers itself does so after it has released the lock. Otherwise threads that go first
    /// would wait for that; and an owner that lowers itself loses the priority inherited from present waiters
    /// (observed with Linux 6.18), so that they would wait for all threads in between.
    pub(super) fn move_to(&mut self, thread: &mut OsThread, priority: NativePriority, is_caller: bool) {
        if is_caller
            && !self.denied
            && let Some(limited) = thread.limit.apply(priority)
            && let Some(demotion) = thread.demote_later(limited)
        {
            self.pending = Some(demotion);
        } else {
            self.set_priority(thread, priority);
        }
    }
}

/// Checks that the mechanism can carry out the decisions of the scheduler.
pub(super) fn check(scheduler: &dyn Scheduler, mechanism: Mechanism) -> Result<(), BuildError> {
    let unsuitable = |reason| BuildError::MechanismUnsuitable {
        mechanism: mechanism.name(),
        scheduler: scheduler.name().to_owned(),
        reason,
    };
    match mechanism {
        Mechanism::ReadyQueue => Ok(()),
        Mechanism::OsPriorities if depends_on_time(scheduler) => Err(unsuitable(
            "its eligibility changes with time, and native priorities do not; use Mechanism::ReadyQueue",
        )),
        Mechanism::OsPriorities => Ok(()),
        Mechanism::KernelDeadline if scheduler.kind() != ParameterKind::Deadline => Err(unsuitable(
            "the kernel schedules by deadlines only; use EarliestDeadlineFirst, or Mechanism::ReadyQueue",
        )),
        Mechanism::KernelDeadline => try_deadline_class(),
    }
}

/// Returns whether decisions of the scheduler change with time alone.
pub(super) fn depends_on_time(scheduler: &dyn Scheduler) -> bool {
    let any = SchedulingParameters::Importance { importance: 0 }
        .translated(scheduler.kind(), &TranslationDefaults::default());
    scheduler.fixed_eligibility(&any).is_none()
}

/// Tries SCHED_DEADLINE on a new thread, which has the affinity of the caller.
fn try_deadline_class() -> Result<(), BuildError> {
    const PERIOD: Duration = Duration::from_millis(100);
    let small = Reservation {
        runtime: Duration::from_micros(100),
        deadline: PERIOD,
        period: PERIOD,
    };
    let attempt = move || deadline_class::set_of(TaskId::current_thread(), small);
    let thread = ThreadSpec::new("rt-probe").spawn(attempt)?;
    match thread.join() {
        Ok(outcome) => outcome.map_err(BuildError::KernelDeadlineRefused),
        Err(_) => Err(BuildError::System(io::ErrorKind::Other.into())),
    }
}
