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

use punctual_harness::{Outcome, Row, statistics};
use punctual_os::scheduling;
use punctual_report::{Chapter, Table};
use punctual_system::{ContextSwitches, Semaphore};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    disturbance::Disturbances,
    mutex::{Kind, Mutex},
    samples::{Log, Sample, now_ns},
    subject::{Interrupts, Subject, lacks_rights, shortened},
    worker::{fifo, joined, run, serve},
};
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    length::Length,
    testbed::Testbed,
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "os.context-switch",
    about: "time of a switch between two threads, by yielding and by suspending and resuming",
    expected: |length| Extent::of(length).expected() * 2,
    run: measure,
    controls: &[],
};

const HEADING: &str = "Context switches";

pub(crate) const ROLE: &str = "__os-context-switch";

/// Switches per repetition, as in the papers' tests.
const SWITCHES: u32 = 1000;
/// Priorities of the two threads; both have the lower one except in the synchronized test.
const LOW: i16 = 30;
const HIGH: i16 = 31;

#[derive(Clone, Copy)]
struct Extent {
    repetitions: u32,
}

impl Extent {
    fn of(length: Length) -> Self {
        Self {
            repetitions: length.pick(40, 300, 300),
        }
    }

    /// Returns the expected duration of one test; a switch takes a few microseconds.
    fn expected(self) -> Duration {
        Duration::from_micros(u64::from(self.repetitions * SWITCHES) * 10)
    }
}

#[derive(Debug, Deserialize, Serialize)]
enum Command {
    Yield { repetitions: u32 },
    Synchronized { repetitions: u32, kind: Kind },
}

#[derive(Debug, Deserialize, Serialize)]
enum Response {
    /// One repetition each.
    Yielded(Vec<Yielded>),
    Synchronized {
        /// From before the release of the mutex to after its acquisition.
        samples: Vec<Sample>,
        /// Time of acquiring and releasing the mutex in one thread.
        uncontended_ns: f64,
    },
}

/// The result of two threads that yield to each other.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Yielded {
    /// Time per switch.
    pub(crate) ns: f64,
    /// Number of preemptions of a thread that had not yielded.
    pub(super) foreign_switches: u64,
}

pub(crate) fn child(_: &[String]) -> Result<(), Error> {
    serve(|command| match command {
        Command::Yield { repetitions } => {
            let yielded = (0..repetitions).map(|_| yield_to_each_other(SWITCHES));
            Ok(Response::Yielded(yielded.collect::<Result<_, Error>>()?))
        }
        Command::Synchronized { repetitions, kind } => {
            let mutex = Arc::new(Mutex::new(kind, HIGH)?);
            let alone = Arc::clone(&mutex);
            let times = repetitions * SWITCHES;
            Ok(Response::Synchronized {
                uncontended_ns: run(fifo("uncontended", HIGH), move || alone.uncontended_ns(times))?,
                samples: synchronized(&mutex, times)?,
            })
        }
    })
}

/// Runs two threads that yield `yields` times each. The first one that is done stops the clock, because no
/// switches follow.
pub(crate) fn yield_to_each_other(yields: u32) -> Result<Yielded, Error> {
    struct Shared {
        start: Barrier,
        began: AtomicU64,
        ended: AtomicU64,
    }
    let shared = Arc::new(Shared {
        start: Barrier::new(2),
        began: AtomicU64::new(u64::MAX),
        ended: AtomicU64::new(u64::MAX),
    });
    let yields_through = move |shared: &Shared| {
        shared.start.wait();
        let before = ContextSwitches::of_current_thread();
        shared.began.fetch_min(now_ns(), Ordering::Relaxed);
        for _ in 0..yields {
            scheduling::give_way();
        }
        shared.ended.fetch_min(now_ns(), Ordering::Relaxed);
        let switches = ContextSwitches::of_current_thread().involuntary - before.involuntary;
        switches.saturating_sub(yields.into())
    };
    let threads = ["yields-1", "yields-2"].map(|name| {
        let shared = Arc::clone(&shared);
        fifo(name, LOW).spawn(move || yields_through(&shared))
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

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let extent = Extent::of(testbed.length);
    let mut outcome = testbed.outcome(BENCHMARK.name);
    if let Some(chapter) = lacks_rights(&mut outcome, HEADING, &[]) {
        return Ok(Findings { outcome, chapter });
    }
    let repetitions = extent.repetitions;
    outcome.parameter("repetitions", repetitions);
    shortened(testbed, &mut outcome, || {
        format!(
            "{repetitions} repetitions instead of {}",
            Extent::of(Length::Full).repetitions
        )
    });
    outcome.parameter("switches_per_repetition", SWITCHES);
    let mut subject = Subject::start(testbed, ROLE, extent.expected() * 10, Interrupts::Recorded)?;
    testbed.progress.stage("yielding", extent.expected());
    let yielded = match subject.ask(&Command::Yield { repetitions }, extent.expected())? {
        Response::Yielded(yielded) => yielded,
        Response::Synchronized { .. } => return Err(unexpected_response()),
    };
    let mut synchronized = Vec::new();
    for (kind, test) in SYNCHRONIZED {
        testbed.progress.stage(test, extent.expected());
        match subject.ask(&Command::Synchronized { repetitions, kind }, extent.expected())? {
            Response::Synchronized {
                samples,
                uncontended_ns,
            } => synchronized.push((test, samples, uncontended_ns)),
            Response::Yielded(_) => return Err(unexpected_response()),
        }
    }
    let disturbances = subject.finish(&mut outcome)?;
    outcome.row(yield_row(&yielded));
    for (test, samples, uncontended_ns) in &synchronized {
        outcome.row(synchronized_row(test, samples, *uncontended_ns, &disturbances));
    }
    let reason = "POSIX threads have no operation that suspends another thread ([Schmidt 2002] 3.1)";
    outcome.row(
        Row::new()
            .with("test", "suspend-resume")
            .with("note", format!("N/A: {reason}")),
    );
    outcome.skip(None, "the suspend-resume test", reason);
    let chapter = chapter(&outcome);
    Ok(Findings { outcome, chapter })
}

fn unexpected_response() -> Error {
    "unexpected response of the child process".into()
}

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

/// [Schmidt 2002] table 1 and [Levine 1999]: system, suspend-resume, yield, synchronized; microseconds, with
/// the jitter.
const PUBLISHED: &[(&str, &str, [&str; 3])] = &[
    (
        "[Schmidt 2002] table 1, Pentium III 866 MHz",
        "VxWorks",
        ["0.586 (0.025)", "0.649 (0.013)", "0.821 (0.019)"],
    ),
    ("", "QNX", ["N/A", "0.470 (0.007)", "0.861 (0.003)"]),
    ("", "Linux/RT", ["N/A", "0.645 (0.007)", "2.88 (0.015)"]),
    ("", "Linux", ["N/A", "0.548 (0.006)", "2.559 (0.011)"]),
    (
        "",
        "Windows NT",
        ["1.147 (0.005)", "1.056 (0.006)", "1.914 (0.010)"],
    ),
    (
        "",
        "Windows 2000",
        ["1.148 (0.004)", "1.075 (0.007)", "2.810 (0.016)"],
    ),
    (
        "[Levine 1999], Pentium Pro 200 MHz",
        "Solaris",
        ["46 (N/A)", "17.8 (0.837)", "128 (N/A)"],
    ),
    ("", "VxWorks", ["15.4 (0.294)", "40 (N/A)", "N/A"]),
    ("", "LynxOS", ["N/A", "3.72 (0.043)", "5.45 (0.077)"]),
    ("", "Linux", ["N/A", "6.52 (0.117)", "18.2 (0.264)"]),
    ("", "Windows NT", ["3.45 (0.059)", "5.76 (0.449)", "7.02 (0.113)"]),
];

const COLUMNS: &[(&str, &str)] = &[
    ("test", "test"),
    ("mean_us", "mean (µs)"),
    ("jitter_us", "jitter (µs)"),
    ("p50_us", "median (µs)"),
    ("raw_mean_us", "raw mean (µs)"),
    ("uncontended_us", "mutex alone (µs)"),
    ("slowest_us", "slowest switch (µs)"),
    ("slowest_cause", "cause of slowest"),
    ("disturbed", "interrupted"),
    ("foreign_switches", "foreign switches"),
];

fn chapter(outcome: &Outcome) -> Chapter {
    let measured = outcome
        .rows()
        .iter()
        .filter(|row| row.number("mean_us").is_some());
    let ours = Table::of(measured.map(Row::as_map)).columns(COLUMNS);
    Chapter::new(HEADING)
        .paragraph(
            "Three ways to switch between two threads on one CPU. Yield: two threads of one priority yield \
             to each other. Synchronized suspend-resume: a thread releases a mutex that a more important one \
             waits for. Suspend-resume: a thread suspends and resumes another one, which is not available \
             (N/A) because POSIX threads have no such operation. Mean and jitter are those of the means of \
             repetitions, as in the papers. The time to acquire and release the mutex alone is subtracted \
             from the synchronized switches.",
        )
        .paper("[Schmidt 2002] 3.1", YIELD_CLAIM, yield_is_shorter(outcome))
        .table(ours.title("Here"))
        .table(published(outcome))
}

const YIELD_CLAIM: &str = "on Linux a switch by yielding takes a fraction of one by a mutex, so a single \
                           figure says little about a system";

fn yield_is_shorter(outcome: &Outcome) -> Option<bool> {
    Some(mean_of(outcome, "yield")? < mean_of(outcome, SYNCHRONIZED[0].1)?)
}

fn row_of<'o>(outcome: &'o Outcome, test: &str) -> Option<&'o Row> {
    outcome
        .rows()
        .iter()
        .find(|row| row.get("test").is_some_and(|name| name == test))
}

fn mean_of(outcome: &Outcome, test: &str) -> Option<f64> {
    row_of(outcome, test)?.number("mean_us")
}

/// Returns the papers' table, with our results as its first row.
fn published(outcome: &Outcome) -> Table {
    let here = |test: &str| {
        let row = row_of(outcome, test)?;
        Some(format!(
            "{:.3} ({:.3})",
            row.number("mean_us")?,
            row.number("jitter_us")?
        ))
    };
    let row = |source: &str, system: &str, cells: [Value; 3]| {
        let [suspend, yielding, synchronized] = cells;
        json!({
            "source": source, "system": system, "suspend": suspend, "yield": yielding, "synch": synchronized,
        })
    };
    let ours = [Some("N/A".to_owned()), here("yield"), here(SYNCHRONIZED[0].1)];
    let first = row("this run", "here", ours.map(Value::from));
    let others = PUBLISHED
        .iter()
        .map(|(source, system, cells)| row(source, system, cells.map(Value::from)));
    let rows: Vec<Value> = std::iter::once(first).chain(others).collect();
    Table::of(rows.iter().filter_map(Value::as_object))
        .columns(&[
            ("source", "source"),
            ("system", "system"),
            ("suspend", "suspend-resume"),
            ("yield", "yield"),
            ("synch", "synchronized"),
        ])
        .title("Context switch latency in µs, jitter in parentheses: published figures, of other machines")
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
