//! The unit of work: so many rounds that work 30 allows 150 calls per second through the ORB, as on the machine of [Pyarali 2002].

use std::time::Duration;

use super::{
    Importance, Pace, PoolSpec, Request, ServerSpec, Worker,
    stage::{Placement, Setup, Stage},
};
use crate::{
    error::Error,
    testbed::{Places, Testbed},
};

/// Calls per second that work 30 allows.
pub(crate) const CAPACITY: f64 = 150.0;
pub(crate) const REFERENCE_WORK: u32 = 30;
/// By how much the capacity may have changed, found out twice, before figures over work mean something else.
const LARGEST_DRIFT: f64 = 0.05;

/// How many rounds make one unit of work; made once for a run, so that all its figures have the same axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calibration {
    pub(crate) rounds: u32,
}

impl Calibration {
    /// The run's; made now if this is the first that asks.
    pub(crate) fn of(testbed: &mut Testbed) -> Result<Self, Error> {
        if let Some(rounds) = testbed.rounds_per_unit_of_work {
            return Ok(Self { rounds });
        }
        let seconds = testbed.length.pick(0.6, 1.2, 1.2);
        testbed
            .progress
            .stage("calibrating the load", Duration::from_secs_f64(seconds * 2.5));
        let mut stage = stage(&testbed.places, 20)?;
        let mut rounds = f64::from(stage.rounds);
        // The time per call is linear in the rounds but for the call's own cost; three steps leave under 1 %.
        for share in [0.2, 0.8, 1.0] {
            stage.rounds = rounds as u32;
            rounds = (rounds * capacity(&mut stage, seconds * share)? / CAPACITY).clamp(1.0, 1e6);
        }
        stage.strike()?;
        let rounds = rounds.round() as u32;
        testbed.rounds_per_unit_of_work = Some(rounds);
        Ok(Self { rounds })
    }

    /// What it allows now, in calls per second at work 30.
    pub(crate) fn capacity_now(self, testbed: &Testbed) -> Result<f64, Error> {
        let seconds = testbed.length.pick(0.4, 1.0, 1.0);
        testbed
            .progress
            .stage("checking the calibration", Duration::from_secs_f64(seconds + 0.3));
        let mut stage = stage(&testbed.places, self.rounds)?;
        let mut now = capacity(&mut stage, seconds)?;
        if drift(now).is_some() {
            now = capacity(&mut stage, seconds * 2.0)?;
        }
        stage.strike()?;
        Ok(now)
    }
}

/// Why figures over work cannot be trusted, if the capacity is another one now.
pub(super) fn drift(capacity: f64) -> Option<String> {
    let changed = capacity / CAPACITY - 1.0;
    (changed.abs() > LARGEST_DRIFT).then(|| {
        format!(
            "work {REFERENCE_WORK} allowed {CAPACITY} calls per second when the load was calibrated and {capacity:.1} at the end \
             ({:+.1} %, at most {:.0} are allowed): the processor changed its speed, or something else runs on it",
            changed * 100.0,
            LARGEST_DRIFT * 100.0,
        )
    })
}

fn stage(places: &Places, rounds: u32) -> Result<Stage, Error> {
    let server = ServerSpec {
        pools: vec![PoolSpec::Lanes(vec![Importance::High.priority()])],
        realtime: true,
    };
    let setup = Setup::new(server, Placement::OneCpu);
    Stage::set(places, &setup, rounds, Duration::from_secs(60))
}

/// How many calls per second a single client at the highest priority gets through.
fn capacity(stage: &mut Stage, seconds: f64) -> Result<f64, Error> {
    let worker = Worker {
        name: "capacity".to_owned(),
        priority: Some(Importance::High.priority()),
        pace: Pace::Continuous,
        request: Request::Work(REFERENCE_WORK),
    };
    let answer = stage.run(0, seconds, &[worker])?;
    let report = answer.reports.first().ok_or("the client told nothing")?;
    super::session::calls_per_second(&report.calls).ok_or_else(|| {
        format!(
            "not two calls were made in {seconds} s while the load was calibrated: is the machine overloaded?"
        )
        .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_changed_its_speed_is_unfit() {
        assert_eq!(drift(150.0), None);
        assert_eq!(drift(143.0), None);
        let reason = drift(138.0).unwrap();
        assert!(reason.contains("-8.0 %"), "{reason}");
        assert!(drift(160.0).is_some());
    }
}
