//! `bench inversion`: checks that nothing less important runs while a more important request waits.

use std::{path::Path, time::Duration};

use punctual_harness::{Claim, Outcome, Row, Span};
use punctual_trace::{
    Analysis, Inversion, Names, Recorded, Session, SessionSettings, inversion::CpuHole,
    kernel::KernelSettings, report,
};

use crate::{
    benchmark::Benchmark,
    control::Control,
    error::Error,
    experiment::{Experiment, Trial, benchmark},
    length::Length,
    load::{self, PhaseResult, Placement, Pool, Setup},
    testbed::Places,
};

/// Slightly below capacity, so that best-effort clients get some processor time: figure 25.
const WORK: u32 = 28;
/// The number of best-effort clients at the paper's last point.
const BEST_EFFORT: usize = 10;
/// The longest time that a request may wait for something less important, in microseconds: the latency of an
/// interrupt on a busy machine.
const LIMIT_US: f64 = 200.0;
/// The number of longer waits that the trace must find in the pool without lanes, as a check of the detector.
const MANY: usize = 20;
/// The largest share of the measured time that holes may take.
const LARGEST_EXCLUDED_SHARE: f64 = 0.02;
/// The number of rows with single intervals per pool.
const MOST_INTERVALS: usize = 50;

pub(crate) const BENCHMARK: Benchmark = benchmark::<InversionCheck>();

const EXCHANGED: Control = Control {
    id: "exchanged",
    about: "lanes instead of the pool without lanes, and the other way round",
    breaks: &["lanes.longest", "without-lanes.over"],
};
const ONE_SIDE: Control = Control {
    id: "one-side",
    about: "the flight records of the clients only",
    breaks: &["*.joined"],
};

/// The benchmark `inversion`.
///
/// Three clients with fixed rates and many best-effort clients share one CPU, traced by the kernel's
/// scheduler and the ORB's flight recorder: first with a pool without lanes, where the trace must find many
/// waits (this shows that it detects them), then with lanes, where none may be long. Source: [Pyarali 2002]
/// experiments 7 and 8, figures 22 and 25.
struct InversionCheck;

impl Experiment for InversionCheck {
    const NAME: &'static str = "inversion";
    const ABOUT: &'static str =
        "requests that wait while something less important runs, with ten best-effort clients; needs root";
    const PAGE: &'static str = include_str!("inversion.toml");
    const CONTROLS: &'static [Control] = &[EXCHANGED, ONE_SIDE, load::STALLED];

    fn expected(length: Length) -> Duration {
        load::expected(&phases(length)) + Duration::from_millis(500)
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let length = trial.length();
        let places = trial.testbed.places.clone();
        let perfetto = trial.testbed.settings.perfetto.clone();
        let mut session = load::Session::begin(trial.testbed, Self::NAME)?;
        // The supervisor removes the trace instance if this process is killed.
        let trace = Session::start(&recording(&places))?;
        let mut server = load::both_pools(true);
        if session.testbed.is_under(&EXCHANGED) {
            server.pools.reverse();
        }
        let setup = Setup {
            environment: &trace.environment(),
            ..Setup::new(server, Placement::OneCpu)
        };
        let results = session.run(&[setup], phases(length))?;
        let progress = &session.testbed.progress;
        progress.stage("reading the trace", Duration::from_secs(1));
        let mut recorded = trace.stop()?;
        if session.testbed.is_under(&ONE_SIDE) {
            let requests = recorded.requests.iter_mut();
            requests.for_each(|request| request.service = None);
        }
        let outcome = &mut session.outcome;
        outcome.parameter("work", WORK);
        outcome.parameter("best_effort_clients", BEST_EFFORT);
        outcome.parameter("seconds_per_phase", seconds(length));
        outcome.parameter("limit_us", LIMIT_US);
        evaluate(&places, &results, &recorded, outcome, perfetto.as_deref())?;
        trial.outcome = session.end()?;
        for pool in Pool::ALL {
            let of_pool = |row: &Row| row.get("pool").is_some_and(|name| name == pool.name());
            for (title, table) in crate::waits::tables(&trial.outcome, of_pool) {
                trial
                    .tables
                    .push(table.title(format!("{}: {title}", pool.heading())));
            }
        }
        Ok(())
    }
}

/// Returns how long one pool is measured, in seconds.
fn seconds(length: Length) -> f64 {
    length.pick(3.0, 10.0, 10.0)
}

/// Returns one phase for each pool.
fn phases(length: Length) -> Vec<load::Phase<Pool>> {
    let pools = Pool::ALL.into_iter().enumerate();
    let phase = |(number, pool): (usize, Pool)| load::Phase {
        key: pool,
        title: format!("{}, work {WORK}, {BEST_EFFORT} best-effort clients", pool.title()),
        deployment: 0,
        pool: number,
        seconds: seconds(length),
        workers: load::clients(WORK, BEST_EFFORT),
    };
    pools.map(phase).collect()
}

type Phase = PhaseResult<Pool>;

/// Returns settings that record the kernel's scheduling, with the reader on the driver's CPU if it has one.
pub(crate) fn recording(places: &Places) -> SessionSettings {
    SessionSettings {
        kernel: Some(KernelSettings {
            reader: places.reader(),
            ..KernelSettings::default()
        }),
        ..SessionSettings::default()
    }
}

fn evaluate(
    places: &Places,
    phases: &[Phase],
    recorded: &Recorded,
    outcome: &mut Outcome,
    perfetto: Option<&Path>,
) -> Result<(), Error> {
    let begin = phases.first().map_or(0, |phase| phase.span.start_ns);
    let names = Names::new(recorded.names(), begin).operations(recorded.operations());
    let analysis = recorded.analyse();
    for phase in phases {
        let part = part(&analysis, phase, places, recorded);
        rows(phase, &part, recorded, &names, outcome);
        if recorded.kernel.is_ok() {
            claims(phase, &part, recorded, outcome);
        }
    }
    match &recorded.kernel {
        Ok(kernel) => {
            outcome.parameter("kernel_events", kernel.events.len());
            if !kernel.lost.is_nothing() {
                outcome.unfit(format!(
                    "kernel events were lost, so waits may be missing: {:?}",
                    kernel.lost
                ));
            }
        }
        Err(reason) => {
            outcome.skip(
                Some("lanes.longest"),
                "waits in the lanes, by the kernel's trace",
                reason.as_str(),
            );
            outcome.skip(
                Some("without-lanes.over"),
                "waits in the pool without lanes, by the kernel's trace",
                reason.as_str(),
            );
            outcome.unfit(format!("the kernel's scheduling could not be traced: {reason}"));
        }
    }
    if recorded.overwritten() > 0 {
        outcome.unfit(format!(
            "{} flight records were overwritten",
            recorded.overwritten()
        ));
    }
    if let Some(file) = perfetto {
        crate::waits::write_timeline(file, recorded, &analysis, &names)?;
    }
    Ok(())
}

/// Returns the waits and holes of one phase: within its time, on the measured CPU, of the ORBs' threads.
fn part(analysis: &Analysis, phase: &Phase, places: &Places, recorded: &Recorded) -> Analysis {
    let Span { start_ns, end_ns } = phase.span;
    let within = |start: u64| (start_ns..end_ns).contains(&start);
    let pinned = |cpu: u32| places.pinned.contains(cpu as usize);
    let ours = |found: &Inversion| {
        recorded
            .threads
            .iter()
            .any(|thread| thread.thread == found.waiter.thread)
    };
    let traced = recorded.kernel.is_ok();
    let inversions = analysis.inversions.iter();
    let holes = analysis.holes.iter();
    Analysis {
        inversions: inversions
            .filter(|found| within(found.start_ns) && ours(found) && (pinned(found.cpu) || !traced))
            .cloned()
            .collect(),
        holes: holes
            .filter(|hole| within(hole.start_ns) && pinned(hole.cpu))
            .copied()
            .collect(),
    }
}

fn rows(phase: &Phase, part: &Analysis, recorded: &Recorded, names: &Names, outcome: &mut Outcome) {
    let pool = phase.key.name();
    let limit = (LIMIT_US * 1e3) as u64;
    for row in phase.rows(&Row::new().with("kind", "client")) {
        outcome.row(in_pool(row, pool));
    }
    let rows = report::summary(part, names, limit)
        .into_iter()
        .chain(report::intervals(
            part,
            &recorded.requests,
            names,
            limit,
            MOST_INTERVALS,
        ))
        .chain(report::holes(part, names));
    rows.for_each(|row| outcome.row(in_pool(row, pool)));
}

fn in_pool(row: Row, pool: &str) -> Row {
    row.with("pool", pool)
}

fn claims(phase: &Phase, part: &Analysis, recorded: &Recorded, outcome: &mut Outcome) {
    let source = "Punctual's limit, after [Pyarali 2002] experiment 8";
    let limit = (LIMIT_US * 1e3) as u64;
    let over = part
        .inversions
        .iter()
        .filter(|found| found.length_ns > limit)
        .count();
    let longest = part
        .inversions
        .iter()
        .map(|found| found.length_ns)
        .max()
        .unwrap_or(0);
    let span = phase.span;
    let requests = || {
        let of_phase = |sent: u64| (span.start_ns..span.end_ns).contains(&sent);
        recorded
            .requests
            .iter()
            .filter(move |request| of_phase(request.sent_ns))
    };
    let joined = requests().filter(|request| request.service.is_some()).count();
    let pool = phase.key.name();
    let text = format!(
        "{}: share of the requests recorded on both sides (%)",
        phase.key.title()
    );
    let share = 100.0 * joined as f64 / requests().count() as f64;
    let claim = Claim::at_least(format!("{pool}.joined"), text, source, share, 99.0);
    outcome.claim(claim);
    match phase.key {
        Pool::Lanes => {
            let text = "lanes: longest time that a request or its thread waited while something less \
                        important ran, \
                        outside holes of kernel and host (µs)";
            let claim = Claim::at_most("lanes.longest", text, source, longest as f64 / 1e3, LIMIT_US);
            outcome.claim(claim);
        }
        Pool::WithoutLanes => {
            let text = format!("pool without lanes: waits of more than {LIMIT_US} µs in the same trace");
            let claim = Claim::at_least("without-lanes.over", text, source, over as f64, MANY as f64);
            outcome.claim(claim);
        }
    }
    let held: u64 = part.holes.iter().map(|hole: &CpuHole| hole.length_ns).sum();
    let share = held as f64 / (span.end_ns - span.start_ns) as f64;
    outcome.parameter(format!("{pool}_share_of_holes"), share);
    if share > LARGEST_EXCLUDED_SHARE {
        outcome.unfit(format!(
            "{}: kernel or host took the CPU for {:.1} % of the time; at most {:.0} % may be excluded: stop \
             other \
             load and run it again",
            phase.key.title(),
            share * 100.0,
            LARGEST_EXCLUDED_SHARE * 100.0
        ));
    }
}
