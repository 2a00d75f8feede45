//! `os.thread-switch`: the time of a switch between threads of one priority, with 2 to 1000 of them.
//!
//! Each thread reads the clock and yields, and the next one reads the clock: each switch is a sample. Source:
//! [Fayyad-Kazan 2013] IV.B.3, figures 2, 3a and 3b.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use punctual_harness::{Claim, Row};
use punctual_os::scheduling;
use punctual_system::ContextSwitches;
use serde::{Deserialize, Serialize};

use super::{
    mutex_contention::{INTERRUPTED_EVERY, INTERRUPTION_NS, claim_by_ticks},
    samples::{Log, Sample, now_ns},
    subject::{Interrupts, Subject},
    worker::{Job, fifo, joined, spin_for},
};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
};

pub(crate) struct ThreadSwitch;

impl Experiment for ThreadSwitch {
    const NAME: &'static str = "os.thread-switch";
    const ABOUT: &'static str = "time of a switch between 2 to 1000 threads of one priority, each one timed";
    const PAGE: &'static str = include_str!("thread_switch.toml");
    const NEEDS_RIGHTS: Option<&'static [&'static str]> = Some(&["grows", "by-ticks"]);
    const CONTROLS: &'static [Control] = &[TWO, INTERRUPTED];

    fn expected(length: Length) -> Duration {
        expected(switches(length)) * THREADS.len() as u32
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let switches = switches(trial.length());
        let expected = expected(switches);
        trial.shortened(format!(
            "{switches} switches each instead of {}",
            self::switches(Length::Full)
        ));
        let mut subject = Subject::for_jobs(trial.testbed, expected * 20, Interrupts::Recorded)?;
        let mut measured = Vec::new();
        let numbers = match trial.testbed.is_under(&TWO) {
            true => [2; THREADS.len()],
            false => THREADS,
        };
        let interrupted = trial.testbed.is_under(&INTERRUPTED);
        for threads in numbers {
            trial.stage(format!("{threads} threads"), expected);
            measured.push((
                threads,
                subject.run(
                    Switch {
                        threads,
                        switches,
                        interrupted,
                    },
                    expected,
                )?,
            ));
        }
        let disturbances = subject.finish(&mut trial.outcome)?;
        let mut medians = Vec::new();
        for (threads, switched) in measured {
            let evaluated = disturbances.evaluate(&switched.samples, 0);
            medians.push(evaluated.corrected.quantile_us(0.5));
            let row = evaluated.row(Row::new().with("threads", threads));
            trial
                .outcome
                .row(row.with("foreign_switches", switched.foreign_switches));
            let name = match threads {
                2 => "2 threads",
                1000 => "1000 threads",
                _ => continue,
            };
            trial.curve(name, name, over_time(&switched.samples));
        }
        let median = |of: Option<&Option<f64>>| of.copied().flatten().unwrap_or(f64::NAN);
        let growth = median(medians.last()) / median(medians.first());
        let text = "median time of a switch among 1000 threads over that among 2, at least: it grows with \
                    the number of threads";
        let source = "[Fayyad-Kazan 2013] IV.B.3";
        trial
            .outcome
            .claim(Claim::at_least("grows", text, source, growth, GROWTH));
        claim_by_ticks(&mut trial.outcome, source);
        Ok(())
    }
}

const TWO: Control = Control {
    id: "two-threads",
    about: "two threads in the place of every number",
    breaks: &["grows"],
};
const INTERRUPTED: Control = Control {
    id: "interrupted",
    about: "100 µs of other work within every 1000th switch of a thread",
    breaks: &["by-ticks"],
};
/// The smallest growth that two measurements of the same number of threads do not show.
const GROWTH: f64 = 1.1;

/// Numbers of threads, as in the paper.
const THREADS: [usize; 4] = [2, 10, 128, 1000];
const PRIORITY: i16 = 30;
/// Time to create up to a thousand threads.
const CREATION: Duration = Duration::from_millis(60);

/// Switches for each number of threads.
fn switches(length: Length) -> usize {
    length.pick(60_000, 1_000_000, 1_000_000)
}

/// Returns the expected duration for each number of threads.
fn expected(switches: usize) -> Duration {
    Duration::from_micros(switches as u64) + CREATION
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Switch {
    threads: usize,
    switches: usize,
    /// Whether other work interrupts some switches.
    interrupted: bool,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Switched {
    samples: Vec<Sample>,
    /// Number of preemptions of a thread that had not yielded.
    foreign_switches: u64,
}

impl Job for Switch {
    const NAME: &'static str = "thread-switch";
    type Reply = Switched;

    fn run(self) -> Result<Switched, Error> {
        switch(&self)
    }
}

fn switch(command: &Switch) -> Result<Switched, Error> {
    struct Shared {
        start: Barrier,
        /// Time at which the last thread yielded.
        left: AtomicU64,
        log: Log,
    }
    let shared = Arc::new(Shared {
        start: Barrier::new(command.threads),
        left: AtomicU64::new(0),
        log: Log::with_room_for(command.switches),
    });
    let interrupted = command.interrupted;
    let threads = (0..command.threads).map(|number| {
        let shared = Arc::clone(&shared);
        fifo(format!("switches-{number}"), PRIORITY).spawn(move || {
            shared.start.wait();
            let (before, mut yields) = (ContextSwitches::of_current_thread().involuntary, 0_u64);
            while !shared.log.is_full() {
                shared.left.store(now_ns(), Ordering::Relaxed);
                if interrupted && yields % INTERRUPTED_EVERY as u64 == number as u64 {
                    spin_for(INTERRUPTION_NS);
                }
                scheduling::give_way();
                let arrived = now_ns();
                shared.log.record(shared.left.load(Ordering::Relaxed), arrived);
                yields += 1;
            }
            (ContextSwitches::of_current_thread().involuntary - before).saturating_sub(yields)
        })
    });
    // All threads are started before the first one is joined.
    let threads: Vec<_> = threads.collect::<Result<_, _>>()?;
    let mut foreign_switches = 0;
    for thread in threads {
        foreign_switches += joined(thread)?;
    }
    Ok(Switched {
        samples: shared.log.samples(),
        foreign_switches,
    })
}

/// Returns each raw sample in microseconds over the time of the test in seconds.
fn over_time(samples: &[Sample]) -> impl Iterator<Item = (f64, f64)> {
    let began = samples.first().map_or(0, |first| first.0);
    let samples = samples.iter();
    samples.map(move |sample| (sample.0.saturating_sub(began) as f64 / 1e9, sample.1 as f64 / 1e3))
}
