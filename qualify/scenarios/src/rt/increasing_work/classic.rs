//! `rt.4`: the classic pool. Figure 15.

use punctual_harness::{Claim, Outcome, Row};
use punctual_report::Chapter;

use super::{Works, add_rows, at, realtime, shares};
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    length::Length,
    load::{self, Importance, Phase, Placement, Played, Pool, Session, Setup},
    rt::{PAPER_WORKS, WORK_AXIS, achieved, figure, holds, promise::lead_over_least, shortened, table, tao},
    testbed::Testbed,
};

pub(in crate::rt) const BENCHMARK: Benchmark = Benchmark {
    name: "rt.4",
    about: "[Pyarali 2002] experiment 4: clients of three rates as work grows, classic pool",
    expected: |length| load::expected(&phases(length)),
    run: measure,
};

/// Past the capacity, where the paper's classic pool has lost the important client's deadlines and kept the others'.
const WORKS: Works = Works {
    quick: &[25, 30, 45, 60, 85],
    full: &PAPER_WORKS,
    claimed: |work| (35..=50).contains(&work),
};

fn phases(length: Length) -> Vec<Phase<u32>> {
    WORKS.phases(length, "classic pool", (0, 0), Importance::rate)
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let length = testbed.length;
    let mut session = Session::begin(testbed, BENCHMARK.name)?;
    let setup = Setup::new(realtime(vec![Pool::Classic.spec(false)]), Placement::OneCpu);
    let played = session.play(&[setup], phases(length))?;
    let outcome = &mut session.outcome;
    shortened(outcome, length, "works other than 25, 30, 45, 60 and 85");
    add_rows(outcome, &played, &Row::new().with("pool", "classic"));
    claim(&played, outcome);
    let outcome = session.end()?;
    let chapter = chapter(&outcome, &played);
    Ok(Findings { outcome, chapter })
}

fn claim(played: &[Played<u32>], outcome: &mut Outcome) {
    let claimed = played.iter().filter(|phase| (WORKS.claimed)(phase.key));
    let leads = claimed.map(|phase| {
        let [high, medium, low] = shares(phase);
        lead_over_least(high, &[medium, low])
    });
    let largest = leads.fold(f64::NAN, f64::max);
    let text = "as work grows past 30 the 75 Hz client is the first to lose: its share of deadlines less the smallest of the others' \
                (points), the most over works 35 to 50, is below 0";
    outcome.claim(Claim::below(
        "high-loses-first",
        text,
        "issue 4, [Pyarali 2002] figure 15",
        largest,
        0.0,
    ));
}

fn chapter(outcome: &Outcome, played: &[Played<u32>]) -> Chapter {
    let series = achieved(played, |work| f64::from(*work));
    let caption = "Past work 30 the pool treats all alike, and the most important client loses first. [Pyarali 2002] figure 15.";
    Chapter::new("Experiment 4: increasing work, classic CORBA")
        .paper("[Pyarali 2002] experiment 4",
            "a classic server treats all clients equally, so the high-priority client is the first to be affected",
            holds(outcome, ""),
        )
        .paragraph(
            "Three clients call at 75, 50 and 25 Hz with high, medium and low priority; three server threads serve them in order of \
             arrival. All on one CPU under SCHED_FIFO.",
        )
        .figure(tao::NO_LANES.beside_ours(
            figure("Classic pool", caption, WORK_AXIS, series),
            Importance::rate,
        ))
        .table(tao::NO_LANES.beside(at(played, tao::OVERLOAD_WORK), tao::OVERLOAD_WORK))
        .table(table(outcome, &[("work", "work")]).title("Classic pool"))
}
