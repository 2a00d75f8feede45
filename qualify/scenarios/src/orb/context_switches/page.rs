//! The chapter of `orb.context-switches`.

use punctual_harness::{Outcome, Row};
use punctual_report::{Chapter, Figure};

use super::{super::tables::WithTable, POOLS};
use crate::rows::is_kind;

const CURVE_COLUMNS: &[(&str, &str)] = &[
    ("pool", "pool"),
    ("clients", "clients"),
    ("calls", "calls"),
    ("client_switches_per_request", "client"),
    ("server_switches_per_request", "server"),
    ("switches_per_request", "both"),
    ("switches_per_request_with_pauses", "with pauses"),
];

const SHARE_COLUMNS: &[(&str, &str)] = &[
    ("switches_per_request", "switches per call"),
    ("switch_us", "one switch (µs)"),
    ("p50_us", "p50 of a call (µs)"),
    ("share_percent", "share (%)"),
];

/// "Little" in the paper's conclusion, interpreted as at most a quarter.
const LITTLE_PERCENT: f64 = 25.0;

/// Creates the chapter of the report.
pub(super) fn chapter(outcome: &Outcome) -> Chapter {
    let rows = |kind: &'static str| outcome.rows().iter().filter(move |row| is_kind(row, kind));
    let share = rows("share").find_map(|row| row.number("share_percent"));
    let figure = Figure::new("Context switches per request")
        .caption(
            "[Levine 1999]: VxWorks approaches one per request, Solaris hardly varies, and Windows NT needs \
             the most. On one CPU, client, server and client must run one after the other, so the minimum is \
             two.",
        )
        .x("number of clients")
        .y("context switches per request");
    let figure = POOLS.into_iter().fold(figure, |figure, pool| {
        let of_pool = |row: &&Row| row.get("pool").is_some_and(|name| name == pool);
        let point = |row: &Row| Some((row.number("clients")?, row.number("switches_per_request")?));
        figure.line(pool, rows("curve").filter(of_pool).filter_map(point))
    });
    Chapter::new("Context switches of a call")
        .paragraph(
            "One client calls 20 times per second and each other one 10 times, on one processor. The kernel \
             counts switches of the threads of clients and server; those of a client's pauses between calls \
             are excluded. Clients that wake at the same time share switches: a lane that is preempted, or \
             that finds the next request when it finishes one, needs one switch for two requests.",
        )
        .paper(
            "[Schmidt 2002] 4",
            "context switches contribute little (interpreted as at most a quarter) to the latency of a \
             two-way call",
            share
                .filter(|_| outcome.machine().is_realtime())
                .map(|share| share <= LITTLE_PERCENT),
        )
        .figure(figure)
        .rows_of_kind(outcome, "curve", CURVE_COLUMNS, "Context switches per request")
        .rows_of_kind(
            outcome,
            "share",
            SHARE_COLUMNS,
            "Share of one call: one continuous client; time of a switch from the yield test, including its \
             system call",
        )
}
