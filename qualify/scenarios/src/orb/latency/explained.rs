//! A traced pass that explains the slowest calls of the high-priority client.

use std::time::Duration;

use punctual_harness::Outcome;
use punctual_trace::SessionSettings;

use super::{
    super::mt_cubit::{Deployment, Task},
    Configuration, MOST_LOW,
    contrast::HZ,
};
use crate::{error::Error, explain::Pass, inversion::recording, testbed::Testbed};

const SECONDS: f64 = 3.0;
/// More records than the calls leave on any of the 100 threads.
const RECORDS: usize = 16_384;
const OPERATION: &str = "cube_octet";

/// Explains the slowest calls of the high-priority client with 50 low-priority ones, if `--explain-over` was
/// given.
pub(super) fn measure(
    testbed: &Testbed,
    configuration: Configuration,
    outcome: &mut Outcome,
) -> Result<(), Error> {
    let places = &testbed.places;
    let name = configuration.name();
    let recording = SessionSettings {
        records_per_thread: RECORDS,
        ..recording(places)
    };
    let Some(pass) = Pass::begin(&testbed.settings, name, &recording)? else {
        return Ok(());
    };
    let text = format!("{name}: calls to explain");
    testbed
        .progress
        .stage(text, Duration::from_secs_f64(SECONDS + 1.0));
    let limit = Duration::from_secs(60);
    let mut deployment = Deployment::start(places, &[configuration.as_pool()], &pass.environment(), limit)?;
    let run = deployment.run(&Task {
        pool: 0,
        clients: configuration.clients(HZ, MOST_LOW, super::LOW_HZ),
        seconds: SECONDS,
        slices: None,
        awake: false,
    })?;
    let high: Vec<i32> = run.clients.iter().take(1).map(|client| client.thread).collect();
    pass.end(&[OPERATION], &high, outcome)?;
    deployment.stop()
}
