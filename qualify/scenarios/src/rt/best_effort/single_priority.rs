//! `rt.7`: three clients and best-effort threads with a pool without lanes. Source: [Pyarali 2002] figure 22.

use punctual_harness::{Claim, Outcome, Row};
use punctual_report::Chapter;

use super::{FRONT, MOST_THREADS, Point, add_rows, as_tao, at, of_work, over_threads, phase, server};
use crate::{
    benchmark::{Benchmark, Findings},
    control::Control,
    error::Error,
    length::Length,
    load::{self, Importance, Phase, PhaseResult, Placement, Pool, REFERENCE_WORK, STALLED, Session, Setup},
    rt::{BEST_EFFORT_AXIS, LOCAL, achieved, figure, point_seconds, shortened, table, tao},
    testbed::Testbed,
};

pub(in crate::rt) const BENCHMARK: Benchmark = Benchmark {
    name: "rt.7",
    about: "[Pyarali 2002] experiment 7: clients of three rates and best-effort threads, pool without \
            lanes",
    expected: |length| load::expected(&phases(length)),
    run: measure,
    controls: &[LANES, STALLED],
};

const LANES: Control = Control {
    id: "lanes",
    about: "a lane for each priority in place of the pool without lanes",
    breaks: &["all-lose", "best-effort.rises"],
};

/// The largest share of its throughput that a client keeps if it loses.
const LOSES: f64 = 0.9;
const POOL: Pool = Pool::WithoutLanes;

fn phases(length: Length) -> Vec<Phase<Point>> {
    let threads: Vec<usize> = length.pick(
        vec![0, 1, 3, MOST_THREADS],
        (0..=MOST_THREADS).collect(),
        (0..=MOST_THREADS).collect(),
    );
    let phases = threads.into_iter().map(|threads| {
        let work = REFERENCE_WORK;
        let seconds = point_seconds(length, false);
        phase(LOCAL, POOL.title(), Point { work, threads }, seconds)
    });
    phases.chain(as_tao(length, POOL.title())).collect()
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let length = testbed.length;
    let mut session = Session::begin(testbed, BENCHMARK.name)?;
    let pool = if session.testbed.is_under(&LANES) {
        Pool::Lanes
    } else {
        POOL
    };
    let setup = Setup::new(server(pool), Placement::OneCpu);
    let results = session.run(&[setup], phases(length))?;
    let outcome = &mut session.outcome;
    shortened(
        outcome,
        length,
        "numbers of best-effort threads other than 0, 1, 3 and 10; the load of TAO's figures",
    );
    add_rows(outcome, &results, &Row::new().with("pool", POOL.name()));
    claim(&results, outcome);
    let outcome = session.end()?;
    let chapter = chapter(&outcome, &results);
    Ok(Findings { outcome, chapter })
}

fn claim(results: &[PhaseResult<Point>], outcome: &mut Outcome) {
    let ends = at(results, REFERENCE_WORK, 0).zip(at(results, REFERENCE_WORK, MOST_THREADS));
    let Some((alone, crowded)) = ends else { return };
    let source = "Punctual's limit, after [Pyarali 2002] figure 22";
    let keeps = Importance::ALL.map(|of| {
        let hz = |phase: &PhaseResult<Point>| phase.client(of.name()).achieved_hz_corrected();
        hz(crowded) / hz(alone)
    });
    let most = keeps.into_iter().fold(f64::NAN, f64::max);
    let text = "with 10 best-effort threads, all three clients lose throughput: the largest share that one \
                keeps";
    outcome.claim(Claim::at_most("all-lose", text, source, most, LOSES));
    let hz: Vec<f64> = of_work(results, REFERENCE_WORK)
        .iter()
        .filter_map(PhaseResult::collective_hz_corrected)
        .collect();
    let growth = hz.windows(2).map(|pair| pair[1] / pair[0]);
    let least = growth.fold(f64::NAN, f64::min);
    let text = "calls per second of all best-effort threads together, with one number of threads over those \
                with the next smaller one: the smallest such growth is above 1, so their throughput rises \
                with their number";
    outcome.claim(Claim::new(
        "best-effort.rises",
        text,
        source,
        least,
        1.0,
        least > 1.0,
    ));
}

fn chapter(outcome: &Outcome, results: &[PhaseResult<Point>]) -> Chapter {
    let caption = "The pool treats all requests alike, so best-effort threads gain at the expense of the \
                   clients with deadlines. [Pyarali 2002] figure 22.";
    let series = achieved(&of_work(results, REFERENCE_WORK), over_threads);
    let nearest = at(results, tao::BEST_EFFORT_WORK, tao::BEST_EFFORT_THREADS);
    Chapter::new("Experiment 7: increasing best-effort work, pool without lanes")
        .paragraph(
            "Three clients call at 75, 50 and 25 Hz with work 30, which uses the whole CPU; best-effort \
             threads call continuously at the lowest client's priority. Four server threads, which run \
             below all clients, serve all requests in order of arrival.",
        )
        .figure(figure(
            "Pool without lanes, best-effort threads",
            caption,
            BEST_EFFORT_AXIS,
            series,
        ))
        .table(tao::NO_LANES_BEST_EFFORT.compared(nearest, tao::BEST_EFFORT_WORK))
        .table(table(outcome, FRONT).title("Pool without lanes, best-effort threads"))
}
