//! `dyn.switch`: the time to switch to another distributable thread, through the ready queue and by native
//! priorities, and the time of the decision alone by number of ready threads.
//!
//! Two distributable threads on one CPU lower their own importance in turn, so each update is a decision and
//! a hand-over, timed from before the update in one thread to its return in the other. With more threads and
//! updates, system calls are counted. Source: [Gill 2004] 2.4, efficient and portable dispatching.

mod decision;
mod hand_over;
mod reordering;
mod shedding;

use std::time::Duration;

use punctual_harness::{
    Claim, Latencies, MedianEstimate, Outcome, Row, blocks,
    child::{Role, Task, TaskEntry},
    interleave,
};
use punctual_rtsched::RtScheduling;
use punctual_system::perf::{CounterKind, ProcessCounter};
use serde::{Deserialize, Serialize};

use self::{
    decision::Decide,
    reordering::{Reorder, Reorderings},
    shedding::Shed,
};
use super::disciplines::Named;
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    os::{Disturbances, Interrupts, Measured, Ready, Sample, Subject, get_ready, timed},
    rights::no_rights,
    testbed::Testbed,
};

pub(super) struct Switch;

const STALLED: Control = Control {
    id: "stalled",
    about: "a pause of 50 µs before each hand-over through the ready queue, and where a policy examines work",
    breaks: &["hand-over", "hand-over.bare", "shedding.*"],
};
const STALLED_NATIVES: Control = Control {
    id: "stalled-natives",
    about: "a pause of 50 µs before each hand-over by native priorities",
    breaks: &["hand-over.more"],
};
const SETTING: Control = Control {
    id: "setting",
    about: "a sched_setparam with each update through the ready queue, and one per thread with a hand-over",
    breaks: &["fewer-calls", "calls-growth", "updates-calls"],
};
const EXCHANGED: Control = Control {
    id: "exchanged",
    about: "reorderings by native priorities in the place of the ready queue",
    breaks: &["fewer-calls", "order"],
};
const COPYING: Control = Control {
    id: "copying",
    about: "a copy of the list of ready threads, and a look at each, with each decision",
    breaks: &["growth", "allocations"],
};
const STALL: Duration = Duration::from_micros(50);

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
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
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

/// The child process.
pub(crate) struct Dispatcher {
    scheduling: RtScheduling,
}

impl Role for Dispatcher {
    const NAME: &'static str = "__dyn-switch";
    type Setup = ();
    type Ready = Ready;
    const TASKS: &'static [TaskEntry<Self>] = &[
        TaskEntry::of::<HandOver>(),
        TaskEntry::of::<Decide>(),
        TaskEntry::of::<Reorder>(),
        TaskEntry::of::<Shed>(),
    ];

    fn start((): ()) -> Result<(Self, Ready), Error> {
        let scheduling = hand_over::scheduling()?;
        Ok((Self { scheduling }, get_ready()?))
    }
}

/// A request for about this number of hand-overs, each after a stall.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct HandOver {
    way: Way,
    switches: usize,
    stall: Duration,
}

impl Task<Dispatcher> for HandOver {
    const NAME: &'static str = "hand-over";
    type Reply = Measured<Vec<Sample>>;

    fn perform(self, dispatcher: &mut Dispatcher) -> Result<Self::Reply, Error> {
        let Self { way, switches, stall } = self;
        timed(|| hand_over::hand_over(&dispatcher.scheduling, way, switches, stall))
    }
}

struct Extent {
    rounds: usize,
    /// Hand-overs per round and way.
    switches: usize,
    batches: usize,
    /// Rounds of reorderings.
    reorderings: usize,
    /// Segments or scheduling points of a batch with a policy for late work.
    shedding: usize,
}

impl Extent {
    fn of(length: Length) -> Self {
        Self {
            rounds: blocks::ROUNDS,
            switches: length.pick(300, 3000, 3000),
            batches: length.pick(20, 200, 200),
            reorderings: length.pick(1, 10, 10),
            shedding: length.pick(1_000, 10_000, 10_000),
        }
    }

    fn expected(&self) -> Duration {
        let switches = (self.rounds * self.switches * Way::ALL.len()) as u64;
        let decisions = (self.batches * BATCH * READY.len() * Named::ALL.len()) as u64;
        Duration::from_micros(switches * 8 + decisions)
            + self.of_reorderings()
            + self.of_shedding()
            + Duration::from_secs(2)
    }

    /// Each round, and the counting, start up to a thousand threads, and have a thousand turns of up to a
    /// hundred updates.
    fn of_reorderings(&self) -> Duration {
        Duration::from_millis(700) * (self.reorderings as u32 + 2)
    }

    fn of_shedding(&self) -> Duration {
        Duration::from_micros((self.rounds * shedding::KINDS.len() * self.shedding) as u64)
    }
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
    const CONTROLS: &'static [Control] = &[STALLED, STALLED_NATIVES, COPYING, SETTING, EXCHANGED];

    fn expected(length: Length) -> Duration {
        Extent::of(length).expected()
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let (extent, full) = (Extent::of(trial.length()), Extent::of(Length::Full));
        // Decisions alone need no real-time priorities.
        let no_rights = no_rights(&trial.outcome);
        if let Some(reason) = &no_rights {
            let ids = [
                "hand-over",
                "hand-over.bare",
                "shedding.segment",
                "shedding.checkpoint",
            ];
            for id in ids.into_iter().chain(reordering::CLAIMS) {
                let what = format!("claim {id}");
                trial.outcome.skip(Some(id), what, reason.as_str());
            }
            trial.outcome.skip(None, "all hand-overs", reason.as_str());
        }
        trial.shortened(format!(
            "{} hand-overs each instead of {}",
            extent.rounds * extent.switches,
            full.rounds * full.switches
        ));
        let limit = extent.expected() * 10;
        let mut subject = Subject::start(trial.testbed, limit, Interrupts::Recorded)?;
        let switched = match no_rights {
            None => hand_overs(trial.testbed, &mut subject, &extent)?,
            Some(_) => Vec::new(),
        };
        let decisions = decisions(trial.testbed, &mut subject, &extent)?;
        if !switched.is_empty() {
            reorderings(trial, &mut subject, &extent)?;
            shedding(trial, &mut subject, &extent)?;
        }
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

fn hand_overs(
    testbed: &Testbed,
    subject: &mut Subject<Dispatcher>,
    extent: &Extent,
) -> Result<Vec<Switched>, Error> {
    let block = Duration::from_micros(extent.switches as u64 * 8);
    let mut switched = Way::ALL.map(|way| Switched {
        way,
        samples: Vec::new(),
        medians: Vec::new(),
    });
    let expected = block * (extent.rounds * switched.len()) as u32;
    testbed.progress.stage("hand-overs in alternation", expected);
    for _ in 0..extent.rounds {
        for one in &mut switched {
            let hand_over = HandOver {
                way: one.way,
                switches: extent.switches,
                stall: match one.way {
                    Way::ReadyQueue => stall(testbed, &STALLED),
                    Way::OsPriorities => stall(testbed, &STALLED_NATIVES),
                    _ => Duration::ZERO,
                },
            };
            one.add(&subject.perform(&hand_over, block)?);
        }
    }
    Ok(switched.into())
}

/// Returns the pause under this control.
fn stall(testbed: &Testbed, control: &Control) -> Duration {
    if testbed.is_under(control) {
        STALL
    } else {
        Duration::ZERO
    }
}

fn decisions(
    testbed: &Testbed,
    subject: &mut Subject<Dispatcher>,
    extent: &Extent,
) -> Result<Vec<Decision>, Error> {
    let mut decisions = Vec::new();
    for scheduler in Named::ALL {
        testbed.progress.stage(
            format!("decisions of {}", scheduler.name()),
            Duration::from_micros((extent.batches * BATCH * READY.len()) as u64),
        );
        let inspects_all = scheduler == Named::Mau;
        let most = if inspects_all { MOST_OF_MAU } else { usize::MAX };
        let share = if inspects_all { 10 } else { 1 };
        for ready in READY.into_iter().filter(|ready| *ready <= most) {
            let decide = Decide {
                scheduler,
                ready,
                batches: extent.batches / share,
                batch: BATCH / share,
                copies: testbed.is_under(&COPYING),
            };
            let decided = subject.perform(&decide, Duration::from_secs(1))?;
            decisions.push(Decision {
                scheduler,
                ready,
                decided,
            });
        }
    }
    Ok(decisions)
}

fn reorderings(
    trial: &mut Trial<'_>,
    subject: &mut Subject<Dispatcher>,
    extent: &Extent,
) -> Result<(), Error> {
    let testbed = &trial.testbed;
    let uncounted = ProcessCounter::open(subject.process(), CounterKind::Syscalls).err();
    let mut all = reordering::All::new();
    let kinds = reordering::THREADS
        .into_iter()
        .flat_map(|threads| reordering::UPDATES.map(|updates| (threads, updates)));
    testbed.progress.stage("reorderings", extent.of_reorderings());
    for (threads, updates) in kinds {
        for round in 0..=extent.reorderings {
            // The last one counts.
            let counts = round == extent.reorderings;
            if counts && uncounted.is_some() {
                continue;
            }
            for way in reordering::WAYS {
                let is_ours = way == Way::ReadyQueue;
                let reorder = Reorder {
                    way: testbed.under(&EXCHANGED, Way::OsPriorities, way),
                    threads,
                    updates,
                    sets_priorities: is_ours && testbed.is_under(&SETTING),
                    counts,
                };
                let reordered = subject.perform(&reorder, Duration::from_secs(1))?;
                let results: &mut Reorderings = all.entry((way, threads, updates)).or_default();
                results.add(reordered);
            }
        }
    }
    reordering::evaluate(&all, uncounted.map(|error| error.to_string()), &mut trial.outcome);
    Ok(())
}

fn shedding(trial: &mut Trial<'_>, subject: &mut Subject<Dispatcher>, extent: &Extent) -> Result<(), Error> {
    let stall = stall(trial.testbed, &STALLED);
    trial.stage("policies for late work", extent.of_shedding());
    let times = interleave(&shedding::KINDS, extent.rounds, |(work, examined), _| {
        let batch = match stall.is_zero() {
            true => extent.shedding,
            false => extent.shedding / 100,
        };
        let shed = Shed {
            work,
            examined,
            batch,
            stall,
        };
        subject.perform(&shed, Duration::from_secs(1))
    })?;
    shedding::evaluate(&times, &mut trial.outcome);
    Ok(())
}

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
