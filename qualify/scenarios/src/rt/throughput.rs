//! `rt.1`: increasing work. One server thread, one continuous client, default class, one CPU. Source:
//! [Pyarali 2002] figure 9.

use punctual_harness::{Claim, Row};
use punctual_report::{Chapter, Series, Table};

use super::{PAPER_WORKS, claims::largest_deviation, figure, ordinary, shortened};
use crate::{
    benchmark::{Benchmark, Findings},
    control::Control,
    error::Error,
    length::Length,
    load::{
        self, CAPACITY, Pace, Phase, Placement, PoolSpec, REFERENCE_WORK, STALLED, ServerSpec, Session, Setup,
    },
    testbed::Testbed,
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "rt.1",
    about: "[Pyarali 2002] experiment 1: throughput over work, one client and one server thread",
    expected: |length| load::expected(&phases(length)),
    run: measure,
    controls: &[HEAVY_CALLS, STALLED],
};

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

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let length = testbed.length;
    let mut session = Session::begin(testbed, BENCHMARK.name)?;
    let threads = PoolSpec::SinglePriority {
        threads: 1,
        priority: 0,
    };
    let server = ServerSpec::new(vec![threads], false);
    let mut phases = phases(length);
    if session.testbed.is_under(&HEAVY_CALLS) {
        let workers = phases.iter_mut().flat_map(|phase| &mut phase.workers);
        workers.for_each(|worker| worker.add_work(5));
    }
    let results = session.run(&[Setup::new(server, Placement::OneCpu)], phases)?;
    let outcome = &mut session.outcome;
    shortened(
        outcome,
        length,
        "works other than 25, 30, 55 and 85; 2 s for each",
    );
    let mut products = Vec::new();
    let mut measured = Vec::new();
    for phase in &results {
        let client = phase.client("client");
        let hz = client
            .throughput()
            .ok_or_else(|| format!("fewer than two calls returned at work {}", phase.key))?;
        products.push(hz * f64::from(phase.key));
        measured.push((f64::from(phase.key), hz));
        let row = Row::new()
            .with("work", phase.key)
            .with("achieved_hz", client.achieved_hz())
            .with("achieved_hz_without_holes", hz)
            .with("work_per_second", hz * f64::from(phase.key))
            .with_fields(&client.latencies().summary());
        outcome.row(row);
    }
    let text = "calls per second times work: largest deviation from its median over all works (%), at most 3";
    let deviation = 100.0 * largest_deviation(&products);
    outcome.claim(Claim::at_most(
        "constant",
        text,
        "Punctual's limit, after [Pyarali 2002] figure 9",
        deviation,
        3.0,
    ));
    let outcome = session.end()?;
    let chapter = chapter(&outcome, measured);
    Ok(Findings { outcome, chapter })
}

fn chapter(outcome: &punctual_harness::Outcome, measured: Vec<(f64, f64)>) -> Chapter {
    let total = CAPACITY * f64::from(REFERENCE_WORK);
    let ideal = measured.iter().map(|&(work, _)| (work, total / work)).collect();
    let series = vec![
        Series {
            name: "measured".to_owned(),
            points: measured,
        },
        Series {
            name: "4500 ÷ work".to_owned(),
            points: ideal,
        },
    ];
    let caption = "Throughput is inversely proportional to work, because the server's work dominates. \
                   [Pyarali 2002] figure 9.";
    let columns = [
        ("work", "work"),
        ("achieved_hz", "calls/s"),
        ("achieved_hz_without_holes", "calls/s without holes"),
        ("work_per_second", "calls/s × work"),
        ("mean_us", "mean (µs)"),
        ("max_us", "max (µs)"),
    ];
    Chapter::new("Experiment 1: increasing work")
        .paragraph(
            "One client calls continuously, and one server thread serves it, in the default scheduling class \
             on one CPU. The work per call is calibrated so that work 30 allows 150 calls per second, as on \
             the paper's machine.",
        )
        .figure(figure("Throughput over work", caption, super::WORK_AXIS, series))
        .table(
            Table::of(outcome.rows().iter().map(Row::as_map))
                .columns(&columns)
                .title("Throughput over work"),
        )
}
