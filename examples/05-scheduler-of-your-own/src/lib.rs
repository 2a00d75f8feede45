//! Schedulers outside the ORB, used by the workshop and in the simulator.

mod job;
mod least_energy;
mod order;
mod simulated;
mod taking_turns;

pub use job::{HOLD, JOBS, Job};
pub use least_energy::LeastEnergy;
pub use order::{first_come_first_served, shortest_first};
pub use simulated::simulated;
pub use taking_turns::TakingTurns;

use punctual::rtscheduling::{Ranked, Scheduler};

/// Names of the schedulers.
pub const SCHEDULERS: [&str; 4] = [
    "first come, first served",
    "shortest first",
    "taking turns",
    "least energy",
];

/// Creates the scheduler of this name.
pub fn scheduler(name: &str) -> Option<Box<dyn Scheduler>> {
    Some(match name {
        "first come, first served" => Box::new(first_come_first_served()),
        "shortest first" => Box::new(shortest_first()),
        "taking turns" => Box::new(TakingTurns::default()),
        "least energy" => Box::new(Ranked::of(LeastEnergy)),
        _ => return None,
    })
}
