use std::time::Duration;

use punctual::rtscheduling::{SchedulingParameters, Time};

/// Something to be done in the workshop.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// What it is called.
    pub name: &'static str,
    /// For whom it is.
    pub customer: i32,
    /// How long it takes.
    pub milliseconds: u32,
}

/// In the order in which they come.
pub const JOBS: [Job; 6] = [
    job("a1", 1, 5),
    job("a2", 1, 1),
    job("a3", 1, 3),
    job("b1", 2, 4),
    job("b2", 2, 2),
    job("c1", 3, 6),
];

/// Has the processor until all of them wait for it: shorter than all, and nobody's.
pub const HOLD: Job = job("hold", 0, 0);

const fn job(name: &'static str, customer: i32, milliseconds: u32) -> Job {
    Job {
        name,
        customer,
        milliseconds,
    }
}

impl Job {
    /// How long it takes.
    pub fn takes(&self) -> Duration {
        Duration::from_millis(self.milliseconds.into())
    }

    /// By what it is scheduled.
    pub fn parameters(&self) -> SchedulingParameters {
        SchedulingParameters::Laxity {
            deadline: Time::NEVER,
            execution_time: self.takes(),
            importance: self.customer,
        }
    }
}
