//! The chapter of `orb.latency`.

use punctual_harness::{Hole, Outcome, Row};
use punctual_report::{Chapter, Figure};

use super::{super::tables::WithTable, Configuration, contrast::Contrasts};
use crate::rows::is_kind;

const POINT_COLUMNS: &[(&str, &str)] = &[
    ("configuration", "configuration"),
    ("low_clients", "low clients"),
    ("client", "client"),
    ("calls", "calls"),
    ("mean_us", "mean (µs)"),
    ("jitter_us", "jitter (µs)"),
    ("max_us", "max (µs)"),
    ("max_cause", "cause of max"),
    ("calls_in_holes", "calls in holes"),
    ("mean_without_holes_us", "mean without (µs)"),
    ("jitter_without_holes_us", "jitter without (µs)"),
];

const CONTRAST_COLUMNS: &[(&str, &str)] = &[
    ("configuration", "configuration"),
    ("load", "load"),
    ("run", "run"),
    ("low_clients", "low clients"),
    ("calls", "calls"),
    ("mean_us", "mean (µs)"),
    ("jitter_us", "jitter (µs)"),
    ("p50_us", "p50 (µs)"),
    ("p99_us", "p99 (µs)"),
    ("p999_us", "p99.9 (µs)"),
    ("max_us", "max (µs)"),
];

const RATIO_COLUMNS: &[(&str, &str)] = &[
    ("percentile", "percentile"),
    ("load", "load"),
    ("lanes", "own lanes"),
    ("without_lanes", "pool without lanes"),
];

/// Creates the chapter of the report.
pub(super) fn chapter(outcome: &Outcome, contrasts: &Contrasts, holes: &[Hole]) -> Chapter {
    let chapter = Chapter::new("Latency and jitter with less important clients")
        .paragraph(
            "One high-priority client calls 20 times per second, together with up to 50 low-priority clients \
             that call 10 times per second each, all on one processor. Ideally its latency and jitter do not \
             change, while those of the others rise with their number. Jitter is the sample standard \
             deviation. A single gap caused by the host can dominate jitter, so it is shown with and without \
             calls in recorded holes of kernel or host; the claims are about the calls outside holes. The \
             more important client should not have the larger mean (average priority inversion). It is the \
             first to call after the CPU was idle; the last row shows the same with a CPU kept awake.",
        )
        .figure(figure(
            outcome,
            "mean",
            "high",
            "Mean latency of the high-priority client",
            FIGURE_4,
        ))
        .figure(figure(
            outcome,
            "jitter",
            "high",
            "Jitter of the high-priority client",
            FIGURE_6,
        ))
        .figure(figure(
            outcome,
            "mean",
            "low",
            "Mean latency of the low-priority clients",
            LOW,
        ))
        .figure(figure(
            outcome,
            "jitter",
            "low",
            "Jitter of the low-priority clients",
            LOW,
        ))
        .rows_of_kind(outcome, "point", POINT_COLUMNS, "All points")
        .rows_of_kind(
            outcome,
            "awake",
            POINT_COLUMNS,
            "The CPU kept awake by an ordinary thread",
        )
        .paragraph(
            "The same with a client that calls 476 times per second, in alternating slices without and with \
             50 others, at the paper's 10 Hz and at a rate at which together they take 80 % of the CPU. The \
             pool without lanes has as many threads, at one priority, and is shown for \
             contrast.",
        );
    contrasts
        .add_to(chapter, holes)
        .rows_of_kind(outcome, "contrast", CONTRAST_COLUMNS, "At 476 Hz, run by run")
        .rows_of_kind(
            outcome,
            "ratio",
            RATIO_COLUMNS,
            "With 50 low-priority clients ÷ without (median of the runs)",
        )
}

const FIGURE_4: &str = "[Schmidt 2002] figure 4: nearly constant on QNX and VxWorks, rising on Linux, and \
                        rising linearly with the number of clients on Windows NT and 2000.";
const FIGURE_6: &str = "[Schmidt 2002] figures 5 and 6: essentially unchanged on QNX and VxWorks, around 200 \
                        µs on Linux/RT for large \
                        numbers of clients, rising linearly on Windows NT and 2000.";
const LOW: &str = "They compete with each other, so these values should rise gradually with their number \
                   ([Schmidt 2002] 3.3).";

/// Creates a figure with raw values and values without holes, for both configurations.
fn figure(outcome: &Outcome, what: &str, client: &str, title: &str, caption: &str) -> Figure {
    let figure = Figure::new(title)
        .caption(caption)
        .x("number of low-priority clients")
        .y(format!("{what} (µs)"));
    let rows = |configuration: Configuration| {
        outcome.rows().iter().filter(move |row| {
            let is = |column: &str, text: &str| row.get(column).is_some_and(|value| value == text);
            is_kind(row, "point") && is("configuration", configuration.name()) && is("client", client)
        })
    };
    let curves = [Configuration::Own, Configuration::OneServant]
        .into_iter()
        .flat_map(|configuration| [(configuration, ""), (configuration, "_without_holes")]);
    curves.fold(figure, |figure, (configuration, holes)| {
        let column = format!("{what}{holes}_us");
        let kind = if holes.is_empty() { "" } else { ", without holes" };
        let point = |row: &Row| Some((row.number("low_clients")?, row.number(&column)?));
        figure.line(
            format!("{}{kind}", configuration.name()),
            rows(configuration).filter_map(point),
        )
    })
}
