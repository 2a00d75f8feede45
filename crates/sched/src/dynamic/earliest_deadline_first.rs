//! Earliest deadline first.

use core::cmp::Reverse;

use super::{Claim, Discipline, ParameterKind, Ranked, Time};

/// EDF: the earliest deadline runs first; among equal deadlines the greatest importance. RTCORBA 1.2,
/// `EDF_Scheduling`.
///
/// On one processor it meets all deadlines whenever any scheduler can. Source: \[Liu 1973\].
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{EarliestDeadlineFirst, Scheduler, SchedulingParameters, Slot, Time};
///
/// let mut scheduler = EarliestDeadlineFirst::new();
/// let due = |deadline| SchedulingParameters::Deadline {
///     deadline,
///     period: Duration::ZERO,
///     execution_time: Duration::ZERO,
///     importance: 0,
/// };
/// scheduler.ready(Slot(0), &due(Time(20)), Duration::ZERO, Time(0));
/// scheduler.ready(Slot(1), &due(Time(10)), Duration::ZERO, Time(0));
///
/// let mut chosen = Vec::new();
/// scheduler.choose(1, Time(0), &|_| Duration::ZERO, &mut chosen);
/// assert_eq!(chosen, [Slot(1)]);
/// ```
pub type EarliestDeadlineFirst = Ranked<Edf>;

/// The order of [`EarliestDeadlineFirst`].
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{Claim, Discipline, Edf, SchedulingParameters, Time};
///
/// let due = |deadline| SchedulingParameters::Deadline {
///     deadline,
///     period: Duration::ZERO,
///     execution_time: Duration::ZERO,
///     importance: 0,
/// };
/// let claim = |parameters| Claim::new(parameters, Duration::ZERO);
/// assert!(Edf.rank(&claim(due(Time(10)))) > Edf.rank(&claim(due(Time(20)))));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Edf;

impl Discipline for Edf {
    type Rank = (Reverse<Time>, i32);

    fn name(&self) -> &str {
        "EDF"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::Deadline
    }

    fn rank(&self, claim: &Claim) -> Self::Rank {
        let parameters = &claim.parameters;
        (
            Reverse(parameters.deadline().unwrap_or(Time::NEVER)),
            parameters.importance().unwrap_or_default(),
        )
    }
}
