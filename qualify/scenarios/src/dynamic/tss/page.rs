//! The chapter.

use punctual_harness::{Outcome, Row};
use punctual_report::{Chapter, Figure, Table};

use super::{
    access::{LIMIT, Operation, PAPER, Storage},
    creation::{self, Creation},
    find,
};

pub(super) fn chapter(outcome: &Outcome, creations: &[Creation]) -> Chapter {
    let table = |name| Table::of(find(outcome, name).map(Row::as_map));
    Chapter::new("Storage of distributable threads")
        .paragraph(
            "What a distributable thread stores is found by its id, wherever it returns to a host, whatever \
             thread of the system runs it. \
             The runtime attaches a thread's storage when the thread comes, so reading goes to the storage \
             directly and looks for no \
             id. Blocks alternate, in several processes one after the other, because where memory lies makes \
             a difference; ratios are medians over the rounds, with their 95 % confidence intervals. \
             Accesses are timed in batches \
             of a thousand: one alone is shorter than reading the clock, so the shortest and the longest are \
             those of batches. The \
             paper's figures are of single accesses, on a computer of 2003: its emulation reads in 9.7 and \
             writes in 16.7 times what the system takes.",
        )
        .paper(
            "[Gill 2004] 3.1",
            "what reading and writing cost does not grow",
            holds(outcome, &["read-keys", "write-keys"]),
        )
        .table(
            table("access")
                .title("Reading and writing (table 4 of [Gill 2004])")
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
                .title("Making keys (table 3 of [Gill 2004])")
                .columns(&[
                    ("what", "keys of"),
                    ("keys", "how many"),
                    ("slope_ns_per_key", "slope (ns/key)"),
                    ("intercept_ns", "y-intercept (ns)"),
                    ("p50_ns", "p50 (ns)"),
                    ("max_ns", "max (ns)"),
                ]),
        )
        .figure(making(creations))
        .note(
            "The GNU C library has 1,024 keys for each process, and looks through them for a free one. Ours \
             come from a list of free \
             places; every 64th that is made for the first time makes memory for 64. Lines are fitted by \
             least squares to the medians \
             of 50 keys each.",
        )
}

/// Whether all of these claims hold; `None` where one is missing.
fn holds(outcome: &Outcome, claims: &[&str]) -> Option<bool> {
    let find = |id: &&str| outcome.claims().iter().find(|claim| claim.id == *id);
    let found: Option<Vec<_>> = claims.iter().map(find).collect();
    Some(found?.iter().all(|claim| claim.holds))
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
    let figure = Figure::new("Storage of distributable threads against the system's own")
        .caption(
            "The paper's emulation looks the thread's id up; ours has the storage at hand while the \
                  thread runs.",
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
    let figure = Figure::new("An access, by how many keys there are")
        .caption("Every key has a value; the last one is read and written.")
        .x("keys")
        .x_log()
        .y("one access (ns)");
    Operation::ALL.into_iter().fold(figure, |figure, operation| {
        figure.line(operation.name(), points(operation))
    })
}

fn making(creations: &[Creation]) -> Figure {
    let figure = Figure::new("Making a key, by how many there are")
        .caption("Redraws table 3 of [Gill 2004] as the lines that it describes.")
        .x("keys that are there")
        .y("making one more (ns)")
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
