//! `rt.7` and `rt.8`: three clients with rates, and best-effort threads that call continuously; SCHED_FIFO,
//! one CPU.

mod lanes;
mod single_priority;

pub(super) use self::{lanes::Lanes, single_priority::WithoutLanes};

use punctual_harness::{Outcome, Row};

use super::{LOCAL, TAO_BEST_EFFORT_THREADS, TAO_BEST_EFFORT_WORK, increasing_work::realtime, point_seconds};
use crate::{
    length::Length,
    load::{self, Phase, PhaseResult, ServerSpec},
};

/// A point of the figures.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Point {
    work: u32,
    threads: usize,
}

/// The largest number of threads in the paper.
const MOST_THREADS: usize = 10;

/// Returns the phase of a point on a deployment.
fn phase(deployment: usize, title: &str, point: Point, seconds: f64) -> Phase<Point> {
    let Point { work, threads } = point;
    Phase {
        key: point,
        title: format!("{title}, work {work}, {threads} best-effort threads"),
        deployment,
        pool: 0,
        seconds,
        workers: load::clients(work, threads),
    }
}

/// Returns the phase with the load of TAO's results, for comparison; not in a quick run.
fn as_tao(length: Length, title: &str) -> Option<Phase<Point>> {
    let point = Point {
        work: TAO_BEST_EFFORT_WORK,
        threads: TAO_BEST_EFFORT_THREADS,
    };
    (length != Length::Quick).then(|| phase(LOCAL, title, point, point_seconds(length, false)))
}

fn server(pool: load::Pool) -> ServerSpec {
    realtime(vec![pool.spec(true)])
}

fn add_rows(outcome: &mut Outcome, results: &[PhaseResult<Point>], front: &Row) {
    for phase in results {
        let Point { work, threads } = phase.key;
        let front = front.clone().with("work", work).with("best_effort", threads);
        phase.rows(&front).into_iter().for_each(|row| outcome.row(row));
    }
}

fn at(results: &[PhaseResult<Point>], work: u32, threads: usize) -> Option<&PhaseResult<Point>> {
    let point = Point { work, threads };
    results.iter().find(|phase| phase.key == point)
}

/// Returns the results with one work, for a figure over the number of threads.
fn of_work(results: &[PhaseResult<Point>], work: u32) -> Vec<PhaseResult<Point>> {
    let of_work = results.iter().filter(|phase| phase.key.work == work);
    of_work.cloned().collect()
}
