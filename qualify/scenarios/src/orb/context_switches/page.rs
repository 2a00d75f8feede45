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

/// "Little" in the paper's conclusion, read as at most a quarter.
const LITTLE_PERCENT: f64 = 25.0;

pub(super) fn chapter(outcome: &Outcome) -> Chapter {
    let rows = |kind: &'static str| outcome.rows().iter().filter(move |row| is_kind(row, kind));
    let share = rows("share").find_map(|row| row.number("share_percent"));
    let figure = Figure::new("Context switches for each request")
        .caption(
            "[Levine 1999]: VxWorks soon comes to one for each request, Solaris hardly varies, Windows NT \
             takes the most. One CPU, where \
             client, server and client again have to run one after the other: two are the fewest.",
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
            "One client calls 20 times a second, each further one 10 times, on one processor. Counted by the \
             kernel for the threads \
             of clients and server; what a client's pause between two calls takes is left out. Clients that \
             wake together share \
             switches: a lane that is preempted, or that finds the next request when it is done, makes one \
             for two.",
        )
        .paper(
            "[Schmidt 2002] 4",
            "context switches contribute little (read here as: at most a quarter) to the latency of a \
             two-way call",
            share
                .filter(|_| outcome.machine().is_realtime())
                .map(|share| share <= LITTLE_PERCENT),
        )
        .figure(figure)
        .rows_of_kind(
            outcome,
            "curve",
            CURVE_COLUMNS,
            "Context switches for each request",
        )
        .rows_of_kind(
            outcome,
            "share",
            SHARE_COLUMNS,
            "Their share of one call: one client without pauses, \
                                                        one switch by the yield test (its system call \
                                                        included)",
        )
}
