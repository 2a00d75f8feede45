//! `rt.7`: three clients and best-effort threads with a pool without lanes. Source: [Pyarali 2002] figure 22.

use std::time::Duration;

use punctual_harness::{Claim, Outcome, Row};

use super::{MOST_THREADS, Point, add_rows, as_tao, at, of_work, phase, server};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{self, Importance, Phase, PhaseResult, Placement, Pool, REFERENCE_WORK, STALLED, Setup},
    rt::{
        LOCAL, TAO_BEST_EFFORT_THREADS, TAO_BEST_EFFORT_WORK, claims::claim_deadlines_met, compare_with_tao,
        point_seconds, run,
    },
};

/// A pool without lanes.
pub(in crate::rt) struct WithoutLanes;

const LANES: Control = Control {
    id: "lanes",
    about: "a lane for each priority instead of the pool without lanes",
    breaks: &["all-lose", "best-effort.rises"],
};

const DOUBLED: Control = Control {
    id: "doubled",
    about: "twice the work where there are no best-effort threads",
    breaks: &["all.alone*"],
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
        let seconds = point_seconds(length, threads == 0);
        phase(LOCAL, POOL.title(), Point { work, threads }, seconds)
    });
    phases.chain(as_tao(length, POOL.title())).collect()
}

impl Experiment for WithoutLanes {
    const NAME: &'static str = "rt.7";
    const ABOUT: &'static str = "[Pyarali 2002] experiment 7: clients of three rates and best-effort \
                                 threads, pool without lanes";
    const PAGE: &'static str = include_str!("single_priority.toml");
    const CONTROLS: &'static [Control] = &[LANES, DOUBLED, STALLED];

    fn expected(length: Length) -> Duration {
        load::expected(&phases(length))
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let pool = trial.testbed.under(&LANES, Pool::Lanes, POOL);
        let mut phases = phases(trial.length());
        if trial.testbed.is_under(&DOUBLED) {
            phases.retain(|phase| phase.key.threads == 0);
            let workers = phases.iter_mut().flat_map(|phase| &mut phase.workers);
            workers.for_each(|worker| worker.add_work(REFERENCE_WORK));
        }
        let results = run::<Self, _>(trial, &[Setup::new(server(pool), Placement::OneCpu)], phases)?;
        trial
            .shortened("numbers of best-effort threads other than 0, 1, 3 and 10; the load of TAO's figures");
        let outcome = &mut trial.outcome;
        add_rows(outcome, &results, &Row::new().with("pool", POOL.name()));
        claim(&results, outcome);
        let nearest = at(&results, TAO_BEST_EFFORT_WORK, TAO_BEST_EFFORT_THREADS);
        compare_with_tao(trial, nearest, TAO_BEST_EFFORT_WORK);
        Ok(())
    }
}

fn claim(results: &[PhaseResult<Point>], outcome: &mut Outcome) {
    let source = "Punctual's limit, after [Pyarali 2002] figure 22";
    let alone = at(results, REFERENCE_WORK, 0);
    let all = alone.into_iter().flat_map(|phase| &phase.clients);
    let text = "work 30, without best-effort threads: the clients with rates, smallest share";
    claim_deadlines_met(outcome, "all.alone", text, source, all);
    let ends = alone.zip(at(results, REFERENCE_WORK, MOST_THREADS));
    let Some((alone, crowded)) = ends else { return };
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
    // No calls are no growth, also after none.
    let growth = hz.windows(2).map(|pair| match pair[1] > 0.0 {
        true => pair[1] / pair[0],
        false => 0.0,
    });
    let least = growth.fold(f64::NAN, f64::min);
    let text = "calls per second of all best-effort threads together, with one number of threads over those \
                with the next smaller one: the smallest such growth is above 1, so their throughput rises \
                with their number";
    outcome.claim(Claim::above("best-effort.rises", text, source, least, 1.0));
}
