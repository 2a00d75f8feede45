//! Rate-monotonic scheduling.

use core::{cmp::Reverse, time::Duration};

use super::{Claim, Discipline, ParameterKind, Ranked, SchedulingParameters};

/// RMS: the shortest period runs first; among equal periods the greatest importance.
///
/// Source: \[Liu 1973\].
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{RateMonotonic, Scheduler, SchedulingParameters, Slot, Time};
///
/// let mut scheduler = RateMonotonic::new();
/// let every = |milliseconds| SchedulingParameters::Rate {
///     period: Duration::from_millis(milliseconds),
///     importance: 0,
/// };
/// scheduler.ready(Slot(0), &every(20), Duration::ZERO, Time(0));
/// scheduler.ready(Slot(1), &every(10), Duration::ZERO, Time(0));
///
/// let mut chosen = Vec::new();
/// scheduler.choose(1, Time(0), &|_| Duration::ZERO, &mut chosen);
/// assert_eq!(chosen, [Slot(1)]);
/// ```
pub type RateMonotonic = Ranked<Rms>;

/// The order of [`RateMonotonic`].
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{Claim, Discipline, Rms, SchedulingParameters};
///
/// let every = |milliseconds| SchedulingParameters::Rate {
///     period: Duration::from_millis(milliseconds),
///     importance: 0,
/// };
/// let claim = |parameters| Claim::new(parameters, Duration::ZERO);
/// assert!(Rms.rank(&claim(every(10))) > Rms.rank(&claim(every(20))));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Rms;

impl Discipline for Rms {
    type Rank = (Reverse<Duration>, i32);

    fn name(&self) -> &str {
        "RMS"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::Rate
    }

    fn rank(&self, claim: &Claim) -> Self::Rank {
        let parameters = &claim.parameters;
        (
            Reverse(parameters.period().unwrap_or(Duration::MAX)),
            parameters.importance().unwrap_or_default(),
        )
    }

    /// Periods above 18 minutes count as equal, and so do importances beyond 2 million.
    fn fixed_eligibility(&self, parameters: &SchedulingParameters) -> Option<i64> {
        let (Reverse(period), importance) = self.rank(&Claim::new(*parameters, Duration::ZERO));
        let longest = 1 << PERIOD_BITS;
        let period = i64::try_from(period.as_nanos()).unwrap_or(longest).min(longest);
        let most = (1 << (IMPORTANCE_BITS - 1)) - 1;
        let importance = match period == longest {
            true => 0,
            false => i64::from(importance).clamp(-most, most),
        };
        Some(importance - (period << IMPORTANCE_BITS))
    }
}

const PERIOD_BITS: u32 = 40;
const IMPORTANCE_BITS: u32 = 22;
