//! The chapter of `orb.priority-inversion`.

use punctual_harness::{Outcome, Row};
use punctual_report::{Chapter, Figure};

use super::{super::tables::WithTable, POOLS, RATES};
use crate::rows::is_kind;

const RATE_COLUMNS: &[(&str, &str)] = &[
    ("pool", "pool"),
    ("asked_hz", "rate (Hz)"),
    ("calls", "calls"),
    ("mean_us", "mean (µs)"),
    ("jitter_us", "jitter (µs)"),
    ("max_us", "max (µs)"),
    ("max_cause", "cause of max"),
    ("calls_in_holes", "calls in holes"),
    ("mean_without_holes_us", "mean without (µs)"),
    ("jitter_without_holes_us", "jitter without (µs)"),
];

const INVERTED_COLUMNS: &[(&str, &str)] = &[
    ("pool", "pool"),
    ("asked_hz", "rate (Hz)"),
    ("calls", "calls"),
    ("waits", "waits"),
    ("waited_us_per_call", "waited per call (µs)"),
    ("longest_us", "longest (µs)"),
    ("mostly_for", "mostly for"),
];

/// Creates the chapter of the report.
pub(super) fn chapter(outcome: &Outcome) -> Chapter {
    let mean = "Mean latency by rate";
    let jitter = "Jitter by rate";
    let inverted = "Time waited for something less important, per call";
    Chapter::new("Priority inversion")
        .paragraph(
            "Four clients call at 20, 10, 5 and 1 Hz on one processor, each at its own priority; higher \
             rates have higher priorities. An inversion is time in which a client or one of its requests was \
             ready while something less important ran, according to the kernel's trace. Latencies are \
             measured without the trace; at these rates they depend mainly on cold caches, so inversions are \
             determined from the trace.",
        )
        .figure(figure(outcome, "rate", "mean_us", mean, MEAN).y("mean (µs)"))
        .figure(figure(outcome, "rate", "jitter_us", jitter, JITTER).y("sample standard deviation (µs)"))
        .figure(figure(outcome, "inverted", "waited_us_per_call", inverted, INVERTED).y("µs per call"))
        .rows_of_kind(outcome, "rate", RATE_COLUMNS, "Latency by rate")
        .rows_of_kind(
            outcome,
            "inverted",
            INVERTED_COLUMNS,
            "Waited for something less important",
        )
}

const MEAN: &str = "[Levine 1999], priority inversion results.";
const JITTER: &str = "[Levine 1999], last figure (up to 0.18 ms there): predictable on VxWorks and LynxOS, \
                      high on Solaris and Windows NT.";
const INVERTED: &str = "With lanes, a client waits only for the kernel to deliver octets and to switch \
                        threads; in the pool without lanes, also for requests of others.";

fn figure(outcome: &Outcome, kind: &str, column: &str, title: &str, caption: &str) -> Figure {
    let figure = Figure::new(title)
        .caption(caption)
        .names(RATES.map(|hz| format!("{hz} Hz")));
    POOLS.into_iter().fold(figure, |figure, pool| {
        let of_pool = |row: &&Row| is_kind(row, kind) && row.get("pool").is_some_and(|name| name == pool);
        let rows = outcome.rows().iter().filter(of_pool);
        figure.bars(pool, rows.map(|row| row.number(column).unwrap_or(f64::NAN)))
    })
}
