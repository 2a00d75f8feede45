//! The jobs of the workshop.

use std::time::Duration;

use punctual::rtscheduling::{ParameterKind, SchedulingParameters, Time};

use crate::LeastEnergy;

/// A job.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// Name.
    pub name: &'static str,
    /// Number of the customer.
    pub customer: i32,
    /// Duration in milliseconds.
    pub milliseconds: u32,
}

/// The jobs in the order of their arrival.
pub const JOBS: [Job; 6] = [
    job("a1", 1, 5),
    job("a2", 1, 1),
    job("a3", 1, 3),
    job("b1", 2, 4),
    job("b2", 2, 2),
    job("c1", 3, 6),
];

/// A job without a customer that keeps the processor until all others wait; declared shorter than all.
pub const HOLD: Job = job("hold", 0, 0);

const fn job(name: &'static str, customer: i32, milliseconds: u32) -> Job {
    Job {
        name,
        customer,
        milliseconds,
    }
}

impl Job {
    /// Returns its duration.
    pub fn takes(&self) -> Duration {
        Duration::from_millis(self.milliseconds.into())
    }

    /// Returns its scheduling parameters for a scheduler of this kind: the machine of customer 1 needs a
    /// millijoule for each millisecond, the others need less.
    pub fn parameters(&self, kind: ParameterKind) -> SchedulingParameters {
        if let ParameterKind::User(LeastEnergy::KIND) = kind {
            let millijoules = self.milliseconds * 6 / self.customer.max(1).unsigned_abs();
            return SchedulingParameters::User(LeastEnergy::parameters(millijoules));
        }
        SchedulingParameters::Laxity {
            deadline: Time::NEVER,
            execution_time: self.takes(),
            importance: self.customer,
        }
    }
}
