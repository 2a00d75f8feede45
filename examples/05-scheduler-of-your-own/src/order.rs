//! Schedulers that are orders of jobs.

use std::cmp::Reverse;

use punctual::rtscheduling::{ParameterKind, Ranked, Scheduler};

/// The shortest job runs first. A scheduler that is an order needs only a rank function.
pub fn shortest_first() -> impl Scheduler {
    Ranked::by("shortest first", ParameterKind::Laxity, |claim| {
        Reverse(claim.parameters.execution_time())
    })
}

/// Equal jobs run in the order of their arrival, and here all are equal.
pub fn first_come_first_served() -> impl Scheduler {
    Ranked::by("first come, first served", ParameterKind::Laxity, |_| ())
}
