//! Thread priorities.

use super::{Claim, Discipline, Mif, ParameterKind, Ranked, SchedulingParameters};

/// TP: the greatest importance runs first, by priorities of operating-system threads. \[Gill 2004\] section
/// 3.1.
///
/// It decides as [`MostImportantFirst`](super::MostImportantFirst) does; only the dispatching mechanism, and
/// thus the name, differs.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{Scheduler, SchedulingParameters, Slot, ThreadPriority, Time};
///
/// let mut scheduler = ThreadPriority::new();
/// let important = |importance| SchedulingParameters::Importance { importance };
/// scheduler.ready(Slot(0), &important(3), Duration::ZERO, Time(0));
/// scheduler.ready(Slot(1), &important(7), Duration::ZERO, Time(0));
///
/// let mut chosen = Vec::new();
/// scheduler.choose(1, Time(0), &|_| Duration::ZERO, &mut chosen);
/// assert_eq!(chosen, [Slot(1)]);
/// ```
pub type ThreadPriority = Ranked<Tp>;

/// The order of [`ThreadPriority`].
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use punctual::rtscheduling::{Discipline, SchedulingParameters, Tp};
///
/// let important = |importance| SchedulingParameters::Importance { importance };
/// assert!(Tp.fixed_eligibility(&important(7)) > Tp.fixed_eligibility(&important(3)));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Tp;

impl Discipline for Tp {
    type Rank = i32;

    fn name(&self) -> &str {
        "TP"
    }

    fn kind(&self) -> ParameterKind {
        Mif.kind()
    }

    fn rank(&self, claim: &Claim) -> i32 {
        Mif.rank(claim)
    }

    fn fixed_eligibility(&self, parameters: &SchedulingParameters) -> Option<i64> {
        Mif.fixed_eligibility(parameters)
    }
}
