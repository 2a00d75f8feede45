//! `rt.7`: the classic pool. Figure 22.

use punctual_harness::{Claim, Outcome, Row};
use punctual_report::Chapter;

use super::{FRONT, MOST_THREADS, Point, add_rows, as_tao, at, of_work, over_threads, phase, server};
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    length::Length,
    load::{self, Importance, Phase, Placement, Played, Pool, REFERENCE_WORK, Session, Setup},
    rt::{BEST_EFFORT_AXIS, LOCAL, achieved, figure, holds, point_seconds, shortened, table, tao},
    testbed::Testbed,
};

pub(in crate::rt) const BENCHMARK: Benchmark = Benchmark {
    name: "rt.7",
    about: "[Pyarali 2002] experiment 7: clients of three rates beside best-effort threads, classic pool",
    expected: |length| load::expected(&phases(length)),
    run: measure,
};

fn phases(length: Length) -> Vec<Phase<Point>> {
    let threads: Vec<usize> = length.pick(
        vec![0, MOST_THREADS],
        (0..=MOST_THREADS).collect(),
        (0..=MOST_THREADS).collect(),
    );
    let phases = threads.into_iter().map(|threads| {
        let claimed = [0, MOST_THREADS].contains(&threads);
        let work = REFERENCE_WORK;
        let seconds = point_seconds(length, claimed);
        phase(LOCAL, "classic pool", Point { work, threads }, seconds)
    });
    phases.chain(as_tao(length, "classic pool")).collect()
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let length = testbed.length;
    let mut session = Session::begin(testbed, BENCHMARK.name)?;
    let setup = Setup::new(server(Pool::Classic), Placement::OneCpu);
    let played = session.play(&[setup], phases(length))?;
    let outcome = &mut session.outcome;
    shortened(
        outcome,
        length,
        "numbers of best-effort threads other than 0 and 10; the load of TAO's figures",
    );
    add_rows(outcome, &played, &Row::new().with("pool", "classic"));
    claim(&played, outcome);
    let outcome = session.end()?;
    let chapter = chapter(&outcome, &played);
    Ok(Findings { outcome, chapter })
}

fn claim(played: &[Played<Point>], outcome: &mut Outcome) {
    let ends = at(played, REFERENCE_WORK, 0).zip(at(played, REFERENCE_WORK, MOST_THREADS));
    let Some((alone, crowded)) = ends else { return };
    let source = "issue 4, [Pyarali 2002] figure 22";
    let keeps = Importance::ALL.map(|of| {
        let hz = |phase: &Played<Point>| phase.client(of.name()).achieved_hz_corrected();
        hz(crowded) / hz(alone)
    });
    let most = keeps.into_iter().fold(f64::NAN, f64::max);
    let text = "10 best-effort threads take from all three clients: the largest share of its throughput that one keeps, below 1";
    outcome.claim(Claim::below("all-lose", text, source, most, 1.0));
    let text = "calls per second of 10 best-effort threads together, more than 0";
    let hz = crowded.collective_hz().unwrap_or_default();
    outcome.claim(Claim::new("best-effort", text, source, hz, 0.0, hz > 0.0));
}

fn chapter(outcome: &Outcome, played: &[Played<Point>]) -> Chapter {
    let caption = "The pool treats all alike, so what best-effort threads get is taken from those with deadlines. [Pyarali 2002] figure 22.";
    let series = achieved(&of_work(played, REFERENCE_WORK), over_threads);
    let beside = at(played, tao::BEST_EFFORT_WORK, tao::BEST_EFFORT_THREADS);
    Chapter::new("Experiment 7: increasing best-effort work, classic CORBA")
        .paper("[Pyarali 2002] experiment 7",
            "in classic CORBA best-effort threads increase their throughput at the expense of the clients with priorities",
            holds(outcome, ""),
        )
        .paragraph(
            "Three clients call at 75, 50 and 25 Hz, work 30, which is all that the CPU can do; beside them best-effort threads call \
             without a pause at the lowest priority. Four server threads serve all in order of arrival.",
        )
        .figure(figure("Classic pool beside best effort", caption, BEST_EFFORT_AXIS, series))
        .table(tao::NO_LANES_BEST_EFFORT.beside(beside, tao::BEST_EFFORT_WORK))
        .table(table(outcome, FRONT).title("Classic pool beside best effort"))
}
