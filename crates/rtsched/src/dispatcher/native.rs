//! What the dispatcher does to OS threads.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicI16, Ordering},
    },
    time::Duration,
};

use punctual_os::{
    Scheduling, TaskId, ThreadSpec,
    deadline_class::{self, Reservation},
    scheduling,
};
use punctual_sched::dynamic::{ParameterKind, Scheduler, SchedulingParameters, Time, TranslationDefaults};
use punctual_types::{Completion, Minor, NativePriority, SystemException, SystemExceptionKind};

use super::{
    Mechanism,
    entry::{Head, Native},
};
use crate::error::BuildError;

/// Whether the mechanism can do what such a scheduler decides.
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

/// Whether its decisions change although nothing happens.
pub(super) fn depends_on_time(scheduler: &dyn Scheduler) -> bool {
    let any = SchedulingParameters::Importance { importance: 0 }
        .translated(scheduler.kind(), &TranslationDefaults::default());
    scheduler.fixed_eligibility(&any).is_none()
}

/// On a thread of its own, which has the affinity of this one.
fn try_deadline_class() -> Result<(), BuildError> {
    const PERIOD: Duration = Duration::from_millis(100);
    let little = Reservation {
        runtime: Duration::from_micros(100),
        deadline: PERIOD,
        period: PERIOD,
    };
    let attempt = move || deadline_class::set_of(TaskId::current_thread(), little);
    let thread = ThreadSpec::new("rt-probe").spawn(attempt)?;
    match thread.join() {
        Ok(outcome) => outcome.map_err(BuildError::KernelDeadlineRefused),
        Err(_) => Err(BuildError::System(io::ErrorKind::Other.into())),
    }
}

/// Makes the OS thread like that. One system call, or none; two more the first time.
///
/// # Errors
/// `PermissionDenied`: the process has no right to it. An OS thread that has ended is as good as changed.
pub(super) fn change(head: &mut Head, native: Native) -> Result<(), Denied> {
    if head.native == native {
        return Ok(());
    }
    remember(head);
    let wanted = match native {
        Native::Own => Lowering::OWN,
        Native::At(priority) => priority.0,
        Native::Deadline => Lowering::NONE,
    };
    head.wanted.store(wanted, Ordering::Relaxed);
    let changed = match native {
        Native::Own => scheduling::set_of(head.tid, head.before),
        Native::At(priority) => scheduling::set_of(head.tid, Scheduling::fifo(priority)),
        Native::Deadline => Ok(()),
    };
    if changed.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied) {
        return Err(Denied);
    }
    head.native = native;
    Ok(())
}

/// Whether that priority is lower than the OS thread's real-time priority of now.
pub(super) fn is_lower(head: &mut Head, native: NativePriority) -> bool {
    match head.native {
        Native::At(now) => native < now,
        Native::Own => {
            remember(head);
            head.before.is_realtime() && native < head.before.priority
        }
        Native::Deadline => false,
    }
}

/// What the calling OS thread is to be natively, noted under the dispatcher's lock.
pub(super) fn wish(head: &mut Head, native: NativePriority) -> Lowering {
    head.wanted.store(native.0, Ordering::Relaxed);
    Lowering {
        tid: head.tid,
        wanted: Arc::clone(&head.wanted),
        before: head.before,
    }
}

/// The calling OS thread lowers itself.
pub(super) struct Lowering {
    tid: TaskId,
    wanted: Arc<AtomicI16>,
    /// What it has of its owner's.
    before: Scheduling,
}

impl Lowering {
    /// Instead of a priority: what the OS thread has of its owner's.
    const OWN: i16 = 0;
    /// Instead of a priority: a reservation, which nobody is to touch.
    const NONE: i16 = -1;

    /// Others may have changed it since, under the lock: the last wish counts, however the system calls were ordered. Only a
    /// reservation that came in between is lost until the next segment.
    pub(super) fn carry_out(self) {
        let mut wanted = self.wanted.load(Ordering::Relaxed);
        loop {
            let scheduling = match wanted {
                Self::NONE => return,
                Self::OWN => self.before,
                priority => Scheduling::fifo(NativePriority(priority)),
            };
            let _ = scheduling::set_of(self.tid, scheduling);
            let now = self.wanted.load(Ordering::Relaxed);
            if now == wanted {
                return;
            }
            wanted = now;
        }
    }
}

/// The process has no right to a native priority.
pub(super) struct Denied;

/// Keeps what the OS thread has of its owner's, before the first change.
fn remember(head: &mut Head) {
    if head.native == Native::Own {
        head.before = scheduling::of(head.tid).unwrap_or(Scheduling::OTHER);
    }
}

/// Gives the OS thread back what it had.
pub(super) fn restore(head: &mut Head) {
    // Giving up needs no right.
    let _ = change(head, Native::Own);
}

/// Asks the kernel for what the parameters say. Work that is late already gets the shortest deadline that the kernel takes: it is no
/// reason to refuse what is still to be done.
pub(super) fn reserve(
    head: &mut Head,
    parameters: &SchedulingParameters,
    now: Time,
) -> Result<(), SystemException> {
    let &SchedulingParameters::Deadline {
        deadline,
        period,
        execution_time,
        ..
    } = parameters
    else {
        return Err(not_admitted());
    };
    let left = deadline.since(now).max(execution_time);
    let period = if period.is_zero() { left } else { period };
    let reservation = Reservation {
        runtime: execution_time,
        deadline: left.min(period),
        period,
    };
    remember(head);
    deadline_class::set_of(head.tid, reservation).map_err(|_| not_admitted())?;
    head.wanted.store(Lowering::NONE, Ordering::Relaxed);
    head.native = Native::Deadline;
    Ok(())
}

/// Whether the kernel still schedules the OS thread by what it has admitted.
pub(super) fn has_reservation(head: &Head) -> bool {
    deadline_class::has(head.tid).unwrap_or(false)
}

fn not_admitted() -> SystemException {
    SystemException::new(
        SystemExceptionKind::NoResources,
        Minor::DEADLINE_NOT_ADMITTED,
        Completion::No,
    )
}

#[cfg(test)]
mod tests {
    use super::{super::entry::Carrier, *};

    /// Between the lock and the system call somebody else has given the OS thread back.
    #[test]
    fn who_lowers_itself_does_not_undo_what_came_in_between() {
        const OWN: Scheduling = Scheduling::fifo(NativePriority(30));
        let thread = ThreadSpec::new("lowers").scheduling(OWN).spawn(|| {
            if scheduling::current() != OWN {
                return false;
            }
            let parameters = SchedulingParameters::Importance { importance: 1 };
            let mut head = Head::new(1, &Carrier::of_this_thread(), parameters, None);
            assert!(change(&mut head, Native::At(NativePriority(20))).is_ok());
            let lowering = wish(&mut head, NativePriority(10));
            restore(&mut head);
            lowering.carry_out();
            assert_eq!(scheduling::current(), OWN);
            // And without anybody in between.
            assert!(change(&mut head, Native::At(NativePriority(20))).is_ok());
            wish(&mut head, NativePriority(10)).carry_out();
            assert_eq!(scheduling::current(), Scheduling::fifo(NativePriority(10)));
            true
        });
        if !thread.unwrap().join().unwrap() {
            let _ = io::Write::write_all(
                &mut io::stderr(),
                b"skipped who_lowers_itself...: no real-time rights\n",
            );
        }
    }
}
