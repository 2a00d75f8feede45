//! What all tests here need.

use std::time::Duration;

use punctual_sched::{
    dynamic::{
        EarliestDeadlineFirst, FixedPriority, MaximumUrgencyFirst, MinimumLaxityFirst, MostImportantFirst, RateMonotonic,
        Scheduler, ThreadPriority, Time,
    },
    simulator::{Event, Model, Simulation, Statistics},
};

pub fn scheduler(name: &str) -> Box<dyn Scheduler> {
    match name {
        "FP" => Box::new(FixedPriority::new()),
        "TP" => Box::new(ThreadPriority::new()),
        "MIF" => Box::new(MostImportantFirst::new()),
        "RMS" => Box::new(RateMonotonic::new()),
        "EDF" => Box::new(EarliestDeadlineFirst::new()),
        "MLF" => Box::new(MinimumLaxityFirst::new()),
        "MUF" => Box::new(MaximumUrgencyFirst::new()),
        _ => panic!("no scheduler is named {name}"),
    }
}

/// With one scheduler everywhere.
pub fn simulate(model: &Model, name: &str, seed: u64, until: Duration) -> (Vec<Event>, Statistics) {
    let mut simulation = Simulation::new(model, seed, |_| scheduler(name)).unwrap();
    let mut events = Vec::new();
    simulation.run_until(Time(0) + until, &mut events);
    (events, simulation.finish())
}

pub const MS: Duration = Duration::from_millis(1);
