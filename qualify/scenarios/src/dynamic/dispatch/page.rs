//! The chapter of `dyn.dispatch`.

use punctual_harness::{Outcome, Row};
use punctual_report::{Chapter, Figure, Table};
use serde_json::Value;

use super::{Dispatched, HEADING, PAPERS, Schedule};
use crate::rows::is_kind;

/// Creates the chapter of the report.
pub(super) fn chapter(outcome: &Outcome, dispatched: &[Dispatched]) -> Chapter {
    let rows = outcome.rows().iter().filter(|row| is_kind(row, "schedule"));
    let chapter = Chapter::new(HEADING)
        .paragraph(
            "Five distributable threads work for several units of time: DT1 and DT2 start on host 1, \
             continue on host 2, and return; DT3 runs on host 1, DT4 and DT5 on host 2. Each host is a \
             process with its own processor. The threads themselves record when they run, so the order of \
             suspensions and resumptions is observed independently of the scheduler. The same model runs in \
             virtual time with the same schedulers.",
        )
        .paragraph(
            "The unit of time is the paper's second. DT3 and DT5 start a tenth of it late, so that DT2 has \
             sent its call when DT3 arrives. Holes, in which the kernel or the host lets no thread run, \
             count as work; switches do not, so they delay what follows, as in the paper. Live \
             and simulated, a host that decides by laxity or remaining work (MLF, MUF, RMS+MLF, MAU) \
             considers the work that a thread has done there and its remaining work on arrival.",
        )
        .table(
            Table::of(rows.map(Row::as_map))
                .columns(SCHEDULES)
                .title("Live and simulated, by scheduler"),
        );
    let chapter = PAPERS.into_iter().fold(chapter, |chapter, scheduler| {
        let of = |row: &&Row| {
            is_kind(row, "event") && row.get("scheduler") == Some(&Value::from(scheduler.name()))
        };
        let rows = outcome.rows().iter().filter(of).map(Row::as_map);
        let title = format!("{}: every suspension and resumption", scheduler.name());
        chapter.table(Table::of(rows).columns(EVENTS).title(title))
    });
    dispatched
        .iter()
        .fold(chapter, |chapter, one| chapter.figure(figure(one)))
}

const SCHEDULES: &[(&str, &str)] = &[
    ("scheduler", "scheduler"),
    ("unit_ms", "unit (ms)"),
    ("events", "events"),
    ("simulated_other_than_paper", "simulated ≠ paper"),
    ("live_other_than_simulated", "live ≠ simulated"),
    ("largest_deviation_ms", "largest deviation (ms)"),
    ("last_switch_us", "last switch on host 1 (µs)"),
    ("holes", "holes"),
    ("holes_ms", "holes (ms)"),
    ("first_difference", "first difference"),
];

const EVENTS: &[(&str, &str)] = &[
    ("thread", "thread"),
    ("host", "host"),
    ("event", "event"),
    ("paper_units", "paper (s)"),
    ("simulated_units", "simulated (units)"),
    ("live_units", "live (units)"),
];

/// The height of a line while its thread runs on host 1; on host 2 it is twice as high.
const STEP: f64 = 0.35;

/// Draws a line for each thread, raised while it runs.
fn figure(one: &Dispatched) -> Figure {
    let title = format!("Dispatch graph, {}", one.scheduler.name());
    let source = match one.paper() {
        Some(_) => "The dotted lines are the paper's figure 6.",
        None => "The dotted lines are the simulator's.",
    };
    let figure = Figure::new(title)
        .caption(format!(
            "Each thread's line is at its number while it does not run, one step higher while it runs on \
             host 1, and two steps higher on host 2. {source}"
        ))
        .x(format!("time (units of {} ms)", one.unit.as_millis()))
        .y("distributable thread");
    let reference = one.paper().unwrap_or_else(|| one.simulated.clone());
    let (shown, how) = match &one.live {
        Some(live) => (&live.schedule, "live"),
        None => (&one.simulated, "simulated"),
    };
    let end = shown
        .runs()
        .iter()
        .chain(reference.runs())
        .map(|run| run.to)
        .max()
        .unwrap_or(0);
    shown.threads().into_iter().fold(figure, |figure, thread| {
        let published = match one.paper() {
            Some(_) => format!("DT{thread}, [Gill 2004]"),
            None => format!("DT{thread}, simulated"),
        };
        figure
            .line(
                format!("DT{thread}, {how}"),
                steps(shown, thread, end, |ns| one.units(ns)),
            )
            .published(published, steps(&reference, thread, end, |ns| one.units(ns)))
    })
}

fn steps(schedule: &Schedule, thread: u8, end: u64, units: impl Fn(u64) -> f64) -> Vec<(f64, f64)> {
    let rest = f64::from(thread);
    let mut points = vec![(0.0, rest)];
    for run in schedule.runs().iter().filter(|run| run.thread == thread) {
        let up = rest + STEP * f64::from(run.host);
        points.extend([
            (units(run.from), rest),
            (units(run.from), up),
            (units(run.to), up),
            (units(run.to), rest),
        ]);
    }
    points.push((units(end), rest));
    points
}

#[cfg(test)]
mod tests {
    use super::{super::paper, *};

    #[test]
    fn a_line_is_raised_while_its_thread_runs() {
        let points = steps(&paper::schedule(1), 5, 21, |units| units as f64);
        let up = 5.0 + 2.0 * STEP;
        assert_eq!(
            points,
            [
                (0.0, 5.0),
                (9.0, 5.0),
                (9.0, up),
                (12.0, up),
                (12.0, 5.0),
                (21.0, 5.0)
            ]
        );
    }
}
