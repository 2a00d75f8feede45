//! `rt.4`: three clients over work with a pool without lanes. Source: [Pyarali 2002] figure 15.

use punctual_harness::{Claim, Outcome, Row};
use punctual_report::Chapter;

use super::{At, Works, add_rows, at, realtime, shares};
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    length::Length,
    load::{self, Importance, Phase, PhaseResult, Placement, Pool, Session, Setup},
    rt::{PAPER_WORKS, WORK_AXIS, achieved, claims::lead_over_least, figure, holds, shortened, table, tao},
    testbed::Testbed,
};

pub(in crate::rt) const BENCHMARK: Benchmark = Benchmark {
    name: "rt.4",
    about: "[Pyarali 2002] experiment 4: clients of three rates as work grows, pool without lanes",
    expected: |length| load::expected(&phases(length)),
    run: measure,
    controls: &[],
};

/// Claims are made above the capacity, where the paper's pool misses the important client's deadlines and
/// meets the others'.
const WORKS: Works = Works {
    quick: &[25, 30, 45, 60, 85],
    full: &PAPER_WORKS,
    claimed: |work| (35..=50).contains(&work),
};

const POOL: Pool = Pool::WithoutLanes;

fn phases(length: Length) -> Vec<Phase<u32>> {
    WORKS.phases(length, POOL.title(), At::pool(0), Importance::rate)
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let length = testbed.length;
    let mut session = Session::begin(testbed, BENCHMARK.name)?;
    let setup = Setup::new(realtime(vec![POOL.spec(false)]), Placement::OneCpu);
    let results = session.run(&[setup], phases(length))?;
    let outcome = &mut session.outcome;
    shortened(outcome, length, "works other than 25, 30, 45, 60 and 85");
    add_rows(outcome, &results, &Row::new().with("pool", POOL.name()));
    claim(&results, outcome);
    let outcome = session.end()?;
    let chapter = chapter(&outcome, &results);
    Ok(Findings { outcome, chapter })
}

fn claim(results: &[PhaseResult<u32>], outcome: &mut Outcome) {
    let claimed = results.iter().filter(|phase| (WORKS.claimed)(phase.key));
    let leads = claimed.map(|phase| {
        let [high, medium, low] = shares(phase);
        lead_over_least(high, &[medium, low])
    });
    let largest = leads.fold(f64::NAN, f64::max);
    let text = "as work grows beyond 30, the 75 Hz client is the first to miss deadlines: its share of \
                deadlines minus the smallest of the others' (points), largest over works 35 to 50, is below \
                0";
    outcome.claim(Claim::below(
        "high-loses-first",
        text,
        "Punctual's limit, after [Pyarali 2002] figure 15",
        largest,
        0.0,
    ));
}

fn chapter(outcome: &Outcome, results: &[PhaseResult<u32>]) -> Chapter {
    let series = achieved(results, |work| f64::from(*work));
    let caption = "Beyond work 30 the pool treats all alike, and the most important client loses first. \
                   [Pyarali 2002] figure 15.";
    Chapter::new("Experiment 4: increasing work, pool without lanes")
        .paper(
            "[Pyarali 2002] experiment 4",
            "without Real-time CORBA, all clients are treated equally, so the high-priority client is \
             affected first",
            holds(outcome, ""),
        )
        .paragraph(
            "Three clients call at 75, 50 and 25 Hz with high, medium and low priority; three server threads \
             serve them in order of arrival. All run on one CPU under SCHED_FIFO.",
        )
        .figure(tao::NO_LANES.add_to(
            figure(POOL.heading(), caption, WORK_AXIS, series),
            Importance::rate,
        ))
        .table(tao::NO_LANES.compared(at(results, tao::OVERLOAD_WORK), tao::OVERLOAD_WORK))
        .table(table(outcome, &[("work", "work")]).title(POOL.heading()))
}
