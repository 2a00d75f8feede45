//! Results of a trace: tables of waits for something less important, and the timeline.

use std::path::Path;

use punctual_harness::{Outcome, Row, output_file::OutputFile};
use punctual_report::Table;
use punctual_trace::{Analysis, Names, Recorded, perfetto};

use crate::{error::Error, rows::is_kind};

/// The number of rows that a table shows.
const SHOWN: usize = 12;

/// Writes a timeline and prints its path.
pub(crate) fn write_timeline(
    file: &Path,
    recorded: &Recorded,
    analysis: &Analysis,
    names: &Names,
) -> Result<(), Error> {
    let mut output = OutputFile::create(file)?;
    perfetto::write_timeline(recorded, analysis, names, &mut output)
        .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    output.finish()?;
    println!(
        "Timeline: {} (open it at https://ui.perfetto.dev)",
        file.display()
    );
    Ok(())
}

const SUMMARY_COLUMNS: &[(&str, &str)] = &[
    ("waited", "waited"),
    ("level", "level"),
    ("as", "as"),
    ("for", "mostly for"),
    ("for_level", "level"),
    ("count", "count"),
    ("over_limit", "over limit"),
    ("longest_us", "longest (µs)"),
    ("total_ms", "total (ms)"),
];

const INTERVAL_COLUMNS: &[(&str, &str)] = &[
    ("start_s", "at (s)"),
    ("length_us", "length (µs)"),
    ("cpu", "CPU"),
    ("waited", "waited"),
    ("level", "level"),
    ("as", "as"),
    ("request", "request"),
    ("for", "for"),
];

const HOLE_COLUMNS: &[(&str, &str)] = &[
    ("start_s", "at (s)"),
    ("length_us", "length (µs)"),
    ("cpu", "CPU"),
    ("source", "what the CPU did"),
];

const DISTRIBUTABLE_COLUMNS: &[(&str, &str)] = &[
    ("id", "id (lower half)"),
    ("name", "first segment"),
    ("start_s", "at (s)"),
    ("length_ms", "length (ms)"),
    ("processes", "processes"),
    ("segments", "segments"),
    ("calls", "calls"),
    ("running_ms", "running (ms)"),
    ("suspended_ms", "suspended (ms)"),
];

/// Returns the tables of a trace's wanted rows, with their titles.
pub(crate) fn tables(outcome: &Outcome, wanted: impl Fn(&Row) -> bool) -> Vec<(&'static str, Table)> {
    let kinds = [
        (
            "Distributable threads",
            "distributable thread",
            DISTRIBUTABLE_COLUMNS,
        ),
        ("Waited for something less important", "summary", SUMMARY_COLUMNS),
        ("The longest waits", "interval", INTERVAL_COLUMNS),
        (
            "The longest holes: CPU taken by kernel or host",
            "hole",
            HOLE_COLUMNS,
        ),
    ];
    let of_kind = |(title, kind, columns): (&'static str, &str, &[(&str, &str)])| {
        let rows = outcome
            .rows()
            .iter()
            .filter(|row| is_kind(row, kind) && wanted(row));
        let rows: Vec<_> = rows.map(Row::as_map).take(SHOWN).collect();
        (!rows.is_empty()).then(|| (title, Table::of(rows).columns(columns)))
    };
    kinds.into_iter().filter_map(of_kind).collect()
}
