//! `dyn.dispatch`: the schedules of five distributable threads on two hosts, under each scheduler, live and
//! in virtual time.
//!
//! Each host is a process with its own CPU and network. The same model runs live and simulated, with the same
//! schedulers. The threads themselves record when they run. Source: [Gill 2004] 3.1, figure 6.

mod graph;
mod host;
mod live;
mod model;
mod paper;
mod switches;

use std::time::Duration;

use punctual_harness::{Claim, Outcome, Row};

use super::{disciplines::Named, schedule::Schedule};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    rights::no_rights,
    testbed::Testbed,
};

pub(super) struct Dispatching;

pub(super) use host::Process;

const SOURCE: &str = "Punctual's limit, after [Gill 2004] figure 6";

const REVERSED: Control = Control {
    id: "reversed",
    about: "a simulator in which the least important thread runs first",
    breaks: &["*.simulated", "*.live", "*.deviation"],
};
const LATE: Control = Control {
    id: "late",
    about: "threads that keep the processor for 2 ms after their work",
    breaks: &["*.deviation"],
};
const WITHOUT_REPLY: Control = Control {
    id: "without-reply",
    about: "in last switches, DT3 interrupts DT2, which does not call: no reply is part of the switch",
    breaks: &[switches::OWN_CLAIM],
};
const SAME: Control = Control {
    id: "same",
    about: "live, TP in the place of MIF",
    breaks: &[switches::CLAIM],
};
const LATE_BY: Duration = Duration::from_millis(2);

/// The largest acceptable deviation of an event from the simulator, which has no costs, in milliseconds.
const DEVIATION_MS: f64 = 0.4;

/// The schedulers whose schedule is in the paper.
const PAPERS: [Named; 2] = [Named::Mif, Named::Tp];

/// Returns the unit of time, which is a second in the paper.
fn unit(scheduler: Named, length: Length) -> Duration {
    match length {
        Length::Quick => SHORT,
        Length::Full | Length::Paper if !PAPERS.contains(&scheduler) => SHORT,
        Length::Full | Length::Paper => Duration::from_secs(1),
    }
}

/// Start and end of the processes of a live run.
const AROUND: Duration = Duration::from_millis(300);

const SHORT: Duration = Duration::from_millis(50);

/// Returns the expected duration, including start and end of the processes.
fn expected(scheduler: Named, length: Length) -> Duration {
    unit(scheduler, length) * paper::UNITS as u32 + AROUND
}

/// The results of one scheduler.
struct Dispatched {
    scheduler: Named,
    unit: Duration,
    simulated: Schedule,
    /// `None` if real-time priorities are not permitted.
    live: Option<live::LiveRun>,
}

impl Experiment for Dispatching {
    const NAME: &'static str = "dyn.dispatch";
    const ABOUT: &'static str = "five distributable threads on two hosts under nine schedulers: order of \
                                 suspensions, live and simulated";
    const PAGE: &'static str = include_str!("dispatch.toml");
    const CONTROLS: &'static [Control] = &[REVERSED, LATE, SAME, WITHOUT_REPLY];

    fn expected(length: Length) -> Duration {
        let schedulers = Named::ALL.into_iter();
        let all: Duration = schedulers.map(|scheduler| expected(scheduler, length)).sum();
        all + switches::expected(length)
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let not_permitted = match trial.testbed.places.has_driver() {
            true => no_rights(&trial.outcome),
            false => Some("two hosts need two CPUs, but only one is available to this process".to_owned()),
        };
        if let Some(reason) = &not_permitted {
            let live = PAPERS.map(|scheduler| format!("{}.live", scheduler.id()));
            for id in live
                .iter()
                .map(String::as_str)
                .chain([switches::CLAIM, switches::OWN_CLAIM])
            {
                trial
                    .outcome
                    .skip(Some(id), format!("claim {id}"), reason.as_str());
            }
            trial.outcome.skip(None, "all live runs", reason.as_str());
        }
        trial.shortened(
            "a unit of time of 50 ms instead of 1 s for MIF and TP, and 6 pairs of last switches instead of 20",
        );
        let schedulers = match trial.testbed.control {
            None => &Named::ALL[..],
            Some(_) => &PAPERS[..],
        };
        for &scheduler in schedulers {
            let unit = unit(scheduler, trial.length());
            let title = format!("{}, units of {} ms", scheduler.name(), unit.as_millis());
            trial.stage(title, expected(scheduler, trial.length()));
            let simulated = model::simulated(scheduler, unit, trial.testbed.is_under(&REVERSED))?;
            let live = match not_permitted {
                Some(_) => None,
                None => Some(live::run(
                    &trial.testbed.places,
                    how(trial.testbed, scheduler, unit),
                )?),
            };
            let dispatched = Dispatched {
                scheduler,
                unit,
                simulated,
                live,
            };
            dispatched.rows(&mut trial.outcome);
            graph::curves(&dispatched, trial);
            if PAPERS.contains(&scheduler) {
                dispatched.claims(&mut trial.outcome);
            }
        }
        match not_permitted {
            Some(_) => Ok(()),
            None => switches::measure(trial),
        }
    }
}

/// Returns how a scheduler runs live, under the control of this run.
fn how(testbed: &Testbed, scheduler: Named, unit: Duration) -> model::How {
    let scheduler = match scheduler {
        Named::Mif if testbed.is_under(&SAME) => Named::Tp,
        other => other,
    };
    model::How {
        scheduler,
        unit,
        stall: testbed.under(&LATE, LATE_BY, Duration::ZERO),
        without_reply: false,
    }
}

/// Returns the time between the last two runs on host 1, in microseconds.
fn last_switch_us(schedule: &Schedule) -> Option<f64> {
    let runs: Vec<_> = schedule.runs().iter().filter(|run| run.host == 1).collect();
    match runs[..] {
        [.., before, last] => Some(last.from.saturating_sub(before.to) as f64 / 1e3),
        _ => None,
    }
}

impl Dispatched {
    fn paper(&self) -> Option<Schedule> {
        let unit_ns = self.unit.as_nanos() as u64;
        PAPERS.contains(&self.scheduler).then(|| paper::schedule(unit_ns))
    }

    /// Converts nanoseconds to units of time.
    fn units(&self, ns: u64) -> f64 {
        ns as f64 / self.unit.as_nanos() as f64
    }

    fn rows(&self, outcome: &mut Outcome) {
        let simulated = &self.simulated;
        let mut row = Row::new()
            .with("kind", "schedule")
            .with("scheduler", self.scheduler.name())
            .with("unit_ms", self.unit.as_millis() as u64)
            .with("events", simulated.events().len());
        if let Some(paper) = self.paper() {
            row = row.with("simulated_other_than_paper", simulated.differences(&paper).len());
        }
        if let Some(live) = &self.live {
            let differences = live.schedule.differences(simulated);
            row = row
                .with("live_events", live.schedule.events().len())
                .with("live_other_than_simulated", differences.len())
                .with("first_difference", differences.first().map_or("", String::as_str))
                .with(
                    "largest_deviation_ms",
                    largest_deviation_ms(&live.schedule, simulated),
                )
                .with("last_switch_us", last_switch_us(&live.schedule))
                .with("holes", live.holes.len())
                .with(
                    "holes_ms",
                    live.holes.iter().map(|hole| hole.1).sum::<u64>() as f64 / 1e6,
                )
                .with("network", live.network.as_str());
        }
        outcome.row(row);
        self.event_rows(outcome);
        let sources = [
            ("simulated", Some(simulated)),
            ("live", self.live.as_ref().map(|live| &live.schedule)),
        ];
        for (source, schedule) in sources {
            for run in schedule.iter().flat_map(|schedule| schedule.runs()) {
                let row = Row::new()
                    .with("kind", "run")
                    .with("scheduler", self.scheduler.name())
                    .with("source", source)
                    .with("thread", format!("DT{}", run.thread))
                    .with("host", run.host)
                    .with("from_ms", run.from as f64 / 1e6)
                    .with("to_ms", run.to as f64 / 1e6)
                    .with("then", if run.ended { "done here" } else { "suspended" });
                outcome.row(row);
            }
        }
    }

    /// Adds a row for each event in the simulator's order, with its times in the paper, simulated and live.
    fn event_rows(&self, outcome: &mut Outcome) {
        let live = self.live.as_ref().map(|live| &live.schedule);
        let paper = self.paper();
        for event in self.simulated.events() {
            let at = |schedule: Option<&Schedule>| Some(self.units(schedule?.time_of(&event)?));
            let row = Row::new()
                .with("kind", "event")
                .with("scheduler", self.scheduler.name())
                .with("thread", format!("DT{}", event.thread))
                .with("host", event.host)
                .with("event", event.what.name())
                .with("paper_units", at(paper.as_ref()))
                .with("simulated_units", self.units(event.at))
                .with("live_units", at(live));
            outcome.row(row);
        }
    }

    fn claims(&self, outcome: &mut Outcome) {
        let (id, name) = (self.scheduler.id(), self.scheduler.name());
        let differences = |one: &Schedule, other: &Schedule| one.differences(other).len() as f64;
        if let Some(paper) = self.paper() {
            outcome.claim(Claim::at_most(
                format!("{id}.simulated"),
                format!(
                    "{name}: hosts and threads for which the order of suspensions and resumptions in the \
                     simulator differs from the paper's text"
                ),
                SOURCE,
                differences(&self.simulated, &paper),
                0.0,
            ));
        }
        if let Some(live) = &self.live {
            outcome.claim(Claim::at_most(
                format!("{id}.live"),
                format!(
                    "{name}: hosts and threads for which the order of suspensions and resumptions in the \
                     live run differs from the simulator"
                ),
                SOURCE,
                differences(&live.schedule, &self.simulated),
                0.0,
            ));
            outcome.claim(Claim::at_most(
                format!("{id}.deviation"),
                format!(
                    "{name}: largest deviation of an event of the live run from the simulator, in which \
                     nothing costs time (ms)"
                ),
                SOURCE,
                largest_deviation_ms(&live.schedule, &self.simulated),
                DEVIATION_MS,
            ));
        }
    }
}

/// Returns the largest deviation of the times of events; NaN if the events differ.
fn largest_deviation_ms(live: &Schedule, simulated: &Schedule) -> f64 {
    if !live.differences(simulated).is_empty() {
        return f64::NAN;
    }
    let events = simulated.events();
    let deviations = events
        .iter()
        .filter_map(|event| Some(live.time_of(event)?.abs_diff(event.at)));
    deviations.max().unwrap_or(0) as f64 / 1e6
}
