//! `rt.1`: increasing work. One server thread, one continuous client, default class, one CPU. Source:
//! [Pyarali 2002] figure 9.

use std::time::Duration;

use punctual_harness::{Claim, Row};

use super::{PAPER_WORKS, claims::largest_deviation, ordinary, run};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{self, CAPACITY, Pace, Phase, Placement, PoolSpec, REFERENCE_WORK, STALLED, ServerSpec, Setup},
};

pub(crate) struct IncreasingWork;

const HEAVY_CALLS: Control = Control {
    id: "heavy-calls",
    about: "a call that costs as much as 5 units of work",
    breaks: &["constant"],
};

fn phases(length: Length) -> Vec<Phase<u32>> {
    let works: &[u32] = length.pick(&[25, 30, 55, 85], &PAPER_WORKS, &PAPER_WORKS);
    let phase = |&work: &u32| Phase {
        key: work,
        title: format!("work {work}"),
        deployment: 0,
        pool: 0,
        seconds: length.pick(0.8, 2.0, 10.0),
        workers: vec![ordinary("client", Pace::Continuous, work)],
    };
    works.iter().map(phase).collect()
}

impl Experiment for IncreasingWork {
    const NAME: &'static str = "rt.1";
    const ABOUT: &'static str =
        "[Pyarali 2002] experiment 1: throughput over work, one client and one server thread";
    const PAGE: &'static str = include_str!("throughput.toml");
    const CONTROLS: &'static [Control] = &[HEAVY_CALLS, STALLED];

    fn expected(length: Length) -> Duration {
        load::expected(&phases(length))
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let threads = PoolSpec::SinglePriority {
            threads: 1,
            priority: 0,
        };
        let server = ServerSpec::new(vec![threads], false);
        let mut phases = phases(trial.length());
        if trial.testbed.is_under(&HEAVY_CALLS) {
            let workers = phases.iter_mut().flat_map(|phase| &mut phase.workers);
            workers.for_each(|worker| worker.add_work(5));
        }
        let results = run::<Self, _>(trial, &[Setup::new(server, Placement::OneCpu)], phases)?;
        trial.shortened("works other than 25, 30, 55 and 85; 2 s for each");
        let mut products = Vec::new();
        for phase in &results {
            let (work, client) = (phase.key, phase.client("client"));
            let hz = client
                .throughput()
                .ok_or_else(|| format!("fewer than two calls returned at work {work}"))?;
            products.push(hz * f64::from(work));
            let row = Row::new()
                .with("work", work)
                .with("achieved_hz", client.achieved_hz())
                .with("achieved_hz_without_holes", hz)
                .with("ideal_hz", CAPACITY * f64::from(REFERENCE_WORK) / f64::from(work))
                .with("work_per_second", hz * f64::from(work))
                .with_fields(&client.latencies().summary());
            trial.outcome.row(row);
        }
        let text =
            "calls per second times work: largest deviation from its median over all works (%), at most 3";
        trial.outcome.claim(Claim::at_most(
            "constant",
            text,
            "Punctual's limit, after [Pyarali 2002] figure 9",
            100.0 * largest_deviation(&products),
            3.0,
        ));
        Ok(())
    }
}
