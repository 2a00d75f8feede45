//! Fixed priorities.

use punctual_types::Priority;

use super::{Claim, Discipline, ParameterKind, Ranked, SchedulingParameters};

/// FP: the greatest CORBA priority runs first. RTCORBA 1.2, `FP_Scheduling`.
pub type FixedPriority = Ranked<Fp>;

/// The order of [`FixedPriority`].
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
