use std::{fmt, ops::RangeInclusive};

use punctual_types::NativePriority;

/// How those that the scheduler chooses run, and the others do not.
///
/// ```
/// use punctual_rtsched::{Mechanism, RtScheduling};
///
/// let scheduling = RtScheduling::builder().mechanism(Mechanism::OsPriorities).build()?;
/// assert_eq!(scheduling.manager().mechanism(), Mechanism::OsPriorities);
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Mechanism {
    /// Each thread runs at a native priority of its own, in the order of eligibility, and the kernel does the rest: one system call
    /// for each change. Only for schedulers whose eligibility does not change with time (FP, TP, RMS, MIF). \[S4\]: TP.
    ///
    /// There are as many levels as [`NativePriorities::levels`] holds; where more are needed at a time, neighbours share one and
    /// run in order of arrival. Without the right to real-time scheduling threads run as the kernel likes; that is said once.
    OsPriorities,
    /// As many threads run as there are processors; the others wait, each for itself, until it is their turn. For all schedulers.
    /// \[S4\]: MIF, MUF. What becomes of a running thread that others pass is [`Preemption`].
    ///
    /// A thread that calls another host, waits for the reply to an asynchronous call, sleeps by
    /// [`Current::sleep_until`](crate::Current::sleep_until) or waits for a resource of ours lets others run meanwhile. One that waits
    /// by other means keeps its processor; so does one whose executor sleeps.
    #[default]
    ReadyQueue,
    /// The kernel's SCHED_DEADLINE, with what the segment's parameters reserve: `execution_time` in each `period`. Only for EDF. The
    /// kernel admits or refuses each segment: NO_RESOURCES with minor code DEADLINE_NOT_ADMITTED.
    ///
    /// It takes no thread that is pinned to less than the CPUs of its root domain. Building or installing tries it and fails with
    /// [`BuildError::KernelDeadlineRefused`](crate::BuildError::KernelDeadlineRefused), which says what to do: there is no silent
    /// other way, because a deadline that the kernel has not admitted is a wish.
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

/// What [`Mechanism::ReadyQueue`] does to a thread that runs while a more eligible one gets ready.
///
/// ```
/// use punctual_rtsched::{Preemption, RtScheduling};
///
/// // Exactly one thread runs, and changes only where it comes to a scheduling point, with any rights.
/// let scheduling = RtScheduling::builder().preemption(Preemption::Cooperative).build()?;
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Preemption {
    /// It is moved to the inactive native priority, so that it gets no processor that a chosen one wants, and waits at its next
    /// scheduling point. Where the process has no right to real-time scheduling: as `Cooperative`, and that is said once.
    #[default]
    Native,
    /// It keeps its processor until it comes to a scheduling point. \[S4\]'s and Kokyu's dispatching by condition variables.
    Cooperative,
}

/// Native priorities (SCHED_FIFO, 1 to 99) that the mechanisms give to OS threads while they carry a distributable thread.
///
/// ```
/// use punctual_rtsched::{NativePriorities, RtScheduling};
///
/// let mut native = NativePriorities::default();
/// native.levels = 10..=40;
/// let scheduling = RtScheduling::builder().native_priorities(native).build()?;
/// # Ok::<(), punctual_rtsched::BuildError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NativePriorities {
    /// The thread `rt-dispatch`, which is there for schedulers without a fixed eligibility: decisions that are due although nothing
    /// happens. Default 90. Above `blocked`.
    pub executive: NativePriority,
    /// Threads that [`Mechanism::ReadyQueue`] has let run and that have left the queue since, by a call or to sleep: what they wait
    /// for ends at a scheduling point, which must not wait for a processor. Default 80. Above `active`, as lanes should be whose
    /// requests bring distributable threads.
    pub blocked: NativePriority,
    /// Threads that [`Mechanism::ReadyQueue`] lets run. Default 70. Above `inactive`.
    pub active: NativePriority,
    /// Threads that it has passed over while they ran. Default 2. Above 0: the rest of a processor is theirs.
    pub inactive: NativePriority,
    /// What [`Mechanism::OsPriorities`] spreads eligibilities over. Default 3 to 89.
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
    /// What is wrong with them.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let in_order = 1 <= self.inactive.0
            && self.inactive < self.active
            && self.active < self.blocked
            && self.blocked < self.executive
            && self.executive.0 <= 99;
        if !in_order {
            return Err("native priorities: 1 ≤ inactive < active < blocked < executive ≤ 99 is wanted");
        }
        if *self.levels.start() < 1 || *self.levels.end() > 99 || self.levels.is_empty() {
            return Err("native priorities: levels must be a range within 1..=99");
        }
        Ok(())
    }
}
