//! Agreement on rates: the client's operations, the contract with the deadline, and the manager of
//! rates.

use std::time::Duration;

use punctual_qos::{Condition, Contract, Need, RateManager, Region};
use punctual_scheduling::reconfigurable::{
    Criticality, Operation, OperationId, ReconfigurableScheduler, Strategy,
};
use serde::{Deserialize, Serialize};

use super::picture::TILES;
use crate::error::Error;

/// Seconds in which an image is displayed at the rates of decompression, the slowest first.
const IMAGE_SECONDS: std::ops::RangeInclusive<u32> = FASTEST..=60;
/// The fastest one: the largest deadline that the paper calls infeasible.
const FASTEST: u32 = 38;
/// Use of the processor that is admitted.
const ADMITTED: f64 = 0.9;
/// Execution times of an image's tile: decompression, and delivery to the display.
const DECOMPRESSION: Duration = Duration::from_millis(150);
const DELIVERY: Duration = Duration::from_millis(50);
/// Period and execution time of the operations that fly the aircraft.
const FLIGHT: [(u64, u64); 5] = [(250, 20), (250, 20), (500, 40), (500, 40), (1_000, 80)];
/// Execution time of a redraw of the moving map, which has the room that images leave.
const MAP: Duration = Duration::from_millis(40);
/// Rest that the map leaves beyond the need of images: less than the next rate of decompression would use.
const SPARE: f64 = 0.001;
/// Time before the deadline at which the image is to be complete.
const RESERVE: Duration = Duration::from_millis(1_500);

/// Operations of the client, with their handles.
pub(super) struct Operations {
    pub(super) flight: Vec<(OperationId, Duration)>,
    pub(super) map: (OperationId, Duration),
    pub(super) decompression: (OperationId, Duration),
    pub(super) delivery: (OperationId, Duration),
}

/// Describes all operations; times are divided by `scale`.
pub(super) fn operations(scale: f64) -> Result<(ReconfigurableScheduler, Operations), Error> {
    let scaled = |time: Duration| time.div_f64(scale);
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Muf).thresholds(ADMITTED, ADMITTED)?;
    let mut flight = Vec::new();
    let mut used = 0.0;
    for (number, (period, wcet)) in FLIGHT.into_iter().enumerate() {
        let [period, wcet] = [period, wcet].map(|time| scaled(Duration::from_millis(time)));
        let operation = Operation::new(format!("flight {number}"), Criticality::High).tuple(period, wcet);
        flight.push((scheduler.add(operation)?, wcet));
        used += wcet.as_secs_f64() / period.as_secs_f64();
    }
    // For each rate of decompression, the map has one that leaves just this room.
    let mut decompression = Operation::new("decompression", Criticality::Low);
    let mut map = Operation::new("map", Criticality::Medium);
    for seconds in IMAGE_SECONDS {
        let period = Duration::from_secs(seconds.into()) / TILES;
        decompression = decompression.tuple(scaled(period), scaled(DECOMPRESSION));
        let images = (DECOMPRESSION + DELIVERY).as_secs_f64() / period.as_secs_f64();
        map = map.tuple(scaled(MAP.div_f64(ADMITTED - used - images - SPARE)), scaled(MAP));
    }
    let map = scheduler.add(map)?;
    let decompression = scheduler.add(decompression)?;
    let delivery = Operation::new("delivery", Criticality::Low).passive(scaled(DELIVERY));
    let delivery = scheduler.add(delivery)?;
    scheduler.depend(delivery, decompression, 1)?;
    let operations = Operations {
        flight,
        map: (map, scaled(MAP)),
        decompression: (decompression, scaled(DECOMPRESSION)),
        delivery: (delivery, scaled(DELIVERY)),
    };
    Ok((scheduler, operations))
}

/// One computation of the schedule.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Recomputation {
    /// Time since the image was requested, in seconds of the paper.
    pub(super) at_s: f64,
    /// Processor time of the thread that computed, during the download.
    pub(super) took_us: f64,
    /// Median processor time of its repetitions after the downloads; 0 before.
    pub(super) repeated_us: f64,
    /// Number of rates from which the scheduler chose.
    pub(super) choices: usize,
    progress: Progress,
}

/// Progress of a download at an examination.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Progress {
    /// Time since the image was requested.
    pub(super) now: Duration,
    /// When the last tile was displayed.
    pub(super) last: Duration,
    /// Number of tiles that have not been displayed.
    pub(super) left: u32,
}

/// Computes the schedules of a download again, from the same states; returns the processor times, in
/// microseconds. `before` is called before each computation.
pub(super) fn repeated(
    deadline: Duration,
    adapts: bool,
    scale: f64,
    recomputations: &[Recomputation],
    before: impl Fn(),
) -> Result<Vec<f64>, Error> {
    let (scheduler, operations) = operations(scale)?;
    before();
    let mut adaptation = Adaptation::new(scheduler, &operations, deadline, scale, adapts)?;
    for one in recomputations.iter().skip(1) {
        before();
        adaptation.examine(one.progress)?;
    }
    let again = adaptation.recomputations.iter();
    if !again
        .clone()
        .map(|one| one.choices)
        .eq(recomputations.iter().map(|one| one.choices))
    {
        return Err("the repetition of a download's computations had other results".into());
    }
    Ok(again.map(|one| one.took_us).collect())
}

/// The contract between an image and its deadline, and the manager that keeps it.
pub(super) struct Adaptation {
    manager: RateManager,
    decompression: OperationId,
    map: OperationId,
    contract: Contract,
    /// Expected lateness of the image in seconds, less the reserve.
    lateness: Condition,
    /// The same at the highest rate.
    least_lateness: Condition,
    deadline: Duration,
    scale: f64,
    adapts: bool,
    pub(super) recomputations: Vec<Recomputation>,
}

const HOPELESS: &str = "hopeless";
const BEHIND: &str = "behind";

impl Adaptation {
    /// Computes the first schedule, for an image with this deadline in seconds.
    pub(super) fn new(
        scheduler: ReconfigurableScheduler,
        operations: &Operations,
        deadline: Duration,
        scale: f64,
        adapts: bool,
    ) -> Result<Self, Error> {
        let mut manager = RateManager::new(scheduler)?;
        let decompression = operations.decompression.0;
        let choices = manager.adapt(decompression, Need::Same)?.choices;
        let lateness = Condition::new("lateness_s");
        let least_lateness = Condition::new("least_lateness_s");
        let contract = Contract::builder("image")
            .region(Region::new(HOPELESS).at_least(&least_lateness, 0.0))
            .region(Region::new(BEHIND).at_least(&lateness, 0.0))
            .region(Region::new("on schedule"))
            .build()?;
        let first = Recomputation {
            at_s: 0.0,
            took_us: manager.computing_time().as_secs_f64() * 1e6,
            repeated_us: 0.0,
            choices,
            progress: Progress {
                now: Duration::ZERO,
                last: Duration::ZERO,
                left: TILES,
            },
        };
        Ok(Self {
            manager,
            decompression,
            map: operations.map.0,
            contract,
            lateness,
            least_lateness,
            deadline,
            scale,
            adapts,
            recomputations: vec![first],
        })
    }

    /// Returns the name of an operation.
    pub(super) fn name(&self, id: OperationId) -> &str {
        &self.scheduler().operations()[id.0 as usize].name
    }

    pub(super) fn scheduler(&self) -> &ReconfigurableScheduler {
        self.manager.scheduler()
    }

    /// Examines the progress; returns whether there is another schedule.
    pub(super) fn examine(&mut self, progress: Progress) -> Result<bool, Error> {
        let Progress { now, last, left } = progress;
        let Some(period) = self.manager.period(self.decompression) else {
            return Err("the decompression was not admitted".into());
        };
        let paper = |time: Duration| time.as_secs_f64() * self.scale;
        let goal = (self.deadline - RESERVE.min(self.deadline)).as_secs_f64();
        let complete = |of_image: f64| paper(last) + of_image * f64::from(left) / f64::from(TILES);
        self.lateness
            .set(complete(paper(period) * f64::from(TILES)) - goal);
        self.least_lateness.set(complete(FASTEST.into()) - goal);
        self.contract.evaluate();
        if !self.adapts || self.contract.region() != BEHIND {
            return Ok(false);
        }
        // Rates at which the image would be late are no longer considered, either.
        let image = (self.decompression, Need::More);
        let selected = self.manager.adapt_together(self.map, Need::Less, &[image])?;
        if let Some(took) = selected.computed {
            self.recomputations.push(Recomputation {
                at_s: paper(now),
                took_us: took.as_secs_f64() * 1e6,
                repeated_us: 0.0,
                choices: selected.choices,
                progress,
            });
        }
        Ok(selected.is_met)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers of computations and of the last choices, and the seconds of the image at the end,
    /// if nothing is delayed.
    fn settled(deadline: u64) -> (usize, usize, f64) {
        let (scheduler, operations) = operations(1.0).unwrap();
        let deadline = Duration::from_secs(deadline);
        let mut adaptation = Adaptation::new(scheduler, &operations, deadline, 1.0, true).unwrap();
        let progress = adaptation.recomputations[0].progress;
        while adaptation.examine(progress).unwrap() {}
        let period = adaptation.manager.period(operations.decompression.0).unwrap();
        let scheduler = adaptation.scheduler();
        assert!(scheduler.utilization() <= ADMITTED + 1e-9 && scheduler.utilization() > ADMITTED - 0.01);
        let length = (period * TILES).as_secs_f64();
        let last = adaptation.recomputations.last().unwrap();
        let seconds = (length * 1e3).round() / 1e3;
        (adaptation.recomputations.len(), last.choices, seconds.ceil())
    }

    #[test]
    fn each_step_of_the_map_makes_room_for_the_next_rate() {
        for (deadline, expected) in [
            (62, (1, 51, 60.0)),
            (58, (5, 43, 56.0)),
            (52, (11, 31, 50.0)),
            (42, (21, 11, 40.0)),
        ] {
            assert_eq!(settled(deadline), expected, "{deadline} s");
        }
    }

    #[test]
    fn repetitions_begin_with_the_same_states() {
        let (scheduler, operations) = operations(1.0).unwrap();
        let deadline = Duration::from_secs(50);
        let mut adaptation = Adaptation::new(scheduler, &operations, deadline, 1.0, true).unwrap();
        for second in 1..40u32 {
            let (now, left) = (Duration::from_secs(second.into()), TILES - second);
            adaptation.examine(Progress { now, last: now, left }).unwrap();
        }
        let mut recomputations = adaptation.recomputations;
        assert!(recomputations.len() > 3, "{recomputations:?}");
        let number = std::cell::Cell::new(0);
        let repeat =
            |all: &[Recomputation]| repeated(deadline, true, 1.0, all, || number.set(number.get() + 1));
        assert_eq!(repeat(&recomputations).unwrap().len(), recomputations.len());
        assert_eq!(number.get(), recomputations.len());
        recomputations[2].choices -= 1;
        repeat(&recomputations).unwrap_err();
    }

    #[test]
    fn a_hopeless_deadline_is_not_adapted_to() {
        assert_eq!(settled(38), (1, 51, 60.0));
        assert_eq!(settled(1), (1, 51, 60.0));
    }
}
