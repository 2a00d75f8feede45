//! Most important first.

use super::{Claim, Discipline, ParameterKind, Ranked, SchedulingParameters};

/// MIF: the greatest importance runs first, from a ready queue. \[Gill 2004\] section 3.1.
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Scheduler, SchedulingParameters, Slot, Time};
///
/// let mut scheduler = MostImportantFirst::new();
/// let important = |importance| SchedulingParameters::Importance { importance };
/// scheduler.ready(Slot(0), &important(3), Duration::ZERO, Time(0));
/// scheduler.ready(Slot(1), &important(7), Duration::ZERO, Time(0));
///
/// let mut chosen = Vec::new();
/// scheduler.choose(1, Time(0), &|_| Duration::ZERO, &mut chosen);
/// assert_eq!(chosen, [Slot(1)]);
/// ```
pub type MostImportantFirst = Ranked<Mif>;

/// The order of [`MostImportantFirst`].
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{Claim, Discipline, Mif, SchedulingParameters};
///
/// let important = |importance| SchedulingParameters::Importance { importance };
/// let claim = |parameters| Claim::new(parameters, Duration::ZERO);
/// assert!(Mif.rank(&claim(important(7))) > Mif.rank(&claim(important(3))));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Mif;

impl Discipline for Mif {
    type Rank = i32;

    fn name(&self) -> &str {
        "MIF"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::Importance
    }

    fn rank(&self, claim: &Claim) -> i32 {
        claim.parameters.importance().unwrap_or_default()
    }

    fn fixed_eligibility(&self, parameters: &SchedulingParameters) -> Option<i64> {
        Some(parameters.importance().unwrap_or_default().into())
    }
}
