//! Mechanisms that carry out scheduling decisions, and their native priorities.

use std::{fmt, ops::RangeInclusive};

use punctual_types::NativePriority;

/// How scheduling decisions are carried out.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::{Mechanism, RtScheduling};
///
/// let scheduling = RtScheduling::builder().mechanism(Mechanism::OsPriorities).build()?;
/// assert_eq!(scheduling.manager().mechanism(), Mechanism::OsPriorities);
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Mechanism {
    /// Each thread runs at a native priority that follows the order of eligibilities, and the kernel chooses:
    /// one system call for each change. Only for schedulers whose eligibility does not change with time (FP,
    /// TP, RMS, MIF). TP of \[Gill 2004\].
    ///
    /// [`NativePriorities::levels`] bounds the number of levels; where more are needed at a time, neighbours
    /// share one and run in order of arrival. Without the right to real-time scheduling, the kernel's normal
    /// scheduling applies; this is reported once.
    OsPriorities,
    /// As many threads run as there are processors; each of the others waits for its turn. For all
    /// schedulers. MIF and MUF of \[Gill 2004\]. [`Preemption`] selects the treatment of a running thread
    /// that others pass.
    ///
    /// Others run while a thread calls another host, waits for the reply to an asynchronous call, sleeps by
    /// [`Current::sleep_until`](crate::Current::sleep_until), or waits for a
    /// [`ResourceManager`](crate::ResourceManager). A thread that waits by other means keeps its processor;
    /// so does one whose executor sleeps.
    #[default]
    ReadyQueue,
    /// The kernel's SCHED_DEADLINE, with a reservation from the segment's parameters: `execution_time` in
    /// each `period`. Only for EDF. The kernel admits or refuses each segment: NO_RESOURCES with minor code
    /// DEADLINE_NOT_ADMITTED.
    ///
    /// The kernel refuses threads that are pinned to fewer than all CPUs of their root domain. Building or
    /// installing tries it and fails with
    /// [`BuildError::KernelDeadlineRefused`](crate::BuildError::KernelDeadlineRefused), which states the
    /// remedies. It never falls back silently, because a deadline that the kernel has not admitted is not
    /// guaranteed.
    KernelDeadline,
}

impl Mechanism {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::OsPriorities => "Mechanism::OsPriorities",
            Self::ReadyQueue => "Mechanism::ReadyQueue",
            Self::KernelDeadline => "Mechanism::KernelDeadline",
        }
    }
}

/// `OsPriorities`, `ReadyQueue` or `KernelDeadline`.
impl fmt::Display for Mechanism {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, formatter)
    }
}

/// Action of [`Mechanism::ReadyQueue`] on a running thread when a more eligible one gets ready.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::{Preemption, RtScheduling};
///
/// // Needs no rights: exactly one thread runs, and stops only at a scheduling point.
/// let scheduling = RtScheduling::builder().preemption(Preemption::Cooperative).build()?;
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Preemption {
    /// It is moved to the inactive native priority, so that it takes no processor from a chosen thread, and
    /// waits at its next scheduling point. Without the right to real-time scheduling this is `Cooperative`,
    /// which is reported once.
    #[default]
    Native,
    /// It keeps its processor until its next scheduling point, as in the dispatching by condition variables
    /// of \[Gill 2004\] and Kokyu.
    Cooperative,
}

/// Native priorities (SCHED_FIFO, 1 to 99) that the mechanisms give to OS threads that run distributable
/// threads.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::{NativePriorities, RtScheduling};
///
/// let mut native = NativePriorities::default();
/// native.levels = 10..=40;
/// let scheduling = RtScheduling::builder().native_priorities(native).build()?;
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NativePriorities {
    /// The thread `rt-dispatch`, which carries out decisions that are due with time; it exists for schedulers
    /// without a fixed eligibility. Default 90. Above `blocked`.
    pub executive: NativePriority,
    /// Threads that were chosen by [`Mechanism::ReadyQueue`] and then left the queue, by a call or to sleep:
    /// their wait ends at a scheduling point, which must not wait for a processor. Default 80. Above
    /// `active`, as lanes should be whose requests bring distributable threads.
    pub blocked: NativePriority,
    /// Threads chosen by [`Mechanism::ReadyQueue`]. Default 70. Above `inactive`.
    pub active: NativePriority,
    /// Running threads that others have passed: they get the processor time that is left. Default 2. Above 0.
    pub inactive: NativePriority,
    /// Range over which [`Mechanism::OsPriorities`] spreads eligibilities. Default 3 to 89.
    pub levels: RangeInclusive<i16>,
}

impl Default for NativePriorities {
    fn default() -> Self {
        Self {
            executive: NativePriority(90),
            blocked: NativePriority(80),
            active: NativePriority(70),
            inactive: NativePriority(2),
            levels: 3..=89,
        }
    }
}

impl NativePriorities {
    /// Checks the order and the range of the priorities.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let in_order = 1 <= self.inactive.0
            && self.inactive < self.active
            && self.active < self.blocked
            && self.blocked < self.executive
            && self.executive.0 <= 99;
        if !in_order {
            return Err("native priorities must satisfy 1 ≤ inactive < active < blocked < executive ≤ 99");
        }
        if *self.levels.start() < 1 || *self.levels.end() > 99 || self.levels.is_empty() {
            return Err("native priorities: `levels` must be a non-empty range within 1..=99");
        }
        Ok(())
    }
}
