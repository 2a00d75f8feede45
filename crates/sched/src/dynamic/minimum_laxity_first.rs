//! Minimum laxity first.

use core::time::Duration;

use super::{Claim, Discipline, LaxityRank, ParameterKind, Ranked, Time};

/// MLF, also called LLF: the least laxity runs first; among equals the greatest importance. RTCORBA 1.2,
/// `LLF_Scheduling`.
///
/// Two threads of equal laxity alternate after each [quantum](Mlf::with_quantum), not at each decision.
/// [`LaxityRank`] describes negative laxities. On one processor it meets all deadlines whenever any scheduler
/// can, except for the quantum.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MinimumLaxityFirst, Scheduler, SchedulingParameters, Slot, Time};
///
/// let mut scheduler = MinimumLaxityFirst::new();
/// let due = |deadline, execution_time| SchedulingParameters::Laxity {
///     deadline,
///     execution_time,
///     importance: 0,
/// };
/// scheduler.ready(Slot(0), &due(Time(10_000), Duration::from_micros(1)), Duration::ZERO, Time(0));
/// scheduler.ready(Slot(1), &due(Time(12_000), Duration::from_micros(9)), Duration::ZERO, Time(0));
///
/// let mut chosen = Vec::new();
/// scheduler.choose(1, Time(0), &|_| Duration::ZERO, &mut chosen);
/// assert_eq!(chosen, [Slot(1)]);
/// ```
pub type MinimumLaxityFirst = Ranked<Mlf>;

/// The order of [`MinimumLaxityFirst`].
#[derive(Clone, Copy, Debug)]
pub struct Mlf {
    quantum: Duration,
}

impl Default for Mlf {
    fn default() -> Self {
        Self::with_quantum(LaxityRank::QUANTUM)
    }
}

impl Mlf {
    /// Uses another quantum than [`LaxityRank::QUANTUM`], at least [`LaxityRank::LEAST_QUANTUM`]. A longer
    /// quantum causes fewer switches; deadlines can be missed by it.
    ///
    /// ```
    /// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
    /// use core::time::Duration;
    /// use punctual::rtscheduling::{MinimumLaxityFirst, Mlf};
    ///
    /// let scheduler = MinimumLaxityFirst::of(Mlf::with_quantum(Duration::from_micros(200)));
    /// ```
    pub fn with_quantum(quantum: Duration) -> Self {
        Self {
            quantum: LaxityRank::checked_quantum(quantum),
        }
    }
}

impl Discipline for Mlf {
    type Rank = LaxityRank;

    fn name(&self) -> &str {
        "MLF"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::Laxity
    }

    fn rank(&self, claim: &Claim) -> LaxityRank {
        LaxityRank::of(claim)
    }

    fn quantum(&self) -> Option<Duration> {
        Some(self.quantum)
    }

    fn overtaken_after(&self, running: &Claim, waiting: &LaxityRank, _: Time) -> Option<Duration> {
        LaxityRank::overtaken_after(running, waiting)
    }
}
