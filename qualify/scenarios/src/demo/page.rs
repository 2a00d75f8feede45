use punctual_harness::{Outcome, Row};
use punctual_report::{LineFigure, Series, Table};

use crate::{
    Error,
    load::{Importance, Pool},
};

const COLUMNS: &[(&str, &str)] = &[
    ("pool", "pool"),
    ("work", "work"),
    ("priority", "priority"),
    ("asked_hz", "asked (Hz)"),
    ("achieved_hz", "achieved (Hz)"),
    ("deadlines_made_percent", "deadlines made (%)"),
    ("deadlines_lost_to_kernel_percent", "lost to the kernel (%)"),
];

fn table(outcome: &Outcome) -> Table {
    Table::of(outcome.rows().iter().map(Row::as_map)).columns(COLUMNS)
}

pub(super) fn print(outcome: &Outcome) {
    println!("{}", table(outcome).to_text());
}

/// The page with the paper's two figures: throughput per priority against work.
pub(super) fn html(outcome: &Outcome) -> Result<String, Error> {
    let mut page = crate::report::page("Why lanes matter: the demo", outcome)?
        .section("Throughput against work")
        .paragraph(
            "Three clients call at 75, 50 and 25 Hz; the load is such that work 30 keeps the one processor just busy. What \
             does not fit any more should be the least important.",
        );
    for pool in Pool::ALL {
        page = page.figure(figure(outcome, pool))?;
    }
    Ok(page.section("Every number").table(&table(outcome)).to_html())
}

fn figure(outcome: &Outcome, pool: Pool) -> LineFigure {
    let (title, caption) = match pool {
        Pool::Classic => (
            "Classic pool",
            "Three threads at one priority, requests in order of arrival: the 75 Hz client loses first. [S2] figure 15.",
        ),
        Pool::Lanes => (
            "Lanes",
            "One thread for each priority: the 75 Hz client keeps its rate, the others yield. [S2] figure 17.",
        ),
    };
    let series = Importance::ALL.map(|importance| {
        let rows = outcome.rows().iter().filter(|row| {
            row.get("pool").is_some_and(|name| name == pool.name())
                && row.get("priority").is_some_and(|name| name == importance.name())
        });
        Series {
            name: format!("{} priority, {} Hz", importance.name(), importance.rate()),
            points: rows
                .filter_map(|row| Some((row.number("work")?, row.number("achieved_hz")?)))
                .collect(),
        }
    });
    LineFigure {
        title: title.into(),
        caption: caption.into(),
        x_label: "work per call (30: 150 calls/s are all the processor can do)".into(),
        y_label: "calls per second".into(),
        series: series.into(),
    }
}
