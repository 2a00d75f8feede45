//! All attributes of a thread, of which each kind of parameters has some.

use std::time::Duration;

use punctual_sched::dynamic::*;
use punctual_types::Priority;

pub struct Attributes {
    pub priority: Priority,
    pub importance: i32,
    pub criticality: i32,
    pub period: Duration,
    pub deadline: Time,
    pub execution_time: Duration,
    pub utility: Utility,
}

impl Attributes {
    pub fn parameters(self, kind: ParameterKind) -> SchedulingParameters {
        let Self {
            priority,
            importance,
            criticality,
            period,
            deadline,
            execution_time,
            utility,
        } = self;
        match kind {
            ParameterKind::User(_) => unreachable!("no standard scheduler takes them"),
            ParameterKind::FixedPriority => SchedulingParameters::FixedPriority { priority },
            ParameterKind::Importance => SchedulingParameters::Importance { importance },
            ParameterKind::Rate => SchedulingParameters::Rate { period, importance },
            ParameterKind::Deadline => SchedulingParameters::Deadline {
                deadline,
                period,
                execution_time,
                importance,
            },
            ParameterKind::Laxity => SchedulingParameters::Laxity {
                deadline,
                execution_time,
                importance,
            },
            ParameterKind::Urgency => SchedulingParameters::Urgency {
                criticality,
                deadline,
                execution_time,
                importance,
            },
            ParameterKind::RateOrLaxity => SchedulingParameters::RateOrLaxity {
                criticality,
                period,
                deadline,
                execution_time,
                importance,
            },
            ParameterKind::Utility => SchedulingParameters::Utility {
                deadline,
                execution_time,
                utility,
            },
        }
    }
}
