//! The chapter, with figures 7 and 8 redrawn.

use punctual_harness::{Outcome, Row};
use punctual_report::{Chapter, Figure, Table};

use super::{
    CASES, Case, HEADING, LOAD, Named, Ran,
    counts::{Counts, Sample},
};
use crate::rows::is_kind;

pub(super) fn chapter(outcome: &Outcome, ran: &[Ran]) -> Chapter {
    // Of both places, where both were run.
    let holds = |ids: &[&str]| {
        let claims = || {
            let meant = |id: &str| ids.iter().any(|end| id.ends_with(end));
            outcome.claims().iter().filter(move |claim| meant(&claim.id))
        };
        claims().next()?;
        Some(claims().all(|claim| claim.holds))
    };
    let rows = outcome.rows().iter().filter(|row| is_kind(row, "total"));
    let chapter = Chapter::new(HEADING)
        .paragraph(format!(
            "Seventy operations at 1 to 40 Hz, nearly half of them critical, need {LOAD} times the \
             processor. Each arrival is a \
             distributable thread with the next arrival as its deadline. With cancellation, an operation \
             that is not critical is \
             given up when its turn comes too late for what it takes. The same operations run in virtual \
             time and as threads on one \
             processor; a sample is a second."
        ))
        .paragraph(
            "The paper does not say what its operations take. These were chosen so that what it describes \
             can be seen: \
             docs/simulation.md says what else was tried, and what other loads come to. In \
             virtual time arrivals queue under MUF and RMS, as events do; otherwise, and live, one that \
             finds the one before it still there is \
             dropped.",
        )
        .paragraph(
            "EDF by SCHED_DEADLINE: live, the kernel dispatches, in a cpuset of its own with this processor \
             alone, for it refuses pinned \
             threads elsewhere. Each operation has one reservation for all its arrivals, of what it is said \
             to take and of its period. \
             What would go beyond what real-time threads may have is not admitted, and none of its arrivals \
             is dispatched.",
        )
        .paper(
            "[Gill 2004] 3.2",
            "MUF met all critical deadlines",
            holds(&["muf.critical"]),
        )
        .paper(
            "[Gill 2004] 3.2",
            FIGURE_7,
            holds(&["muf.wasted", "muf.made", "muf.not-more"]),
        )
        .paper(
            "[Gill 2004] 3.2",
            "RMS missed 2 to 6 critical operations per \
                                   sample",
            holds(&["rms.critical"]),
        )
        .paper(
            "[Gill 2004] 3.2",
            "cancelling made matters worse with RMS: 6 to 7 critical misses per sample",
            holds(&["rms.not-fewer"]),
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

const FIGURE_7: &str = "cancellation limits the operations that are dispatched and then miss, and the number \
                        made stays comparable";

const COLUMNS: &[(&str, &str)] = &[
    ("place", "where"),
    ("scheduler", "scheduler"),
    ("cancellation", "cancellation"),
    ("critical_made", "critical made"),
    ("critical_dispatched_and_missed", "dispatched, missed"),
    ("critical_never_dispatched", "never dispatched"),
    ("critical_missed_outside_holes", "missed outside holes"),
    ("other_made", "others made"),
    ("other_dispatched_and_missed", "dispatched, missed"),
    ("other_cancelled", "cancelled"),
    ("other_never_dispatched", "never dispatched"),
    ("utility_percent", "utility (%)"),
    ("holes_ms", "holes (ms)"),
    ("operations_not_admitted", "operations not admitted"),
];

fn find(ran: &[Ran], live: bool, case: Case) -> Option<&Ran> {
    ran.iter().find(|ran| ran.live == live && ran.case == case)
}

fn place(live: bool) -> &'static str {
    if live { "live" } else { "simulated" }
}

/// A count over the samples.
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
        "Operations that are not critical, in each second: how many were made, how many were dispatched \
             and missed all the same, \
             and how many were cancelled instead. [Gill 2004] figure 7.",
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
                format!("made, {how} cancellation"),
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
            "Operations in a second, on average: critical ones made and missed, others made and missed. \
             Missed are those that were \
             dispatched too late or never. [Gill 2004] figure 8.",
        )
        .names(ran.iter().map(|ran| ran.case.name()))
        .y("operations per second")
        .bars(
            "critical, made",
            bars(|counts| counts.made, |sample| sample.critical),
        )
        .bars(
            "critical, missed",
            bars(|counts| counts.all_missed(), |sample| sample.critical),
        )
        .bars("others, made", bars(|counts| counts.made, |sample| sample.other))
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
            "The utility of the operations made, as a share of that of all: a critical one is worth ten \
                  others.",
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
