//! `rt.7` and `rt.8`: the three clients with rates beside best-effort threads that call without a pause. SCHED_FIFO, one CPU.

mod classic;
mod lanes;

pub(super) use self::{classic::BENCHMARK as CLASSIC, lanes::BENCHMARK as LANES};

use punctual_harness::{Outcome, Row};

use super::{LOCAL, increasing_work::realtime, point_seconds, tao};
use crate::{
    length::Length,
    load::{self, Phase, Played, ServerSpec},
};

/// What varies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Point {
    work: u32,
    threads: usize,
}

/// The paper's most.
const MOST_THREADS: usize = 10;

/// A point on a stage, in so many seconds.
fn phase(stage: usize, title: &str, point: Point, seconds: f64) -> Phase<Point> {
    let Point { work, threads } = point;
    Phase {
        key: point,
        title: format!("{title}, work {work}, {threads} best-effort threads"),
        stage,
        pool: 0,
        seconds,
        workers: load::clients(work, threads),
    }
}

/// The load of TAO's figures, beside which ours are to stand; not in a quick run.
fn as_tao(length: Length, title: &str) -> Option<Phase<Point>> {
    let point = Point {
        work: tao::BEST_EFFORT_WORK,
        threads: tao::BEST_EFFORT_THREADS,
    };
    (length != Length::Quick).then(|| phase(LOCAL, title, point, point_seconds(length, false)))
}

fn server(pool: load::Pool) -> ServerSpec {
    realtime(vec![pool.spec(true)])
}

fn add_rows(outcome: &mut Outcome, played: &[Played<Point>], front: &Row) {
    for phase in played {
        let Point { work, threads } = phase.key;
        let front = front.clone().with("work", work).with("best_effort", threads);
        phase.rows(&front).into_iter().for_each(|row| outcome.row(row));
    }
}

fn at(played: &[Played<Point>], work: u32, threads: usize) -> Option<&Played<Point>> {
    let point = Point { work, threads };
    played.iter().find(|phase| phase.key == point)
}

/// Those of one work, for a figure over the number of threads.
fn of_work(played: &[Played<Point>], work: u32) -> Vec<Played<Point>> {
    let of_work = played.iter().filter(|phase| phase.key.work == work);
    of_work.cloned().collect()
}

fn over_threads(point: &Point) -> f64 {
    point.threads as f64
}

const FRONT: &[(&str, &str)] = &[("work", "work"), ("best_effort", "best-effort threads")];
