//! The chapter of `dyn.tss`.

use punctual_harness::{Outcome, Row};
use punctual_report::{Chapter, Figure, Table};

use super::{
    access::{LIMIT, Operation, PAPER, Storage},
    creation::{self, Creation},
    find,
};

/// Creates the chapter of the report.
pub(super) fn chapter(outcome: &Outcome, creations: &[Creation]) -> Chapter {
    let table = |name| Table::of(find(outcome, name).map(Row::as_map));
    Chapter::new("Storage of distributable threads")
        .paragraph(
            "The storage of a distributable thread is associated with its id, regardless of which system \
             thread runs it when it returns to a host. The runtime attaches the storage when the thread \
             arrives, so an access needs no lookup by id. Blocks alternate, in several consecutive \
             processes, because addresses affect the results; ratios are medians over the rounds, with their \
             95 % confidence intervals. Accesses are timed in batches of a thousand, because one is shorter \
             than reading the clock; minimum and maximum are those of batches. The paper's figures are of \
             single accesses on a computer of 2003: its emulation takes 9.7 times as long as the system for \
             reads, and 16.7 times for writes.",
        )
        .table(
            table("access")
                .title("Reads and writes ([Gill 2004] table 4)")
                .columns(&[
                    ("operation", "operation"),
                    ("what", "storage"),
                    ("mean_ns", "mean (ns)"),
                    ("min_ns", "min (ns)"),
                    ("max_ns", "max (ns)"),
                    ("ratio", "× POSIX"),
                    ("ratio_low", "from"),
                    ("ratio_high", "to"),
                ]),
        )
        .figure(ratios(outcome))
        .table(table("keys").title("One key among many").columns(&[
            ("operation", "operation"),
            ("keys", "keys"),
            ("p50_ns", "p50 (ns)"),
            ("ratio", "× one key"),
            ("ratio_low", "from"),
            ("ratio_high", "to"),
        ]))
        .figure(over_keys(outcome))
        .table(
            table("creation")
                .title("Creation of keys ([Gill 2004] table 3)")
                .columns(&[
                    ("what", "keys of"),
                    ("keys", "number"),
                    ("slope_ns_per_key", "slope (ns/key)"),
                    ("intercept_ns", "y-intercept (ns)"),
                    ("p50_ns", "p50 (ns)"),
                    ("max_ns", "max (ns)"),
                ]),
        )
        .figure(making(creations))
        .note(
            "The GNU C library has 1,024 keys per process, and searches them for a free one. Punctual's keys \
             come from a free list; memory is allocated for 64 keys at a time. Lines are fitted by least \
             squares to the medians of 50 keys each.",
        )
}

fn ratios(outcome: &Outcome) -> Figure {
    let ratio_of = |what: &str| {
        let rows = find(outcome, "access")
            .filter(|row| row.get("what").and_then(|name| name.as_str()) == Some(what));
        rows.map(|row| row.number("ratio").unwrap_or(f64::NAN))
            .collect::<Vec<_>>()
    };
    let storages = Storage::ALL
        .into_iter()
        .filter(|storage| *storage != Storage::Posix);
    let figure = Figure::new("Storage of distributable threads compared with the system's own")
        .caption(
            "The paper's emulation looks up the thread's id; Punctual attaches the storage while the thread \
             runs.",
        )
        .y("× POSIX")
        .y_log()
        .names(Operation::ALL.map(Operation::name));
    let figure = storages.fold(figure, |figure, storage| {
        figure.bars(storage.name(), ratio_of(storage.name()))
    });
    figure
        .published_bars(PAPER[0].0, ratio_of(PAPER[0].0))
        .limit("limit", LIMIT)
}

fn over_keys(outcome: &Outcome) -> Figure {
    let points = |operation: Operation| {
        let rows = find(outcome, "keys");
        let of_operation = rows
            .filter(move |row| row.get("operation").and_then(|name| name.as_str()) == Some(operation.name()));
        of_operation.filter_map(|row| Some((row.number("keys")?, row.number("p50_ns")?)))
    };
    let figure = Figure::new("Time of an access by number of keys")
        .caption("Every key has a value; the last one is accessed.")
        .x("keys")
        .x_log()
        .y("one access (ns)");
    Operation::ALL.into_iter().fold(figure, |figure, operation| {
        figure.line(operation.name(), points(operation))
    })
}

fn making(creations: &[Creation]) -> Figure {
    let figure = Figure::new("Time to create a key by number of existing keys")
        .caption("Shows [Gill 2004] table 3 as the lines that it describes.")
        .x("existing keys")
        .y("creation of one more (ns)")
        .y_log();
    let figure = creations.iter().fold(figure, |figure, creation| {
        figure.line(creation.maker.name(), creation.curve())
    });
    creation::PAPER
        .into_iter()
        .fold(figure, |figure, (name, slope, intercept)| {
            figure.published(name, [0.0, 500.0].map(|keys| (keys, intercept + slope * keys)))
        })
}
