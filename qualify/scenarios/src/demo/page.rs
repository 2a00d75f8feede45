//! The demo's page.

use punctual_harness::{Outcome, Row};
use punctual_report::{LineFigure, Series, Table};

use crate::{
    error::Error,
    load::{Importance, Pool},
    report::{page, with_machine},
};

const COLUMNS: &[(&str, &str)] = &[
    ("pool", "pool"),
    ("work", "work"),
    ("priority", "priority"),
    ("asked_hz", "requested (Hz)"),
    ("achieved_hz", "achieved (Hz)"),
    ("deadlines_made_percent", "deadlines met (%)"),
    ("deadlines_lost_to_kernel_percent", "lost to the kernel (%)"),
];

fn table(outcome: &Outcome) -> Table {
    Table::of(outcome.rows().iter().map(Row::as_map)).columns(COLUMNS)
}

/// Returns the page with the paper's two figures: throughput per priority over work.
pub(super) fn html(outcome: &Outcome) -> Result<String, Error> {
    let mut page = page("Why lanes matter: the demo", outcome)
        .section("Throughput over work")
        .paragraph(
            "Three clients call at 75, 50 and 25 Hz. The load is calibrated so that work 30 just uses the \
             whole \
             processor. Beyond that, the least important calls should be lost first.",
        );
    for pool in Pool::ALL {
        page = page.figure(figure(outcome, pool))?;
    }
    let page = page.section("All numbers").table(&table(outcome));
    Ok(with_machine(page, outcome)?.to_html())
}

fn figure(outcome: &Outcome, pool: Pool) -> LineFigure {
    let caption = match pool {
        Pool::WithoutLanes => {
            "Three threads at one priority, requests in order of arrival: the 75 Hz client loses calls \
             first. \
             [Pyarali 2002] figure 15."
        }
        Pool::Lanes => {
            "One thread per priority: the 75 Hz client keeps its rate, the others lose calls. [Pyarali 2002] \
             figure 17."
        }
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
        title: pool.heading().into(),
        caption: caption.into(),
        x_label: "work per call (30: the processor can do 150 calls/s)".into(),
        y_label: "calls per second".into(),
        series: series.into(),
    }
}
