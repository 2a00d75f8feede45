//! The unit of work: a number of rounds such that work 30 allows 150 calls per second through the ORB, as on
//! the machine of [Pyarali 2002].

use std::time::Duration;

use super::{
    Importance, Pace, PoolSpec, Request, ServerSpec, Worker,
    deployment::{Deployment, Placement, Setup},
};
use crate::{
    error::Error,
    testbed::{Places, Testbed},
};

/// Calls per second at work 30.
pub(crate) const CAPACITY: f64 = 150.0;
pub(crate) const REFERENCE_WORK: u32 = 30;
/// The largest acceptable change of capacity during a benchmark, confirmed by a second measurement.
const LARGEST_DRIFT: f64 = 0.05;

/// The rounds per unit of work, measured once per run so that all figures have the same axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calibration {
    pub(crate) rounds: u32,
}

impl Calibration {
    /// Returns the calibration of this run; the first caller measures it.
    pub(crate) fn of(testbed: &mut Testbed) -> Result<Self, Error> {
        if let Some(rounds) = testbed.rounds_per_unit_of_work {
            return Ok(Self { rounds });
        }
        let seconds = testbed.length.pick(0.6, 1.2, 1.2);
        testbed
            .progress
            .stage("calibrating the load", Duration::from_secs_f64(seconds * 2.5));
        let mut deployment = start(&testbed.places, 20)?;
        let mut rounds = f64::from(deployment.rounds);
        // The time per call is linear in the rounds, plus the cost of the call; three steps leave less than 1
        // % error.
        for share in [0.2, 0.8, 1.0] {
            deployment.rounds = rounds as u32;
            rounds = (rounds * capacity(&mut deployment, seconds * share)? / CAPACITY).clamp(1.0, 1e6);
        }
        deployment.stop()?;
        let rounds = rounds.round() as u32;
        testbed.rounds_per_unit_of_work = Some(rounds);
        Ok(Self { rounds })
    }

    /// Measures the current capacity, in calls per second at work 30.
    pub(crate) fn capacity_now(self, testbed: &Testbed) -> Result<f64, Error> {
        let seconds = testbed.length.pick(0.4, 1.0, 1.0);
        testbed
            .progress
            .stage("checking the calibration", Duration::from_secs_f64(seconds + 0.3));
        let mut deployment = start(&testbed.places, self.rounds)?;
        let mut now = capacity(&mut deployment, seconds)?;
        if drift(now).is_some() {
            now = capacity(&mut deployment, seconds * 2.0)?;
        }
        deployment.stop()?;
        Ok(now)
    }
}

/// Returns why figures over work cannot be trusted if the capacity has changed.
pub(super) fn drift(capacity: f64) -> Option<String> {
    let changed = capacity / CAPACITY - 1.0;
    (changed.abs() > LARGEST_DRIFT).then(|| {
        format!(
            "work {REFERENCE_WORK} allowed {CAPACITY} calls per second when the load was calibrated and \
             {capacity:.1} at the end ({:+.1} %, limit {:.0} %): the processor changed its speed, or another \
             program runs on it",
            changed * 100.0,
            LARGEST_DRIFT * 100.0,
        )
    })
}

fn start(places: &Places, rounds: u32) -> Result<Deployment, Error> {
    let server = ServerSpec::new(vec![PoolSpec::Lanes(vec![Importance::High.priority()])], true);
    let setup = Setup::new(server, Placement::OneCpu);
    Deployment::start(places, &setup, rounds, Duration::from_secs(60))
}

/// Measures the calls per second of a single client at the highest priority.
fn capacity(deployment: &mut Deployment, seconds: f64) -> Result<f64, Error> {
    let worker = Worker {
        name: "capacity".to_owned(),
        priority: Some(Importance::High.priority()),
        pace: Pace::Continuous,
        request: Request::Work(REFERENCE_WORK),
        ..Worker::default()
    };
    let result = deployment.run(0, seconds, &[worker])?;
    let report = result.reports.first().ok_or("the client sent no report")?;
    report.calls_per_second().ok_or_else(|| {
        format!("fewer than two calls returned in {seconds} s during calibration: is the machine overloaded?")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_capacity_is_reported() {
        assert_eq!(drift(150.0), None);
        assert_eq!(drift(143.0), None);
        let reason = drift(138.0).unwrap();
        assert!(reason.contains("-8.0 %"), "{reason}");
        assert!(drift(160.0).is_some());
    }
}
