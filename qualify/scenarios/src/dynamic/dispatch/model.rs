//! The model, which runs live and simulated.

use std::time::Duration;

use punctual_sched::{
    dynamic::Time,
    simulator::{Event, EventKind, Model, Simulation, Step, Task, dispatch_graph},
};
use serde::{Deserialize, Serialize};

use super::{
    super::{
        disciplines::Named,
        schedule::{Run, Schedule},
    },
    paper,
};
use crate::{error::Error, simulated};

/// The delay of DT3 and DT5 is the unit divided by this, longer than the sum of delays of calls and switches
/// up to then.
const LATE: u32 = 10;

/// How to run the model live.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct How {
    pub(super) scheduler: Named,
    pub(super) unit: Duration,
    /// How long a thread keeps its turn after its work; zero except under a control.
    pub(super) stall: Duration,
    /// DT2 works on host 1 only, without a call: DT3 interrupts it.
    pub(super) without_reply: bool,
}

/// Returns the model of [Gill 2004] with five threads on two hosts.
pub(super) fn figure_6(unit: Duration) -> Model {
    simulated::figure_6(unit, unit / LATE)
}

/// Leaves a thread its work on its first host, and no calls.
pub(super) fn keep_on_host_1(thread: &mut Task) {
    thread.steps.retain(|step| !matches!(step, Step::Call(_)));
}

/// Simulates the model, in the order of importance or the reverse, and returns its schedule.
pub(super) fn simulated(scheduler: Named, unit: Duration, reversed: bool) -> Result<Schedule, Error> {
    let mut events: Vec<Event> = Vec::new();
    let until = Time((unit * paper::UNITS as u32 * 2).as_nanos() as u64);
    let mut model = figure_6(unit);
    if reversed {
        let parameters = model.tasks.iter_mut().filter_map(|task| task.parameters.as_mut());
        parameters.for_each(|parameters| parameters.importance = -parameters.importance);
    }
    let mut simulation = Simulation::new(&model, 0, |_| scheduler.scheduler())?;
    simulation.run_until(until, &mut events)?;
    let runs = dispatch_graph(&events, until, false);
    let runs = runs.into_iter().map(|run| Run {
        host: run.host as u8 + 1,
        thread: run.thread.task as u8 + 1,
        from: run.from.0,
        to: run.to.0,
        ended: run.end != Some(EventKind::Suspended),
    });
    Ok(Schedule::of(runs.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulated_schedule_is_that_of_the_paper() {
        let unit = Duration::from_secs(1);
        for scheduler in super::super::PAPERS {
            let differences = simulated(scheduler, unit, false)
                .unwrap()
                .differences(&paper::schedule(unit.as_nanos() as u64));
            assert_eq!(differences, [""; 0], "{scheduler:?}");
        }
    }

    #[test]
    fn the_reversed_order_is_another_schedule() {
        let unit = Duration::from_secs(1);
        for scheduler in super::super::PAPERS {
            let [as_is, reversed] =
                [false, true].map(|reversed| simulated(scheduler, unit, reversed).unwrap());
            assert!(!as_is.differences(&reversed).is_empty(), "{scheduler:?}");
        }
    }
}
