//! Fixed priorities.

use punctual_types::Priority;

use super::{Claim, Discipline, ParameterKind, Ranked, SchedulingParameters};

/// FP: the greatest CORBA priority runs first. RTCORBA 1.2, `FP_Scheduling`.
///
/// ```
/// # mod punctual { pub use {punctual_sched::dynamic as rtscheduling, punctual_types::*}; }
/// use core::time::Duration;
/// use punctual::{Priority, rtscheduling::{FixedPriority, Scheduler, SchedulingParameters, Slot, Time}};
///
/// let mut scheduler = FixedPriority::new();
/// let at = |priority| SchedulingParameters::FixedPriority { priority };
/// scheduler.ready(Slot(0), &at(Priority::MIN), Duration::ZERO, Time(0));
/// scheduler.ready(Slot(1), &at(Priority::MAX), Duration::ZERO, Time(0));
///
/// let mut chosen = Vec::new();
/// scheduler.choose(1, Time(0), &|_| Duration::ZERO, &mut chosen);
/// assert_eq!(chosen, [Slot(1)]);
/// ```
pub type FixedPriority = Ranked<Fp>;

/// The order of [`FixedPriority`].
///
/// ```
/// # mod punctual { pub use {punctual_sched::dynamic as rtscheduling, punctual_types::*}; }
/// use punctual::{Priority, rtscheduling::{Discipline, Fp, SchedulingParameters}};
///
/// let parameters = SchedulingParameters::FixedPriority { priority: Priority::MAX };
/// // Such a number lets the kernel's priorities carry out the decisions.
/// assert_eq!(Fp.fixed_eligibility(&parameters), Some(32_767));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Fp;

impl Discipline for Fp {
    type Rank = Priority;

    fn name(&self) -> &str {
        "FP"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::FixedPriority
    }

    fn rank(&self, claim: &Claim) -> Priority {
        priority(&claim.parameters)
    }

    fn fixed_eligibility(&self, parameters: &SchedulingParameters) -> Option<i64> {
        Some(priority(parameters).value().into())
    }
}

fn priority(parameters: &SchedulingParameters) -> Priority {
    match *parameters {
        SchedulingParameters::FixedPriority { priority } => priority,
        _ => Priority::MIN,
    }
}
