//! Distributions of latencies: average, jitter and maximum with its cause, and a plot of percentiles.

use punctual_harness::Latencies;
use punctual_report::{Chapter, Figure, Table};
use serde_json::json;

/// Latencies of one kind.
pub(crate) struct Distribution<'a> {
    /// Name in the legend and the table.
    pub(crate) name: String,
    pub(crate) latencies: &'a Latencies,
    /// Cause of the maximum; for recorded holes, [`punctual_harness::holes::cause_of`] returns it.
    pub(crate) cause_of_maximum: String,
}

/// Adds a plot of percentiles with this caption to a chapter, and a table of averages, percentiles and
/// maxima.
pub(crate) fn add(
    chapter: Chapter,
    title: &str,
    caption: &str,
    distributions: &[Distribution<'_>],
) -> Chapter {
    let figure = Figure::new(title)
        .caption(caption)
        .tail()
        .y("latency (µs)")
        .y_log();
    let figure = distributions.iter().fold(figure, |figure, one| {
        figure.line(one.name.as_str(), one.latencies.curve())
    });
    let rows: Vec<_> = distributions.iter().map(row).collect();
    let table = Table::of(rows.iter().filter_map(|row| row.as_object())).columns(COLUMNS);
    chapter.figure(figure).table(table.title(title))
}

fn row(one: &Distribution<'_>) -> serde_json::Value {
    let summary = one.latencies.summary();
    json!({
        "what": one.name, "count": one.latencies.count(), "mean_us": summary.mean_us,
        "jitter_us": summary.jitter_us, "p50_us": summary.p50_us, "p99_us": summary.p99_us,
        "p999_us": summary.p999_us, "max_us": summary.max_us,
        "cause": one.cause_of_maximum,
    })
}

const COLUMNS: &[(&str, &str)] = &[
    ("what", ""),
    ("count", "count"),
    ("mean_us", "average (µs)"),
    ("jitter_us", "jitter (µs)"),
    ("p50_us", "p50 (µs)"),
    ("p99_us", "p99 (µs)"),
    ("p999_us", "p99.9 (µs)"),
    ("max_us", "maximum (µs)"),
    ("cause", "cause of maximum"),
];
