use std::cmp::Reverse;

use punctual::rtscheduling::{ParameterKind, Ranked, Scheduler};

/// The shortest job goes first. Where a scheduler is an order, its rank is all that there is to write.
pub fn shortest_first() -> impl Scheduler {
    Ranked::by("shortest first", ParameterKind::Laxity, |claim| {
        Reverse(claim.parameters.execution_time())
    })
}

/// Among equals the one that came first goes first, and here all are equal.
pub fn first_come_first_served() -> impl Scheduler {
    Ranked::by("first come, first served", ParameterKind::Laxity, |_| ())
}
