//! A traced pass that explains the slowest calls of the high-priority client.

use std::time::Duration;

use punctual_trace::SessionSettings;

use super::{super::mt_cubit::setup, Configuration, MOST_LOW, contrast::HZ};
use crate::{
    error::Error,
    experiment::Trial,
    explain::Pass,
    inversion::recording,
    load::{Deployment, Setup},
};

const SECONDS: f64 = 3.0;
/// More records than the calls leave on any of the 100 threads.
const RECORDS: usize = 16_384;
const OPERATION: &str = "cube_octet";

/// Explains the slowest calls of the high-priority client with 50 low-priority ones, if `--explain-over` was
/// given.
pub(super) fn measure(trial: &mut Trial<'_>, configuration: Configuration) -> Result<(), Error> {
    let places = &trial.testbed.places;
    let name = configuration.name();
    let recording = SessionSettings {
        records_per_thread: RECORDS,
        ..recording(places)
    };
    let Some(pass) = Pass::begin(&trial.testbed.settings, name, &recording)? else {
        return Ok(());
    };
    let expected = Duration::from_secs_f64(SECONDS + 1.0);
    trial.stage(format!("{name}: calls to explain"), expected);
    let setup = Setup {
        environment: &pass.environment(),
        ..setup(vec![configuration.pool()], MOST_LOW + 1)
    };
    let mut deployment = Deployment::start(places, &setup, 0, Duration::from_secs(60))?;
    let result = deployment.run(0, SECONDS, &configuration.clients(HZ, MOST_LOW, super::LOW_HZ))?;
    let high: Vec<i32> = result
        .reports
        .iter()
        .take(1)
        .map(|report| report.thread)
        .collect();
    pass.end(&[OPERATION], &high, &mut trial.outcome)?;
    deployment.stop()
}
