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
    ("max_cause", "its cause"),
    ("calls_in_holes", "calls in holes"),
    ("mean_without_holes_us", "mean without (µs)"),
    ("jitter_without_holes_us", "jitter without (µs)"),
];

const CONTRAST_COLUMNS: &[(&str, &str)] = &[
    ("configuration", "configuration"),
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
    ("lanes", "own lanes"),
    ("classic", "classic pool"),
];

pub(super) fn chapter(outcome: &Outcome, contrasts: &Contrasts, holes: &[Hole]) -> Chapter {
    let chapter = Chapter::new("Latency and jitter beside less important clients")
        .paragraph(
            "One client of high priority calls 20 times a second, beside up to 50 clients of low priority \
             that call 10 times a \
             second each, all on one processor. Ideally its latency and jitter stay where they are, while \
             those of the others \
             rise with their number. Jitter is the sample standard deviation. A single gap of the host's \
             decides jitter, so it \
             is drawn with the calls that fell into a recorded hole of kernel or host and without them, and \
             nothing is claimed \
             of it.",
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
        .rows_of_kind(outcome, "point", POINT_COLUMNS, "Every point")
        .paragraph(
            "The same with a client that calls 476 times a second, in slices that alternate: without the \
             others and with 50 of \
             them. The classic pool, of as many threads at one priority, stands beside the lanes for \
             contrast.",
        )
        .paper(
            "[Schmidt 2002] 3.3",
            "the latency of the high-priority client should remain constant or show only a minor increase \
             with the number of \
             low-priority clients (read here as: p50 and p99 rise to at most 1.25 times, with lanes)",
            minor_increase(outcome),
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

fn minor_increase(outcome: &Outcome) -> Option<bool> {
    let ratios = || {
        outcome
            .claims()
            .iter()
            .filter(|claim| claim.id.ends_with("-ratio"))
    };
    if !outcome.machine().is_realtime() {
        return None;
    }
    ratios().next()?;
    Some(ratios().all(|claim| claim.holds))
}

const FIGURE_4: &str = "[Schmidt 2002] figure 4: on QNX and VxWorks it stayed nearly constant, on Linux it \
                        rose, on Windows NT and 2000 it \
                        rose linearly with the number of clients.";
const FIGURE_6: &str = "[Schmidt 2002] figures 5 and 6: essentially unchanged on QNX and VxWorks, around 200 \
                        µs on Linux/RT for large \
                        numbers of clients, rising linearly on Windows NT and 2000.";
const LOW: &str =
    "They compete with each other, so theirs should rise gradually with their number ([Schmidt 2002] 3.3).";

/// Raw and without holes, for both configurations.
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
