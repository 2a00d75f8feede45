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
pub type RateMonotonicOrLaxity = Ranked<RmsMlf>;

/// The order of [`RateMonotonicOrLaxity`].
#[derive(Clone, Copy, Debug)]
pub struct RmsMlf {
    quantum: Duration,
}

/// Rank of a claim under [`RateMonotonicOrLaxity`].
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
