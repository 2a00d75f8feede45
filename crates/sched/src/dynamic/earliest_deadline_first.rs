use core::cmp::Reverse;

use super::{Claim, Discipline, ParameterKind, Ranked, Time};

/// EDF: the earlier deadline goes first; among equal ones the more important. RT-CORBA 1.2, `EDF_Scheduling`.
///
/// Source: Liu and Layland, Scheduling Algorithms for Multiprogramming in a Hard-Real-Time Environment, 1973: on one processor it
/// meets all deadlines whenever any scheduler could.
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
