//! The chapter of `dyn.switch`.

use punctual_harness::{Latencies, Outcome, Row};
use punctual_report::{Chapter, Figure, Table};

use super::{HEADING, LARGEST_GROWTH, LARGEST_RATIO, Named, Switched};
use crate::rows::is_kind;

/// Creates the chapter of the report.
pub(super) fn chapter(outcome: &Outcome, switched: &[Switched], stamp_ns: u64) -> Chapter {
    let chapter = Chapter::new(HEADING).paragraph(
        "Two distributable threads on one processor lower their own importance in turn. Each time the \
         scheduler selects the other one: through the ready queue (MIF), the other one is woken and this one \
         waits; with native priorities (TP), one sched_setparam does both. The time is from before the \
         update in one thread to its return in the other. The system calls of each way alone are shown for \
         comparison.",
    );
    let chapter = match switched {
        [] => chapter,
        switched => chapter
            .table(table(outcome, "hand-over", HAND_OVERS, "Decision and hand-over"))
            .table(table(
                outcome,
                "ratio",
                RATIOS,
                "Ratios of medians of alternating blocks",
            ))
            .figure(tails(switched, stamp_ns)),
    };
    chapter
        .table(table(outcome, "decision", DECISIONS, "The decision alone"))
        .figure(growth(outcome))
}

const HAND_OVERS: &[(&str, &str)] = &[
    ("way", "way"),
    ("count", "samples"),
    ("p50_us", "p50 (µs)"),
    ("p99_us", "p99 (µs)"),
    ("p999_us", "p99.9 (µs)"),
    ("max_us", "max (µs)"),
    ("max_cause", "cause of maximum"),
    ("disturbed", "interrupted"),
    ("raw_p50_us", "raw p50 (µs)"),
];

const RATIOS: &[(&str, &str)] = &[
    ("ratio", "ratio"),
    ("median", "median"),
    ("low", "95 % from"),
    ("high", "to"),
];

const DECISIONS: &[(&str, &str)] = &[
    ("scheduler", "scheduler"),
    ("ready", "ready threads"),
    ("decision_ns", "decision (ns)"),
    ("batches", "batches"),
    ("allocations", "heap allocations"),
];

fn table(outcome: &Outcome, kind: &str, columns: &[(&str, &str)], title: &str) -> Table {
    let rows = outcome.rows().iter().filter(|row| is_kind(row, kind));
    Table::of(rows.map(Row::as_map)).columns(columns).title(title)
}

fn tails(switched: &[Switched], stamp_ns: u64) -> Figure {
    let figure = Figure::new("Decision and hand-over between two distributable threads")
        .caption(format!(
            "The runtime's hand-overs, and their system calls alone. At the median the ready queue may take \
             {LARGEST_RATIO} times as long as native priorities."
        ))
        .tail()
        .x("share of the hand-overs that were shorter (%)")
        .y("time of a hand-over (µs)")
        .y_log();
    switched.iter().fold(figure, |figure, one| {
        let mut latencies = Latencies::new();
        one.samples
            .iter()
            .for_each(|sample| latencies.record(sample.1.saturating_sub(stamp_ns)));
        figure.line(one.way.name(), latencies.curve())
    })
}

fn growth(outcome: &Outcome) -> Figure {
    let figure = Figure::new("One decision by number of ready threads")
        .caption(format!(
            "The running thread receives new parameters and the scheduler selects a thread: mean of {} \
             decisions, median of many such batches. From 100 to 10,000 threads it may grow \
             {LARGEST_GROWTH}-fold, not hundredfold. MAU inspects every thread: it is intended for tens or \
             hundreds.",
            super::BATCH
        ))
        .x("ready threads")
        .x_log()
        .y("time of a decision (ns)");
    Named::ALL.into_iter().fold(figure, |figure, scheduler| {
        let rows = outcome.rows().iter().filter(|row| {
            is_kind(row, "decision") && row.get("scheduler").is_some_and(|name| name == scheduler.name())
        });
        let points = rows.filter_map(|row| Some((row.number("ready")?, row.number("decision_ns")?)));
        figure.line(scheduler.name(), points.collect::<Vec<_>>())
    })
}
