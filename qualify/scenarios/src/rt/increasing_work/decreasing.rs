//! `rt.6`: three clients over work with lanes, where more important clients have lower rates. Source:
//! [Pyarali 2002] figure 20.

use punctual_harness::{Outcome, Row};
use punctual_report::Chapter;

use super::{At, Works, add_rows, at, realtime};
use crate::{
    benchmark::{Benchmark, Findings},
    control::Control,
    error::Error,
    length::Length,
    load::{self, Importance, Phase, PhaseResult, Placement, Pool, STALLED, Session, Setup},
    rt::{
        PAPER_WORKS, WORK_AXIS, achieved,
        claims::{claim_deadlines_met, claim_losses},
        figure, shortened, table, tao,
    },
    testbed::Testbed,
};

pub(in crate::rt) const BENCHMARK: Benchmark = Benchmark {
    name: "rt.6",
    about: "[Pyarali 2002] experiment 6: clients of three rates as work grows, lanes, higher priority at \
            lower rate",
    expected: |length| load::expected(&phases(length)),
    run: measure,
    controls: &[WITHOUT_LANES, STALLED],
};

const WITHOUT_LANES: Control = Control {
    id: "without-lanes",
    about: "one pool for all priorities in place of lanes",
    breaks: &["high*", "losses"],
};

/// The claim covers the 25 Hz client at every work.
const WORKS: Works = Works {
    quick: &[35, 85],
    full: &PAPER_WORKS,
    claimed: |_| true,
};

fn phases(length: Length) -> Vec<Phase<u32>> {
    WORKS.phases(length, "lanes", At::pool(0), Importance::decreasing_rate)
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let length = testbed.length;
    let pool = if testbed.is_under(&WITHOUT_LANES) {
        Pool::WithoutLanes
    } else {
        Pool::Lanes
    };
    let mut session = Session::begin(testbed, BENCHMARK.name)?;
    let setup = Setup::new(realtime(vec![pool.spec(false)]), Placement::OneCpu);
    let results = session.run(&[setup], phases(length))?;
    let outcome = &mut session.outcome;
    shortened(
        outcome,
        length,
        "works other than 35 and 85, and the comparison with TAO",
    );
    add_rows(outcome, &results, &Row::new().with("pool", "lanes"));
    let high = results.iter().map(|phase| phase.client(Importance::High.name()));
    let text = "the 25 Hz client of high priority, smallest share";
    claim_deadlines_met(
        outcome,
        "high",
        text,
        "Punctual's limit, after [Pyarali 2002] figure 20",
        high,
    );
    claim_losses(
        outcome,
        "losses",
        "the 75 Hz client of low priority is affected first, then the 50 Hz one, the 25 Hz one never",
        "Punctual's limit, after [Pyarali 2002] figure 20",
        &results,
        &[Importance::Low, Importance::Medium],
        &[Importance::High],
    );
    let outcome = session.end()?;
    let chapter = chapter(&outcome, &results);
    Ok(Findings { outcome, chapter })
}

fn chapter(outcome: &Outcome, results: &[PhaseResult<u32>]) -> Chapter {
    let series = achieved(results, |work| f64::from(*work));
    let caption = "The 75 Hz client, now the least important, loses first, then the 50 Hz one; the 25 Hz \
                   client is unaffected, because the capacity never falls below its rate. [Pyarali 2002] \
                   figure 20.";
    Chapter::new("Experiment 6: increasing work, lanes, increasing priority with decreasing rate")
        .paragraph("As experiment 5, with 25 Hz at high, 50 Hz at medium and 75 Hz at low priority.")
        .figure(tao::DECREASING.add_to(
            figure("Lanes, decreasing rates", caption, WORK_AXIS, series),
            Importance::decreasing_rate,
        ))
        .table(tao::DECREASING.compared(at(results, tao::OVERLOAD_WORK), tao::OVERLOAD_WORK))
        .table(table(outcome, &[("work", "work")]).title("Lanes, decreasing rates"))
}
