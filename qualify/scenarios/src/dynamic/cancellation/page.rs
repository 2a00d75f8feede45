//! The chapter of `dyn.cancellation`, with figures 7 and 8.

use punctual_harness::{Outcome, Row};
use punctual_report::{Chapter, Figure, Table};

use super::{
    CASES, Case, HEADING, Named, Ran,
    counts::{Counts, Sample},
};
use crate::{rows::is_kind, studies::FlightProgram};

/// Creates the chapter of the report.
pub(super) fn chapter(outcome: &Outcome, ran: &[Ran]) -> Chapter {
    let load = FlightProgram::load_of_the_paper();
    let rows = outcome.rows().iter().filter(|row| is_kind(row, "total"));
    let chapter = Chapter::new(HEADING)
        .paragraph(format!(
            "Seventy operations at 1 to 40 Hz, nearly half of them critical, use {load:.3} times the \
             processor. Each arrival is a distributable thread with the next arrival as its deadline. With \
             cancellation, a non-critical operation is cancelled if it is dispatched too late to complete in \
             time. The same operations run in virtual time and as threads on one processor; a sample is one \
             second."
        ))
        .paragraph(
            "The paper states neither execution times nor the load. The load follows from its text: the work \
             that exceeds a sample is that of four critical operations of the lowest rate, the middle of \
             \"between 2 and 6\" that RMS missed. Execution times are ours; docs/simulation.md lists other \
             loads. Arrivals queue under MUF and RMS, live and in virtual time, as events do. Live execution \
             times contain the cost of an arrival on this machine, which is measured before each run.",
        )
        .paragraph(
            "EDF by SCHED_DEADLINE: live, the kernel dispatches, in an exclusive cpuset with this processor, \
             because it refuses pinned threads elsewhere. Each operation has one reservation for all its \
             arrivals, with its stated execution time and its period. Operations beyond the bandwidth of \
             real-time threads are not admitted, and none of their arrivals is dispatched.",
        )
        .table(
            Table::of(rows.map(Row::as_map))
                .columns(COLUMNS)
                .title("All samples"),
        );
    let chapter = [true, false].into_iter().fold(chapter, |chapter, live| {
        if !ran.iter().any(|ran| ran.live == live) {
            return chapter;
        }
        chapter.figure(figure_7(ran, live)).figure(figure_8(ran, live))
    });
    chapter.figure(utility(ran))
}

const COLUMNS: &[(&str, &str)] = &[
    ("place", "place"),
    ("scheduler", "scheduler"),
    ("cancellation", "cancellation"),
    ("critical_made", "critical in time"),
    ("critical_dispatched_and_missed", "dispatched, missed"),
    ("critical_never_dispatched", "never dispatched"),
    ("critical_missed_outside_holes", "missed outside holes"),
    ("other_made", "others in time"),
    ("other_dispatched_and_missed", "dispatched, missed"),
    ("other_cancelled", "cancelled"),
    ("other_never_dispatched", "never dispatched"),
    ("utility_percent", "utility (%)"),
    ("holes_ms", "holes (ms)"),
    ("cost_us", "cost of an arrival (µs)"),
    ("operations_not_admitted", "operations not admitted"),
];

fn find(ran: &[Ran], live: bool, case: Case) -> Option<&Ran> {
    ran.iter().find(|ran| ran.live == live && ran.case == case)
}

fn place(live: bool) -> &'static str {
    if live { "live" } else { "simulated" }
}

/// Returns a count over the samples.
fn curve(ran: &Ran, count: impl Fn(&Sample) -> u32) -> Vec<(f64, f64)> {
    let samples = ran.samples.iter().enumerate();
    samples
        .map(|(number, sample)| (number as f64, f64::from(count(sample))))
        .collect()
}

fn figure_7(ran: &[Ran], live: bool) -> Figure {
    let figure = Figure::new(format!(
        "Effects of cancelling other operations, MUF, {}",
        place(live)
    ))
    .caption(
        "Non-critical operations per second: those in time, those dispatched that missed their deadlines, \
         and those cancelled. [Gill 2004] figure 7.",
    )
    .x("sample")
    .y("operations");
    let cases = [(CASES[0], "without"), (CASES[1], "with")];
    cases.into_iter().fold(figure, |figure, (case, how)| {
        let Some(ran) = find(ran, live, case) else {
            return figure;
        };
        let figure = figure
            .line(
                format!("in time, {how} cancellation"),
                curve(ran, |sample| sample.other.made),
            )
            .line(
                format!("dispatched and missed, {how} cancellation"),
                curve(ran, |sample| sample.other.missed),
            );
        match case.cancels {
            true => figure.line("cancelled", curve(ran, |sample| sample.other.cancelled)),
            false => figure,
        }
    })
}

fn figure_8(ran: &[Ran], live: bool) -> Figure {
    let cases = CASES
        .into_iter()
        .filter(|case| [Named::Muf, Named::Rms].contains(&case.scheduler));
    let ran: Vec<&Ran> = cases.filter_map(|case| find(ran, live, case)).collect();
    let bars = |count: fn(&Counts) -> u32, of: fn(&Sample) -> Counts| -> Vec<f64> {
        let mean = |ran: &&Ran| f64::from(count(&of(&ran.total()))) / ran.samples.len() as f64;
        ran.iter().map(mean).collect()
    };
    Figure::new(format!("Effects of cancellation under overload, {}", place(live)))
        .caption(
            "Average numbers of operations per second, in time and missed. Missed operations were dispatched \
             too late or never. [Gill 2004] figure 8.",
        )
        .names(ran.iter().map(|ran| ran.case.name()))
        .y("operations per second")
        .bars(
            "critical, in time",
            bars(|counts| counts.made, |sample| sample.critical),
        )
        .bars(
            "critical, missed",
            bars(|counts| counts.all_missed(), |sample| sample.critical),
        )
        .bars(
            "others, in time",
            bars(|counts| counts.made, |sample| sample.other),
        )
        .bars(
            "others, missed",
            bars(|counts| counts.all_missed(), |sample| sample.other),
        )
}

fn utility(ran: &[Ran]) -> Figure {
    let places = [false, true]
        .into_iter()
        .filter(|live| ran.iter().any(|ran| ran.live == *live));
    let figure = Figure::new("Accrued utility under overload")
        .caption(
            "Utility of the operations in time, as a share of that of all; the utility of a critical \
             operation is ten times that of another one.",
        )
        .names(CASES.map(Case::name))
        .y("utility accrued (%)");
    places.fold(figure, |figure, live| {
        let share = |case| {
            let ran = find(ran, live, case);
            ran.map_or(f64::NAN, |ran| 100.0 * ran.utility as f64 / ran.offered as f64)
        };
        figure.bars(place(live), CASES.map(share))
    })
}
