//! Thread priorities.

use super::{Claim, Discipline, Mif, ParameterKind, Ranked, SchedulingParameters};

/// TP: the greatest importance runs first, by priorities of operating-system threads. \[Gill 2004\] section
/// 3.1.
///
/// It decides as [`MostImportantFirst`](super::MostImportantFirst) does; only the dispatching mechanism, and
/// thus the name, differs.
pub type ThreadPriority = Ranked<Tp>;

/// The order of [`ThreadPriority`].
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
