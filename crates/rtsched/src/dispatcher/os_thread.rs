//! An OS thread that carries distributable threads, and its native scheduling.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicI16, Ordering},
    },
};

use punctual_os::{
    Gate, Scheduling, TaskId,
    deadline_class::{self, Reservation},
    scheduling,
};
use punctual_sched::dynamic::{SchedulingParameters, Time};
use punctual_types::{Completion, Minor, NativePriority, SystemException, SystemExceptionKind};

use super::lane_limit::LaneLimit;

/// An OS thread, as the dispatcher controls it.
#[derive(Clone)]
pub(crate) struct OsThread {
    pub(crate) tid: TaskId,
    /// Gate at which it waits for its turn, for a resource, or for a time.
    pub(crate) gate: Arc<Gate>,
    native: NativeScheduling,
    /// The last SCHED_FIFO priority decided for it, or one of the marks of [`PendingDemotion`].
    wanted: Arc<AtomicI16>,
    /// Limit of its native priority.
    pub(super) limit: LaneLimit,
}

/// Native scheduling that the dispatcher has given to an OS thread; `own`: the one that its owner configured.
#[derive(Clone, Copy)]
enum NativeScheduling {
    Own,
    Fifo {
        priority: NativePriority,
        own: Scheduling,
    },
    Deadline {
        own: Scheduling,
    },
}

/// The process may not use a native priority.
pub(super) struct Denied;

impl OsThread {
    /// Creates the entry of the calling OS thread.
    pub(crate) fn current() -> Self {
        Self {
            tid: TaskId::current_thread(),
            gate: Arc::new(Gate::new()),
            native: NativeScheduling::Own,
            wanted: Arc::default(),
            limit: LaneLimit::NONE,
        }
    }

    /// The same with a limit.
    pub(crate) fn within(self, limit: LaneLimit) -> Self {
        Self { limit, ..self }
    }

    /// Returns whether the dispatcher has changed its native scheduling.
    pub(super) fn is_changed(&self) -> bool {
        !matches!(self.native, NativeScheduling::Own)
    }

    /// SCHED_FIFO priority that was decided for it, or the one that its owner configured; 0: none.
    pub(super) fn priority(&self) -> NativePriority {
        match self.native {
            NativeScheduling::Fifo { priority, .. } => priority,
            _ => match self.own() {
                own if own.is_realtime() => own.priority,
                _ => NativePriority(0),
            },
        }
    }

    /// Gives the OS thread a SCHED_FIFO priority. One system call, or none; one more the first time.
    ///
    /// # Errors
    /// The process may not. An OS thread that has ended counts as changed.
    pub(super) fn set_priority(&mut self, priority: NativePriority) -> Result<(), Denied> {
        if matches!(self.native, NativeScheduling::Fifo { priority: now, .. } if now == priority) {
            return Ok(());
        }
        let own = self.own();
        self.wanted.store(priority.0, Ordering::Relaxed);
        if is_denied(scheduling::set_of(self.tid, Scheduling::fifo(priority))) {
            return Err(Denied);
        }
        self.native = NativeScheduling::Fifo { priority, own };
        Ok(())
    }

    /// Restores the scheduling that the owner of the OS thread configured. Needs no right.
    pub(super) fn restore(&mut self) {
        let (NativeScheduling::Fifo { own, .. } | NativeScheduling::Deadline { own }) = self.native else {
            return;
        };
        self.wanted.store(PendingDemotion::OWN, Ordering::Relaxed);
        if !is_denied(scheduling::set_of(self.tid, own)) {
            self.native = NativeScheduling::Own;
        }
    }

    /// Decides on a lower priority for the calling OS thread, which applies it after the dispatcher's lock
    /// has been released. `None`: the priority is not lower than its present one.
    pub(super) fn demote_later(&mut self, priority: NativePriority) -> Option<PendingDemotion> {
        let own = self.own();
        let is_lower = match self.native {
            NativeScheduling::Own => own.is_realtime() && priority < own.priority,
            NativeScheduling::Fifo { priority: now, .. } => priority < now,
            NativeScheduling::Deadline { .. } => false,
        };
        if !is_lower {
            return None;
        }
        self.native = NativeScheduling::Fifo { priority, own };
        self.wanted.store(priority.0, Ordering::Relaxed);
        Some(PendingDemotion {
            tid: self.tid,
            wanted: Arc::clone(&self.wanted),
            own,
        })
    }

    /// Reserves processor time in the kernel according to the parameters. Late work gets the shortest
    /// deadline that the kernel accepts, because being late is no reason to refuse what remains.
    pub(super) fn reserve(
        &mut self,
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
        let own = self.own();
        deadline_class::set_of(self.tid, reservation).map_err(|_| not_admitted())?;
        self.wanted.store(PendingDemotion::RESERVATION, Ordering::Relaxed);
        self.native = NativeScheduling::Deadline { own };
        Ok(())
    }

    /// Returns whether the kernel still schedules the OS thread by its last reservation.
    pub(super) fn has_reservation(&self) -> bool {
        matches!(self.native, NativeScheduling::Deadline { .. })
            && deadline_class::has(self.tid).unwrap_or(false)
    }

    /// Scheduling that the owner of the OS thread configured; read before the first change.
    fn own(&self) -> Scheduling {
        match self.native {
            NativeScheduling::Own => scheduling::of(self.tid).unwrap_or(Scheduling::OTHER),
            NativeScheduling::Fifo { own, .. } | NativeScheduling::Deadline { own } => own,
        }
    }
}

/// A lower priority that the calling OS thread has to give itself.
pub(super) struct PendingDemotion {
    tid: TaskId,
    wanted: Arc<AtomicI16>,
    own: Scheduling,
}

impl PendingDemotion {
    /// Stands for the scheduling that the owner configured, instead of a priority.
    const OWN: i16 = 0;
    /// Stands for a reservation, which must stay, instead of a priority.
    const RESERVATION: i16 = -1;

    /// Applies the priority that was decided last: others may have decided on another one since then, under
    /// the lock, and system calls are not ordered. A reservation made in between is lost until the next
    /// segment.
    pub(super) fn apply(self) {
        let mut wanted = self.wanted.load(Ordering::Relaxed);
        loop {
            let scheduling = match wanted {
                Self::RESERVATION => return,
                Self::OWN => self.own,
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

fn is_denied(result: io::Result<()>) -> bool {
    result.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
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
    use punctual_fixtures::realtime_or_skip;
    use punctual_os::ThreadSpec;

    use super::*;

    #[test]
    fn a_pending_demotion_does_not_undo_a_later_decision() {
        const OWN: Scheduling = Scheduling::fifo(NativePriority(30));
        if !realtime_or_skip() {
            return;
        }
        let thread = ThreadSpec::new("demoted").scheduling(OWN).spawn(|| {
            let mut thread = OsThread::current();
            assert!(thread.set_priority(NativePriority(20)).is_ok());
            let demotion = thread.demote_later(NativePriority(10)).unwrap();
            thread.restore();
            demotion.apply();
            assert_eq!(scheduling::current(), OWN);
            // Without a decision in between.
            assert!(thread.set_priority(NativePriority(20)).is_ok());
            thread.demote_later(NativePriority(10)).unwrap().apply();
            assert_eq!(scheduling::current(), Scheduling::fifo(NativePriority(10)));
        });
        thread.unwrap().join().unwrap();
    }
}
