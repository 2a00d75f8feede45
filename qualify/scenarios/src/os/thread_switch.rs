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

use punctual_harness::{Outcome, Row};
use punctual_os::scheduling;
use punctual_report::{Chapter, Figure, Table};
use punctual_system::ContextSwitches;
use serde::{Deserialize, Serialize};

use super::{
    disturbance::columns,
    samples::{Log, Sample, now_ns},
    subject::{Interrupts, Subject, lacks_rights, shortened},
    worker::{fifo, joined, serve},
};
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    length::Length,
    testbed::Testbed,
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "os.thread-switch",
    about: "time of a switch between 2 to 1000 threads of one priority, each one timed",
    expected: |length| (Extent::of(length).expected() + CREATION) * THREADS.len() as u32,
    run: measure,
    controls: &[],
};

const HEADING: &str = "Switches between threads of one priority";

pub(crate) const ROLE: &str = "__os-thread-switch";

/// Numbers of threads, as in the paper.
const THREADS: [usize; 4] = [2, 10, 128, 1000];
const PRIORITY: i16 = 30;
/// Time to create up to a thousand threads.
const CREATION: Duration = Duration::from_millis(300);

#[derive(Clone, Copy)]
struct Extent {
    switches: usize,
}

impl Extent {
    fn of(length: Length) -> Self {
        Self {
            switches: length.pick(60_000, 1_000_000, 1_000_000),
        }
    }

    fn expected(self) -> Duration {
        Duration::from_micros(self.switches as u64 * 3)
    }
}

#[derive(Debug, Deserialize, Serialize)]
struct Command {
    threads: usize,
    switches: usize,
}

#[derive(Debug, Deserialize, Serialize)]
struct Response {
    samples: Vec<Sample>,
    /// Number of preemptions of a thread that had not yielded.
    foreign_switches: u64,
}

pub(crate) fn child(_: &[String]) -> Result<(), Error> {
    serve(|command: Command| switch(&command))
}

fn switch(command: &Command) -> Result<Response, Error> {
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
    let threads = (0..command.threads).map(|number| {
        let shared = Arc::clone(&shared);
        fifo(format!("switches-{number}"), PRIORITY).spawn(move || {
            shared.start.wait();
            let (before, mut yields) = (ContextSwitches::of_current_thread().involuntary, 0);
            while !shared.log.is_full() {
                shared.left.store(now_ns(), Ordering::Relaxed);
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
    Ok(Response {
        samples: shared.log.samples(),
        foreign_switches,
    })
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let extent = Extent::of(testbed.length);
    let mut outcome = testbed.outcome(BENCHMARK.name);
    let mut measured = Vec::new();
    if let Some(chapter) = lacks_rights(&mut outcome, HEADING, &[]) {
        return Ok(Findings { outcome, chapter });
    }
    shortened(testbed, &mut outcome, || {
        format!(
            "{} switches each instead of {}",
            extent.switches,
            Extent::of(Length::Full).switches
        )
    });
    let limit = (extent.expected() + CREATION) * 20;
    let mut subject = Subject::start(testbed, ROLE, limit, Interrupts::Recorded)?;
    for threads in THREADS {
        testbed
            .progress
            .stage(format!("{threads} threads"), extent.expected() + CREATION);
        let command = Command {
            threads,
            switches: extent.switches,
        };
        let response: Response = subject.ask(&command, extent.expected() + CREATION)?;
        measured.push((threads, response));
    }
    let disturbances = subject.finish(&mut outcome)?;
    for (threads, response) in &measured {
        let row = Row::new().with("threads", *threads);
        let row = disturbances.evaluate(&response.samples, 0).row(row);
        outcome.row(row.with("foreign_switches", response.foreign_switches));
    }
    let chapter = chapter(&outcome, &measured);
    Ok(Findings { outcome, chapter })
}

fn chapter(outcome: &Outcome, measured: &[(usize, Response)]) -> Chapter {
    let mut columns = columns(&[("threads", "threads")]);
    columns.push(("foreign_switches", "foreign switches"));
    let table = Table::of(outcome.rows().iter().map(Row::as_map)).columns(&columns);
    let curve = |column: &str| -> Vec<(f64, f64)> {
        let rows = outcome.rows().iter();
        rows.filter_map(|row| Some((row.number("threads")?, row.number(column)?)))
            .collect()
    };
    let averages = Figure::new("Mean time of a switch by number of threads")
        .caption(
            "With more threads than fit into the caches a switch takes longer, and the clock tick affects \
             the maximum. [Fayyad-Kazan 2013] \
             figure 3a; its text states one point for Linux.",
        )
        .x("threads of one priority")
        .x_log()
        .y("time of a switch (µs)")
        .line("mean, here", curve("mean_us"))
        .line("p99, here", curve("p99_us"))
        .published(
            "mean, Linux 3.6.6-rt on an Atom, [Fayyad-Kazan 2013]",
            [(2.0, 1.3)],
        );
    let maxima = Figure::new("Longest time of a switch by number of threads")
        .caption("The longest switch is one with an interrupt. [Fayyad-Kazan 2013] figure 3b.")
        .x("threads of one priority")
        .x_log()
        .y("time of a switch (µs)")
        .y_log()
        .line("longest, here", curve("max_us"))
        .line(
            "longest without a recorded interrupt, here",
            curve("undisturbed_max_us"),
        )
        .published(
            "longest, Linux 3.6.6-rt on an Atom, [Fayyad-Kazan 2013]",
            [(2.0, 21.8)],
        );
    let chapter = Chapter::new(HEADING)
        .paragraph(
            "Threads of one priority yield in turn, and each switch is timed from a clock reading before the \
             thread yields to one in the next thread. The cost of a reading is subtracted; the raw figures \
             are also shown.",
        )
        .paper("[Fayyad-Kazan 2013] IV.B.3", CLAIM, grows(outcome))
        .table(table)
        .figure(averages)
        .figure(maxima);
    let extremes = measured.first().into_iter().chain(measured.iter().skip(1).last());
    extremes.fold(chapter, |chapter, (threads, response)| {
        chapter.figure(figure_2(*threads, response))
    })
}

const CLAIM: &str = "as the number of threads grows to 1000 their contexts no longer fit into the caches, \
                     and a switch takes \
    longer";

fn grows(outcome: &Outcome) -> Option<bool> {
    let median = |threads: usize| {
        let row = outcome
            .rows()
            .iter()
            .find(|row| row.get("threads").is_some_and(|count| *count == threads))?;
        row.number("p50_us")
    };
    Some(median(1000)? > median(2)?)
}

/// Creates a figure of each sample over the time of the test.
fn figure_2(threads: usize, response: &Response) -> Figure {
    let began = response.samples.first().map_or(0, |first| first.0);
    let points = response.samples.iter().map(|sample| {
        let seconds = sample.0.saturating_sub(began) as f64 / 1e9;
        (seconds, sample.1 as f64 / 1000.0)
    });
    Figure::new(format!("Switches between {threads} threads over time"))
        .caption(
            "Most switches take the same short time; some are longer by the time of an interrupt, at the \
             interval of clock ticks. Raw samples. [Fayyad-Kazan 2013] figure 2, with 2 threads.",
        )
        .x("time since the first switch (s)")
        .y("time of a switch (µs)")
        .y_log()
        .samples(format!("{threads} threads"), points)
}
