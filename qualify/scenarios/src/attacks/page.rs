//! Rows, and the chapter of the report.

use punctual_harness::{Outcome, Row};
use punctual_report::{Chapter, Figure, Table};

use super::{
    CALLS_PER_SECOND, LANES,
    observed::{Comparison, Observed},
};
use crate::rows::is_kind;

/// Adds a row for each lane, alone and attacked, and one for the server.
pub(super) fn rows(comparison: &Comparison, outcome: &mut Outcome) {
    let attack = comparison.attack;
    let front = |kind: &str| {
        Row::new()
            .with("kind", kind)
            .with("attack", attack.name)
            .with("attacked_lane", LANES[attack.lane].name)
    };
    for (number, lane) in LANES.iter().enumerate() {
        for (phase, observed) in [("alone", &*comparison.alone), ("attacked", &comparison.attacked)] {
            let client = &observed.lanes[number];
            let row = front("lane").with("lane", lane.name).with("phase", phase);
            let row = row
                .with("calls_per_second", client.made() * f64::from(CALLS_PER_SECOND))
                .with("failed", client.failed)
                .with_fields(&client.latencies.summary())
                .with("newcomers", client.newcomers.arrived)
                .with("newcomers_served_percent", 100.0 * client.newcomers_served());
            outcome.row(row);
        }
    }
    let Observed {
        operations,
        attacked_s,
        memory,
        recovery,
        lost,
        ..
    } = &comparison.attacked;
    let row = front("server")
        .with("operations_per_second", *operations as f64 / attacked_s)
        .with("resident_before_kib", memory.before)
        .with("resident_highest_kib", memory.highest)
        .with("resident_after_kib", memory.after)
        .with("recovery_ms", recovery.as_secs_f64() * 1e3)
        .with("lost", lost.as_deref().unwrap_or(""));
    outcome.row(row);
}

const LANE_COLUMNS: &[(&str, &str)] = &[
    ("attack", "attack"),
    ("attacked_lane", "on"),
    ("lane", "lane"),
    ("phase", ""),
    ("calls_per_second", "calls/s"),
    ("failed", "failed"),
    ("p50_us", "p50 (µs)"),
    ("p99_us", "p99 (µs)"),
    ("p999_us", "p99.9 (µs)"),
    ("newcomers_served_percent", "newcomers served (%)"),
];

const SERVER_COLUMNS: &[(&str, &str)] = &[
    ("attack", "attack"),
    ("attacked_lane", "on"),
    ("operations_per_second", "attackers' operations/s"),
    ("resident_before_kib", "resident before (KiB)"),
    ("resident_highest_kib", "highest (KiB)"),
    ("resident_after_kib", "after (KiB)"),
    ("recovery_ms", "served again after (ms)"),
    ("lost", "lost"),
];

/// Creates the chapter of the report.
pub(super) fn chapter(outcome: &Outcome, comparisons: &[Comparison]) -> Chapter {
    let table = |kind: &str, columns: &[(&str, &str)], title: &str| {
        let rows = outcome.rows().iter().filter(|row| is_kind(row, kind));
        Table::of(rows.map(Row::as_map)).columns(columns).title(title)
    };
    Chapter::new("Attacks on one lane")
        .paragraph(format!(
            "A server with three lanes and the client of each lane, which calls {CALLS_PER_SECOND} times per \
             second, share one processor; newcomers connect to each lane, call once, and leave. Attackers on \
             another processor attack one lane. Blocks alone and under attack alternate; each attack is \
             compared with all blocks alone. Latencies include the calls that could not be made in time."
        ))
        .figure(figure(comparisons))
        .table(table("lane", LANE_COLUMNS, "Lanes"))
        .table(table("server", SERVER_COLUMNS, "Server"))
}

fn figure(comparisons: &[Comparison]) -> Figure {
    let names = comparisons.iter().map(|comparison| comparison.attack.name);
    let figure = Figure::new("Calls kept under attack")
        .caption("Of the calls alone; lanes above the attacked one must keep 95 %, the others half of them.")
        .names(names)
        .y("%");
    LANES.iter().enumerate().fold(figure, |figure, (number, lane)| {
        let kept = comparisons
            .iter()
            .map(|comparison| 100.0 * comparison.kept(number));
        figure.bars(lane.name, kept)
    })
}
