//! `os.context-switch`: the time of a switch between two threads, in the three ways of ACE's tests.
//!
//! Source: [Schmidt 2002] 3.1 and table 1, [Levine 1999], ACE's `context_switch_time`.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use punctual_harness::{Claim, Row, statistics};
use punctual_os::scheduling;
use punctual_system::{ContextSwitches, Semaphore};
use serde::{Deserialize, Serialize};

use super::{
    disturbance::Disturbances,
    mutex::{Kind, Mutex},
    samples::{Log, Sample, now_ns},
    subject::{Interrupts, Subject},
    worker::{Job, fifo, joined, run},
};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    testbed::Testbed,
};

pub(crate) struct ContextSwitch;

impl Experiment for ContextSwitch {
    const NAME: &'static str = "os.context-switch";
    const ABOUT: &'static str =
        "time of a switch between two threads, by yielding and by suspending and resuming";
    const PAGE: &'static str = include_str!("context_switch.toml");
    const NEEDS_RIGHTS: Option<&'static [&'static str]> = Some(&["yield", "metric"]);
    const CONTROLS: &'static [Control] = &[HANDED_OVER];

    fn expected(length: Length) -> Duration {
        expected(repetitions(length)) * 2
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let repetitions = repetitions(trial.length());
        let expected = expected(repetitions);
        trial.outcome.parameter("repetitions", repetitions);
        let full = self::repetitions(Length::Full);
        trial.shortened(format!("{repetitions} repetitions instead of {full}"));
        trial.outcome.parameter("switches_per_repetition", SWITCHES);
        let mut subject = Subject::for_jobs(trial.testbed, expected * 10, Interrupts::Recorded)?;
        trial.stage("yielding", expected);
        let yields = YieldToEachOther {
            repetitions,
            yields: SWITCHES,
            handed_over: trial.testbed.is_under(&HANDED_OVER),
        };
        let yielded = subject.run(yields, expected)?;
        let mut synchronized = Vec::new();
        for (kind, test) in SYNCHRONIZED {
            trial.stage(test, expected);
            synchronized.push((test, subject.run(Synchronize { repetitions, kind }, expected)?));
        }
        let disturbances = subject.finish(&mut trial.outcome)?;
        let mut rows = vec![yield_row(&yielded)];
        for (
            test,
            Synchronized {
                samples,
                uncontended_ns,
            },
        ) in &synchronized
        {
            rows.push(synchronized_row(test, samples, *uncontended_ns, &disturbances));
        }
        let mean = |row: &Row| row.number("mean_us").unwrap_or(f64::NAN);
        let ratio = mean(&rows[0]) / mean(&rows[1]);
        let text = "mean time of a switch by yielding over that of one by a mutex, below 1";
        let claim = Claim::below("yield", text, "[Schmidt 2002] 3.1", ratio, 1.0);
        trial.outcome.claim(claim);
        let text = "the same, at most a half: the overhead depends largely on how it is measured";
        let claim = Claim::at_most("metric", text, "[Schmidt 2002] 3.1", ratio, LARGELY);
        trial.outcome.claim(claim);
        trial.shown_row("published", published_row(&rows));
        for row in rows {
            trial.shown_row("here", row.clone());
            trial.outcome.row(row);
        }
        let reason = "POSIX threads have no operation that suspends another thread ([Schmidt 2002] 3.1)";
        let row = Row::new().with("test", "suspend-resume");
        trial.outcome.row(row.with("note", format!("N/A: {reason}")));
        trial.outcome.skip(None, "the suspend-resume test", reason);
        Ok(())
    }
}

const HANDED_OVER: Control = Control {
    id: "handed-over",
    about: "threads that also hand over by semaphores before each yield",
    breaks: &["yield", "metric"],
};
/// The largest ratio of two ways to switch at which the overhead depends "largely" on the way.
const LARGELY: f64 = 0.5;

/// Returns our row of the papers' table: means, and the jitter in parentheses.
fn published_row(rows: &[Row]) -> Row {
    let cell = |row: &Row| {
        let number = |column| row.number(column).unwrap_or(f64::NAN);
        format!("{:.3} ({:.3})", number("mean_us"), number("jitter_us"))
    };
    let row = Row::new()
        .with("source", "this run")
        .with("system", "here")
        .with("suspend", "N/A");
    row.with("yield", cell(&rows[0])).with("synch", cell(&rows[1]))
}

/// Repetitions of each test.
fn repetitions(length: Length) -> u32 {
    length.pick(40, 300, 300)
}

/// Returns the expected duration of one test; a switch takes a few microseconds.
fn expected(repetitions: u32) -> Duration {
    Duration::from_micros(u64::from(repetitions * SWITCHES) * 10)
}

/// Switches per repetition, as in the papers' tests.
const SWITCHES: u32 = 1000;
/// Priorities of the two threads; both have the lower one except in the synchronized test.
const LOW: i16 = 30;
const HIGH: i16 = 31;

/// Repetitions of [`yield_to_each_other`].
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct YieldToEachOther {
    pub(super) repetitions: u32,
    pub(super) yields: u32,
    /// Whether the threads also hand over by semaphores before each yield.
    pub(super) handed_over: bool,
}

impl Job for YieldToEachOther {
    const NAME: &'static str = "yield";
    type Reply = Vec<Yielded>;

    fn run(self) -> Result<Vec<Yielded>, Error> {
        (0..self.repetitions)
            .map(|_| yield_to_each_other(self.yields, self.handed_over))
            .collect()
    }
}

/// Switches by a mutex.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Synchronize {
    repetitions: u32,
    kind: Kind,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Synchronized {
    /// Time from before the release of the mutex to after its acquisition.
    samples: Vec<Sample>,
    /// Time of acquiring and releasing the mutex in one thread.
    uncontended_ns: f64,
}

impl Job for Synchronize {
    const NAME: &'static str = "synchronize";
    type Reply = Synchronized;

    fn run(self) -> Result<Synchronized, Error> {
        let mutex = Arc::new(Mutex::new(self.kind, HIGH)?);
        let alone = Arc::clone(&mutex);
        let times = self.repetitions * SWITCHES;
        Ok(Synchronized {
            uncontended_ns: run(fifo("uncontended", HIGH), move || alone.uncontended_ns(times))?,
            samples: synchronized(&mutex, times)?,
        })
    }
}

/// The result of two threads that yield to each other.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Yielded {
    /// Time per switch.
    pub(super) ns: f64,
    /// Number of preemptions of a thread that had not yielded.
    pub(super) foreign_switches: u64,
}

/// Measures the time of a context switch in microseconds with the yield test on the measured CPU. It includes
/// the system call and is therefore an upper bound.
pub(crate) fn switch_us(testbed: &Testbed) -> Result<f64, Error> {
    const YIELDS: u32 = 10_000;
    let expected = expected(YIELDS / SWITCHES);
    let mut subject = Subject::for_jobs(testbed, expected, Interrupts::Ignored)?;
    let yields = YieldToEachOther {
        repetitions: 1,
        yields: YIELDS,
        handed_over: false,
    };
    let yielded = subject.run(yields, expected)?;
    Ok(yielded.first().ok_or("the yield test has no result")?.ns / 1e3)
}

/// Runs two threads that yield `yields` times each. The first one that is done stops the clock, because no
/// switches follow.
fn yield_to_each_other(yields: u32, handed_over: bool) -> Result<Yielded, Error> {
    struct Shared {
        start: Barrier,
        began: AtomicU64,
        ended: AtomicU64,
        /// Turns of each thread, if they hand over.
        turns: [Semaphore; 2],
    }
    let shared = Arc::new(Shared {
        start: Barrier::new(2),
        began: AtomicU64::new(u64::MAX),
        ended: AtomicU64::new(u64::MAX),
        turns: [Semaphore::new(0)?, Semaphore::new(0)?],
    });
    let yields_through = move |own: usize, shared: &Shared| {
        shared.start.wait();
        let before = ContextSwitches::of_current_thread();
        shared.began.fetch_min(now_ns(), Ordering::Relaxed);
        for _ in 0..yields {
            if handed_over && own == 0 {
                shared.turns[1].release();
                shared.turns[0].acquire();
            } else if handed_over {
                shared.turns[1].acquire();
                shared.turns[0].release();
            }
            scheduling::give_way();
        }
        shared.ended.fetch_min(now_ns(), Ordering::Relaxed);
        let switches = ContextSwitches::of_current_thread().involuntary - before.involuntary;
        switches.saturating_sub(yields.into())
    };
    let threads = [0, 1].map(|own| {
        let shared = Arc::clone(&shared);
        fifo(format!("yields-{own}"), LOW).spawn(move || yields_through(own, &shared))
    });
    let mut foreign_switches = 0;
    for thread in threads {
        foreign_switches += joined(thread?)?;
    }
    let elapsed = shared.ended.load(Ordering::Relaxed) - shared.began.load(Ordering::Relaxed);
    Ok(Yielded {
        ns: elapsed as f64 / f64::from(yields) / 2.0,
        foreign_switches,
    })
}

/// Measures switches by a mutex: the high thread waits for a mutex that the low one holds. The time is from
/// before the release by the low thread until after the acquisition by the high one.
fn synchronized(mutex: &Arc<Mutex>, times: u32) -> Result<Vec<Sample>, Error> {
    struct Shared {
        mutex: Arc<Mutex>,
        turn: Semaphore,
        released: AtomicU64,
        log: Log,
    }
    let shared = Arc::new(Shared {
        mutex: Arc::clone(mutex),
        turn: Semaphore::new(0)?,
        released: AtomicU64::new(0),
        log: Log::with_room_for(times as usize),
    });
    let (high, low) = (Arc::clone(&shared), Arc::clone(&shared));
    let high = fifo("high", HIGH).spawn(move || {
        for _ in 0..times {
            high.turn.acquire();
            let held = high.mutex.lock();
            high.log.record(high.released.load(Ordering::Relaxed), now_ns());
            drop(held);
        }
    })?;
    let low = fifo("low", LOW).spawn(move || {
        for _ in 0..times {
            let held = low.mutex.lock();
            // The high thread runs until it finds the mutex taken.
            low.turn.release();
            low.released.store(now_ns(), Ordering::Relaxed);
            drop(held);
        }
    })?;
    joined(high)?;
    joined(low)?;
    Ok(shared.log.samples())
}

const SYNCHRONIZED: [(Kind, &str); 3] = [
    (Kind::Plain, "synchronized suspend-resume"),
    (Kind::Inheriting, "the same, inheriting mutex"),
    (Kind::OwnInheriting, "the same, Punctual's mutex"),
];

/// Statistics over repetitions, as ACE's test prints them.
fn over_repetitions(row: Row, means_us: &[f64]) -> Row {
    let extreme = |choose: fn(f64, f64) -> f64| means_us.iter().copied().reduce(choose);
    row.with("mean_us", statistics::mean(means_us))
        .with("jitter_us", statistics::standard_deviation(means_us))
        .with("p50_us", statistics::median(means_us))
        .with("min_us", extreme(f64::min))
        .with("max_us", extreme(f64::max))
        .with("repetitions", means_us.len())
}

fn yield_row(yielded: &[Yielded]) -> Row {
    let means: Vec<f64> = yielded.iter().map(|repetition| repetition.ns / 1000.0).collect();
    let foreign: u64 = yielded.iter().map(|repetition| repetition.foreign_switches).sum();
    over_repetitions(Row::new().with("test", "yield"), &means)
        .with("raw_mean_us", statistics::mean(&means))
        .with("foreign_switches", foreign)
        .with("note", "a batch: the clock is read only at its start and end")
}

/// Returns the mean of each repetition, without the cost of the uncontended mutex and of the clock.
fn means_us(samples: &[Sample], excess_ns: f64) -> Vec<f64> {
    let repetitions = samples.chunks_exact(SWITCHES as usize);
    let mean = |repetition: &[Sample]| {
        let sum: u64 = repetition.iter().map(|sample| sample.1).sum();
        (sum as f64 / repetition.len() as f64 - excess_ns) / 1000.0
    };
    repetitions.map(mean).collect()
}

fn synchronized_row(test: &str, samples: &[Sample], uncontended_ns: f64, disturbances: &Disturbances) -> Row {
    let evaluated = disturbances.evaluate(samples, uncontended_ns.round() as u64);
    let corrected = means_us(samples, uncontended_ns + disturbances.stamp_ns as f64);
    over_repetitions(Row::new().with("test", test), &corrected)
        .with("raw_mean_us", statistics::mean(&means_us(samples, 0.0)))
        .with("uncontended_us", uncontended_ns / 1000.0)
        .with("slowest_us", evaluated.corrected.summary().max_us)
        .with("slowest_cause", evaluated.cause_of_maximum)
        .with("disturbed", evaluated.disturbed)
        .with("undisturbed_max_us", evaluated.quiet.summary().max_us)
        .with(
            "note",
            "without the cost of acquiring and releasing the uncontended mutex, and of the clock",
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_complete_repetition_has_a_mean() {
        let samples: Vec<Sample> = (0..2 * SWITCHES + 7)
            .map(|place| Sample(0, if place < SWITCHES { 2_000 } else { 4_000 }))
            .collect();
        assert_eq!(means_us(&samples, 500.0), [1.5, 3.5]);
    }

    #[test]
    fn the_row_has_the_statistics_of_the_papers() {
        let row = over_repetitions(Row::new(), &[1.0, 2.0, 3.0]);
        let figures = ["mean_us", "jitter_us", "min_us", "max_us"].map(|name| row.number(name));
        assert_eq!(figures, [Some(2.0), Some(1.0), Some(1.0), Some(3.0)]);
    }
}
