//! `rt.3`: increasing concurrency. 1 to 20 continuous clients, work 30, default class; one server thread on
//! one CPU, two threads on one CPU, and two on two. Source: [Pyarali 2002] figure 13.

use std::time::Duration;

use punctual_harness::{Claim, Outcome, Row};

use super::{claims::largest_deviation, ordinary, run};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{self, Pace, Phase, PhaseResult, Placement, PoolSpec, REFERENCE_WORK, STALLED, ServerSpec, Setup},
};

pub(crate) struct IncreasingConcurrency;

const ONE_CPU: Control = Control {
    id: "one-cpu",
    about: "one CPU instead of two",
    breaks: &["two-cpus"],
};
const GROWING_WORK: Control = Control {
    id: "growing-work",
    about: "calls that cost one unit of work more for each client",
    breaks: &["flat.*"],
};

const SOURCE: &str = "Punctual's limit, after [Pyarali 2002] figure 13";
/// The largest acceptable share of the two CPUs that other programs use.
const LARGEST_SHARE_OF_OTHERS: f64 = 0.05;

/// The configurations of the paper: server threads, and CPUs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Configuration {
    threads: usize,
    cpus: usize,
}

const CONFIGURATIONS: [Configuration; 3] = [
    Configuration { threads: 1, cpus: 1 },
    Configuration { threads: 2, cpus: 1 },
    Configuration { threads: 2, cpus: 2 },
];

#[derive(Clone, Copy)]
struct Point {
    configuration: Configuration,
    clients: usize,
}

/// Returns the phases; configurations alternate, so that changes of the processor's speed affect all alike.
fn phases(length: Length) -> Vec<Phase<Point>> {
    let clients: &[usize] = length.pick(&[1, 2, 20], &[1, 2, 3, 5, 10, 15, 20], &[1, 2, 3, 5, 10, 15, 20]);
    let mut phases = Vec::new();
    for &clients in clients {
        for configuration in CONFIGURATIONS {
            phases.push(Phase {
                key: Point {
                    configuration,
                    clients,
                },
                title: format!("{}, {clients} clients", configuration.name()),
                // Deployments are in the order of CPUs, pools in that of threads.
                deployment: configuration.cpus - 1,
                pool: configuration.threads - 1,
                seconds: length.pick(0.8, 2.0, 10.0),
                workers: vec![ordinary("client", Pace::Continuous, REFERENCE_WORK); clients],
            });
        }
    }
    phases
}

/// The results of one configuration.
struct Measured {
    configuration: Configuration,
    /// Number of clients, and their calls per second together outside holes.
    points: Vec<(usize, f64)>,
}

impl Experiment for IncreasingConcurrency {
    const NAME: &'static str = "rt.3";
    const ABOUT: &'static str = "[Pyarali 2002] experiment 3: throughput over clients, one and two server \
                                 threads, one and two CPUs";
    const PAGE: &'static str = include_str!("concurrency.toml");
    const CONTROLS: &'static [Control] = &[ONE_CPU, GROWING_WORK, STALLED];

    fn expected(length: Length) -> Duration {
        load::expected(&phases(length))
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let pool = |threads| PoolSpec::SinglePriority { threads, priority: 0 };
        let server = ServerSpec::new(vec![pool(1), pool(2)], false);
        let two = Setup::new(server.clone(), Placement::AllCpus);
        let setups = [
            Setup::new(server, Placement::OneCpu),
            two.or_skip("two server threads on two CPUs", &["two-cpus"]),
        ];
        let mut phases = phases(trial.length());
        for phase in &mut phases {
            if trial.testbed.is_under(&ONE_CPU) {
                phase.deployment = 0;
            }
            if trial.testbed.is_under(&GROWING_WORK) {
                let clients = phase.key.clients as u32;
                let workers = phase.workers.iter_mut();
                workers.for_each(|worker| worker.add_work(clients));
            }
        }
        let results = run::<Self, _>(trial, &setups, phases)?;
        trial.shortened("3, 5, 10 and 15 clients; 2 s for each");
        let outcome = &mut trial.outcome;
        let measured = CONFIGURATIONS.map(|configuration| Measured::of(configuration, &results, outcome));
        claim(&measured, outcome);
        let others = results.iter().filter_map(|phase| phase.others);
        let others = others.fold(0.0, f64::max);
        if others > LARGEST_SHARE_OF_OTHERS {
            outcome.unfit(format!(
                "other programs used {:.0} % of the two CPUs while throughput on both was measured (limit \
                 {:.0} %): stop them and run it again",
                others * 100.0,
                LARGEST_SHARE_OF_OTHERS * 100.0
            ));
        }
        Ok(())
    }
}

impl Configuration {
    fn name(self) -> String {
        let Self { threads, cpus } = self;
        format!(
            "{threads} server thread{}, {cpus} CPU{}",
            plural(threads),
            plural(cpus)
        )
    }
}

fn plural(number: usize) -> &'static str {
    if number == 1 { "" } else { "s" }
}

impl Measured {
    fn of(configuration: Configuration, results: &[PhaseResult<Point>], outcome: &mut Outcome) -> Self {
        let mut points = Vec::new();
        for phase in results
            .iter()
            .filter(|phase| phase.key.configuration == configuration)
        {
            let corrected = phase.collective_hz_corrected().unwrap_or_default();
            let row = Row::new()
                .with("configuration", configuration.name())
                .with("server_threads", configuration.threads)
                .with("cpus", configuration.cpus)
                .with("clients", phase.key.clients)
                .with("achieved_hz", phase.collective_hz())
                .with("achieved_hz_without_holes", corrected)
                .with("other_programs_percent", phase.others.map(|share| share * 100.0));
            outcome.row(row);
            points.push((phase.key.clients, corrected));
        }
        Self {
            configuration,
            points,
        }
    }

    fn rates(&self) -> Vec<f64> {
        self.points.iter().map(|(_, hz)| *hz).collect()
    }
}

fn claim(measured: &[Measured; 3], outcome: &mut Outcome) {
    let [one, two, both] = measured;
    for (id, of) in [("flat.one-thread", one), ("flat.two-threads", two)] {
        let text = format!(
            "{}: largest deviation of throughput from its median (%), at most 5",
            of.configuration.name()
        );
        let deviation = 100.0 * largest_deviation(&of.rates());
        outcome.claim(Claim::at_most(id, text, SOURCE, deviation, 5.0));
    }
    let gains = both
        .points
        .iter()
        .zip(&two.points)
        .filter(|((clients, _), _)| *clients >= 2);
    let least = gains.map(|((_, both), (_, one))| both / one).reduce(f64::min);
    if let Some(least) = least {
        let text = "two server threads, at least two clients: throughput on two CPUs over that on one, \
                    smallest ratio";
        outcome.claim(Claim::at_least("two-cpus", text, SOURCE, least, 1.8));
    }
}
