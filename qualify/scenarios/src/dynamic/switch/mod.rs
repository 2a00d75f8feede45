//! `dyn.switch`: the time to switch to another distributable thread, through the ready queue and by native
//! priorities, and the time of the decision alone by number of ready threads.
//!
//! Two distributable threads on one CPU lower their own importance in turn, so each update is a decision and
//! a hand-over, timed from before the update in one thread to its return in the other. Source: [Gill 2004]
//! 2.4, efficient and portable dispatching.

mod decision;
mod hand_over;

use std::time::Duration;

use punctual_harness::{Claim, Latencies, MedianEstimate, Outcome, Row, blocks};
use serde::{Deserialize, Serialize};

use super::disciplines::Named;
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    os::{Disturbances, Interrupts, Sample, Subject, serve},
    rights::no_rights,
    testbed::Testbed,
};

pub(super) struct Switch;

const STALLED: Control = Control {
    id: "stalled",
    about: "a pause of 50 µs before each hand-over through the ready queue",
    breaks: &["hand-over", "hand-over.bare"],
};
const COPYING: Control = Control {
    id: "copying",
    about: "a copy of the list of ready threads, and a look at each, with each decision",
    breaks: &["growth", "allocations"],
};
const STALL: Duration = Duration::from_micros(50);

pub(super) const ROLE: &str = "__dyn-switch";

const SOURCE: &str = "Punctual's limit";
/// The largest acceptable ratio of a hand-over through the ready queue to one by native priorities.
const LARGEST_RATIO: f64 = 1.5;
/// Numbers of ready threads.
const READY: [usize; 4] = [10, 100, 1000, 10_000];
/// The largest number of threads for MAU, which inspects every ready thread, as documented.
const MOST_OF_MAU: usize = 1000;

/// Returns the schedulers that decide in O(log n).
fn logarithmic() -> impl Iterator<Item = Named> {
    Named::ALL
        .into_iter()
        .filter(|scheduler| *scheduler != Named::Mau)
}

/// The largest acceptable ratio of a decision with 10,000 ready threads to one with 100. The logarithm
/// doubles, and the queue exceeds the caches; a decision that inspects each thread would take 100 times as
/// long.
const LARGEST_GROWTH: f64 = 8.0;

/// Number of decisions that are timed together, because reading the clock takes as long as some decisions.
const BATCH: usize = 100;

/// The way in which a thread hands over to another one.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum Way {
    /// MIF through the runtime's ready queue.
    ReadyQueue,
    /// TP through the runtime and native priorities.
    OsPriorities,
    /// Only `sched_setparam`.
    RawPriorities,
    /// Only a futex to wake the other thread, and one to wait.
    RawFutex,
}

impl Way {
    const ALL: [Self; 4] = [
        Self::ReadyQueue,
        Self::OsPriorities,
        Self::RawPriorities,
        Self::RawFutex,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::ReadyQueue => "MIF, ready queue",
            Self::OsPriorities => "TP, native priorities",
            Self::RawPriorities => "sched_setparam alone",
            Self::RawFutex => "futex wake and wait alone",
        }
    }
}

#[derive(Debug, Deserialize, Serialize)]
enum Command {
    /// Measure about this number of hand-overs.
    HandOver {
        way: Way,
        switches: usize,
        stall: Duration,
    },
    /// Measure batches of decisions.
    Decide {
        scheduler: Named,
        ready: usize,
        extent: decision::Batches,
    },
}

#[derive(Debug, Deserialize, Serialize)]
enum Response {
    HandedOver(Vec<Sample>),
    Decided(decision::Decided),
}

struct Extent {
    rounds: usize,
    /// Hand-overs per round and way.
    switches: usize,
    batches: usize,
}

impl Extent {
    fn of(length: Length) -> Self {
        Self {
            rounds: blocks::ROUNDS,
            switches: length.pick(300, 3000, 3000),
            batches: length.pick(20, 200, 200),
        }
    }

    fn expected(&self) -> Duration {
        let switches = (self.rounds * self.switches * Way::ALL.len()) as u64;
        let decisions = (self.batches * BATCH * READY.len() * Named::ALL.len()) as u64;
        Duration::from_micros(switches * 8 + decisions) + Duration::from_secs(2)
    }
}

pub(super) fn child(_: &[String]) -> Result<(), Error> {
    let scheduling = hand_over::scheduling()?;
    serve(|command: Command| {
        Ok(match command {
            Command::HandOver { way, switches, stall } => {
                Response::HandedOver(hand_over::hand_over(&scheduling, way, switches, stall)?)
            }
            Command::Decide {
                scheduler,
                ready,
                extent,
            } => Response::Decided(decision::decide(scheduler, ready, extent)?),
        })
    })
}

/// The results of one way.
struct Switched {
    way: Way,
    samples: Vec<Sample>,
    /// The median of each round, in nanoseconds.
    medians: Vec<f64>,
}

/// The results of one scheduler with one number of threads.
struct Decision {
    scheduler: Named,
    ready: usize,
    decided: decision::Decided,
}

impl Experiment for Switch {
    const NAME: &'static str = "dyn.switch";
    const ABOUT: &'static str = "dispatch decision and hand-over: ready queue and native priorities; \
                                 decisions with 10 to 10,000 threads";
    const PAGE: &'static str = include_str!("switch.toml");
    const CONTROLS: &'static [Control] = &[STALLED, COPYING];

    fn expected(length: Length) -> Duration {
        Extent::of(length).expected()
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let (extent, full) = (Extent::of(trial.length()), Extent::of(Length::Full));
        // Decisions alone need no real-time priorities.
        let ways = match no_rights(&trial.outcome) {
            None => &Way::ALL[..],
            Some(reason) => {
                for id in ["hand-over", "hand-over.bare"] {
                    trial
                        .outcome
                        .skip(Some(id), format!("claim {id}"), reason.as_str());
                }
                trial.outcome.skip(None, "all hand-overs", reason);
                &[]
            }
        };
        trial.shortened(format!(
            "{} hand-overs each instead of {}",
            extent.rounds * extent.switches,
            full.rounds * full.switches
        ));
        let limit = extent.expected() * 10;
        let mut subject = Subject::start(trial.testbed, ROLE, limit, Interrupts::Recorded)?;
        let (switched, decisions) = ask(trial.testbed, &mut subject, &extent, ways)?;
        let disturbances = subject.finish(&mut trial.outcome)?;
        for one in &switched {
            trial.outcome.row(one.row(&disturbances));
            trial.curve("tails", one.way.name(), one.curve(disturbances.stamp_ns));
        }
        for one in &decisions {
            trial.outcome.row(one.row());
        }
        if !switched.is_empty() {
            hand_over_claims(&switched, &mut trial.outcome);
        }
        decision_claims(&decisions, &mut trial.outcome);
        Ok(())
    }
}

fn ask(
    testbed: &Testbed,
    subject: &mut Subject,
    extent: &Extent,
    ways: &[Way],
) -> Result<(Vec<Switched>, Vec<Decision>), Error> {
    let block = Duration::from_micros(extent.switches as u64 * 8);
    let switched = ways.iter().map(|&way| Switched {
        way,
        samples: Vec::new(),
        medians: Vec::new(),
    });
    let mut switched: Vec<_> = switched.collect();
    let expected = block * (extent.rounds * ways.len()) as u32;
    testbed.progress.stage("hand-overs in alternation", expected);
    for _ in 0..extent.rounds {
        for one in &mut switched {
            let command = Command::HandOver {
                way: one.way,
                switches: extent.switches,
                stall: match one.way {
                    Way::ReadyQueue if testbed.is_under(&STALLED) => STALL,
                    _ => Duration::ZERO,
                },
            };
            match subject.ask(&command, block)? {
                Response::HandedOver(samples) => one.add(&samples),
                Response::Decided(_) => return Err(UNEXPECTED.into()),
            }
        }
    }
    let mut decisions = Vec::new();
    for scheduler in Named::ALL {
        testbed.progress.stage(
            format!("decisions of {}", scheduler.name()),
            Duration::from_micros((extent.batches * BATCH * READY.len()) as u64),
        );
        let inspects_all = scheduler == Named::Mau;
        for ready in READY
            .into_iter()
            .filter(|ready| !inspects_all || *ready <= MOST_OF_MAU)
        {
            let command = Command::Decide {
                scheduler,
                ready,
                extent: decision::Batches {
                    batches: if inspects_all {
                        extent.batches / 10
                    } else {
                        extent.batches
                    },
                    batch: if inspects_all { BATCH / 10 } else { BATCH },
                    copies: testbed.is_under(&COPYING),
                },
            };
            match subject.ask(&command, Duration::from_secs(1))? {
                Response::Decided(decided) => decisions.push(Decision {
                    scheduler,
                    ready,
                    decided,
                }),
                Response::HandedOver(_) => return Err(UNEXPECTED.into()),
            }
        }
    }
    Ok((switched, decisions))
}

const UNEXPECTED: &str = "unexpected response of the measured process";

impl Switched {
    /// Returns the shares of hand-overs that were shorter than each time.
    fn curve(&self, stamp_ns: u64) -> Vec<(f64, f64)> {
        let mut latencies = Latencies::new();
        let times = self
            .samples
            .iter()
            .map(|sample| sample.1.saturating_sub(stamp_ns));
        times.for_each(|time| latencies.record(time));
        latencies.curve()
    }

    fn add(&mut self, samples: &[Sample]) {
        let mut latencies = Latencies::new();
        samples.iter().for_each(|sample| latencies.record(sample.1));
        self.medians
            .extend(latencies.quantile_us(0.5).map(|median| median * 1000.0));
        self.samples.extend(samples);
    }

    fn row(&self, disturbances: &Disturbances) -> Row {
        let row = Row::new().with("kind", "hand-over").with("way", self.way.name());
        disturbances.evaluate(&self.samples, 0).row(row)
    }
}

impl Decision {
    fn row(&self) -> Row {
        let median = punctual_harness::statistics::median(&self.decided.batches_ns);
        Row::new()
            .with("kind", "decision")
            .with("scheduler", self.scheduler.name())
            .with("ready", self.ready)
            .with("decision_ns", median)
            .with("batches", self.decided.batches_ns.len())
            .with("allocations", self.decided.allocations)
    }
}

fn hand_over_claims(switched: &[Switched], outcome: &mut Outcome) {
    let medians = |way: Way| {
        let of = switched.iter().find(|one| one.way == way);
        of.map_or(&[][..], |one| &one.medians)
    };
    let ratio_of = |way, reference| blocks::median_ratio(medians(way), medians(reference));
    for (name, way, reference) in [
        (
            "ready_queue_by_native_priorities",
            Way::ReadyQueue,
            Way::OsPriorities,
        ),
        ("ready_queue_by_raw_futex", Way::ReadyQueue, Way::RawFutex),
        ("native_priorities_by_raw", Way::OsPriorities, Way::RawPriorities),
        (
            "ready_queue_by_raw_priorities",
            Way::ReadyQueue,
            Way::RawPriorities,
        ),
    ] {
        if let Some(ratio) = ratio_of(way, reference) {
            outcome.row(
                Row::new()
                    .with("kind", "ratio")
                    .with("ratio", name)
                    .with_fields(&ratio),
            );
        }
    }
    let limited = |id: &str, reference: &str, ratio: Option<MedianEstimate>| {
        let text = format!(
            "time of a decision and hand-over through the ready queue (MIF) over {reference}, median of \
             alternating blocks"
        );
        let measured = ratio.map_or(f64::NAN, |ratio| ratio.median);
        Claim::at_most(id, text, SOURCE, measured, LARGEST_RATIO)
    };
    let by_priorities = ratio_of(Way::ReadyQueue, Way::OsPriorities);
    outcome.claim(limited(
        "hand-over",
        "that by native priorities (TP)",
        by_priorities,
    ));
    let by_bare_call = ratio_of(Way::ReadyQueue, Way::RawPriorities);
    outcome.claim(limited(
        "hand-over.bare",
        "one sched_setparam that switches, without any runtime",
        by_bare_call,
    ));
}

fn decision_claims(decisions: &[Decision], outcome: &mut Outcome) {
    let median = |scheduler: Named, ready: usize| {
        let of = |one: &&Decision| one.scheduler == scheduler && one.ready == ready;
        decisions
            .iter()
            .find(of)
            .and_then(|one| one.row().number("decision_ns"))
    };
    let growth = logarithmic().map(|scheduler| {
        let pair = median(scheduler, 10_000).zip(median(scheduler, 100));
        pair.map_or(f64::NAN, |(many, few)| many / few)
    });
    // Unlike `max`, this propagates NaN.
    let largest = growth.fold(0.0, |largest: f64, one| {
        if one.is_nan() || one > largest {
            one
        } else {
            largest
        }
    });
    outcome.claim(Claim::at_most(
        "growth",
        "time of a decision with 10,000 ready threads over that with 100, largest of all schedulers except \
         MAU: it grows with the logarithm of the number",
        SOURCE,
        largest,
        LARGEST_GROWTH,
    ));
    let allocations: u64 = decisions.iter().map(|one| one.decided.allocations).sum();
    outcome.claim(Claim::at_most(
        "allocations",
        "heap allocations of all decisions, over all schedulers and numbers of threads",
        SOURCE,
        allocations as f64,
        0.0,
    ));
}
