//! The dispatch graph: a line for each thread, raised while it runs.

use super::{Dispatched, Schedule};
use crate::experiment::Trial;

/// The height of a line while its thread runs on host 1; on host 2 it is twice as high.
const STEP: f64 = 0.35;

/// Adds the curves of a scheduler, each beside that of the paper's or of the simulator's schedule.
pub(super) fn curves(one: &Dispatched, trial: &mut Trial<'_>) {
    let (reference, source) = match one.paper() {
        Some(paper) => (paper, "[Gill 2004]"),
        None => (one.simulated.clone(), "simulated"),
    };
    let (shown, how) = match &one.live {
        Some(live) => (&live.schedule, "live"),
        None => (&one.simulated, "simulated"),
    };
    let all = shown.runs().iter().chain(reference.runs());
    let end = all.map(|run| run.to).max().unwrap_or(0);
    let group = one.scheduler.name();
    for thread in shown.threads() {
        let points = |schedule| steps(schedule, thread, end, |ns| one.units(ns));
        trial.curve(group, format!("DT{thread}, {how}"), points(shown));
        trial.published(group, format!("DT{thread}, {source}"), points(&reference));
    }
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
