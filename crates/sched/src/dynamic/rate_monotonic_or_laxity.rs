//! Rate-monotonic scheduling of critical work, laxity for the rest.

use core::{cmp::Reverse, time::Duration};

use super::{
    Claim, Discipline, LaxityRank, ParameterKind, Ranked, SchedulingParameters, Time, laxity::criticality,
};

/// RMS+MLF: critical work runs first, by its rate, then all other work by its laxity. Work is critical from
/// criticality [`SchedulingParameters::CRITICAL`] on.
///
/// Critical work that passes a rate-monotonic analysis meets its deadlines, regardless of the other work; the
/// other work gets the remaining time in the better order. Source: \[Chung 1990\]; \[Gill 2004\] section 2.2.
/// Laxities: [`LaxityRank`].
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{RateMonotonicOrLaxity, Scheduler, SchedulingParameters, Slot, Time};
///
/// let mut scheduler = RateMonotonicOrLaxity::new();
/// let work = |criticality, deadline| SchedulingParameters::RateOrLaxity {
///     criticality,
///     period: Duration::from_millis(10),
///     deadline,
///     execution_time: Duration::ZERO,
///     importance: 0,
/// };
/// scheduler.ready(Slot(0), &work(0, Time(5)), Duration::ZERO, Time(0));
/// scheduler.ready(Slot(1), &work(SchedulingParameters::CRITICAL, Time(9)), Duration::ZERO, Time(0));
///
/// let mut chosen = Vec::new();
/// scheduler.choose(1, Time(0), &|_| Duration::ZERO, &mut chosen);
/// assert_eq!(chosen, [Slot(1)]);
/// ```
pub type RateMonotonicOrLaxity = Ranked<RmsMlf>;

/// The order of [`RateMonotonicOrLaxity`].
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{Discipline, RateMonotonicOrLaxity, RmsMlf};
///
/// let scheduler = RateMonotonicOrLaxity::of(RmsMlf::with_quantum(Duration::from_micros(200)));
/// assert_eq!(scheduler.discipline().quantum(), Some(Duration::from_micros(200)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RmsMlf {
    quantum: Duration,
}

/// Rank of a claim under [`RateMonotonicOrLaxity`].
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{Claim, Discipline, RateOrLaxityRank, RmsMlf, SchedulingParameters, Time};
///
/// let rank = |criticality| {
///     let parameters = SchedulingParameters::RateOrLaxity {
///         criticality,
///         period: Duration::from_millis(10),
///         deadline: Time(1),
///         execution_time: Duration::ZERO,
///         importance: 0,
///     };
///     RmsMlf::default().rank(&Claim::new(parameters, Duration::ZERO))
/// };
/// assert!(matches!(rank(0), RateOrLaxityRank::Laxity(_)));
/// assert!(rank(SchedulingParameters::CRITICAL) > rank(0));
/// ```
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum RateOrLaxityRank {
    /// Other work, below all critical work.
    Laxity(LaxityRank),
    /// Critical work, by period, then by importance.
    Critical(Reverse<Duration>, i32),
}

impl Default for RmsMlf {
    fn default() -> Self {
        Self::with_quantum(LaxityRank::QUANTUM)
    }
}

impl RmsMlf {
    /// Uses another quantum than [`LaxityRank::QUANTUM`]; see
    /// [`Mlf::with_quantum`](super::Mlf::with_quantum). Critical work does not wait for it.
    pub fn with_quantum(quantum: Duration) -> Self {
        Self {
            quantum: LaxityRank::checked_quantum(quantum),
        }
    }
}

impl Discipline for RmsMlf {
    type Rank = RateOrLaxityRank;

    fn name(&self) -> &str {
        "RMS+MLF"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::RateOrLaxity
    }

    fn rank(&self, claim: &Claim) -> RateOrLaxityRank {
        let parameters = &claim.parameters;
        if criticality(parameters) < SchedulingParameters::CRITICAL {
            return RateOrLaxityRank::Laxity(LaxityRank::of(claim));
        }
        let period = parameters.period().unwrap_or(Duration::MAX);
        RateOrLaxityRank::Critical(Reverse(period), parameters.importance().unwrap_or_default())
    }

    fn quantum(&self) -> Option<Duration> {
        Some(self.quantum)
    }

    fn overtaken_after(&self, running: &Claim, waiting: &RateOrLaxityRank, _: Time) -> Option<Duration> {
        match (self.rank(running), waiting) {
            (RateOrLaxityRank::Laxity(_), RateOrLaxityRank::Laxity(waiting)) => {
                LaxityRank::overtaken_after(running, waiting)
            }
            (running, waiting) => (running < *waiting).then_some(Duration::ZERO),
        }
    }
}
