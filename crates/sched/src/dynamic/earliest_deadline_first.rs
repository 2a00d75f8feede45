//! Earliest deadline first.

use core::cmp::Reverse;

use super::{Claim, Discipline, ParameterKind, Ranked, Time};

/// EDF: the earliest deadline runs first; among equal deadlines the greatest importance. RTCORBA 1.2,
/// `EDF_Scheduling`.
///
/// On one processor it meets all deadlines whenever any scheduler can. Source: \[Liu 1973\].
pub type EarliestDeadlineFirst = Ranked<Edf>;

/// The order of [`EarliestDeadlineFirst`].
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
