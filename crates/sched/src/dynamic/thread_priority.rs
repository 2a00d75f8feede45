use super::{Claim, Discipline, Mif, ParameterKind, Ranked, SchedulingParameters};

/// TP: the more important goes first, by priorities of the operating system's threads. \[S4\] section 3.1.
///
/// The decision is [`MostImportantFirst`](super::MostImportantFirst)'s; what differs is the mechanism that it is meant for, and so
/// its name.
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
