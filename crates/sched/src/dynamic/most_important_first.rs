//! Most important first.

use super::{Claim, Discipline, ParameterKind, Ranked, SchedulingParameters};

/// MIF: the greatest importance runs first, from a ready queue. \[Gill 2004\] section 3.1.
pub type MostImportantFirst = Ranked<Mif>;

/// The order of [`MostImportantFirst`].
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
