//! The high-priority client with and without low-priority clients, in alternating slices, and the claims
//! about it.

use std::time::Duration;

use punctual_harness::{
    Claim, Hole, Latencies, Outcome, Row, Span,
    statistics::{Summary, median},
    withheld_cpu::cause_of,
};

use super::{Configuration, LOW_HZ, MOST_LOW, Point};
use crate::{
    experiment::Trial,
    length::Length,
    load::{Pace, Phase, PhaseResult, Slices},
};

/// A rate that yields 2,000 calls in a few seconds: one every 2.1 ms.
pub(super) const HZ: u32 = 476;
/// The smallest number of calls for a meaningful 99th percentile.
const FEWEST_CALLS: u64 = 2000;
const SOURCE: &str = "Punctual's limit, after [Schmidt 2002] 3.3";
const LIMIT: f64 = 1.25;
/// Pairs of slices per run, without and with the other clients.
const PAIRS: u32 = 6;
/// Long enough for [`FEWEST_CALLS`] in each kind of slice, even if pauses are slightly longer than requested.
const SECONDS: f64 = 9.4;

/// The load of the low-priority clients.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Load {
    /// 10 Hz each, as in the paper: 2 or 3 % of a CPU of today.
    Paper,
    /// Calibrated: together [`super::LOAD`] of the CPU.
    Calibrated,
}

impl Load {
    fn name(self) -> &'static str {
        match self {
            Self::Paper => "10 Hz each",
            Self::Calibrated => "calibrated to 80 % of the CPU",
        }
    }

    /// Start of the ids of its claims.
    fn prefix(self) -> &'static str {
        match self {
            Self::Paper => "",
            Self::Calibrated => "loaded.",
        }
    }
}

/// The configurations, and in which runs they are measured.
const CONFIGURATIONS: [Configuration; 2] = [Configuration::Own, Configuration::WithoutLanes];

fn slices() -> Slices {
    Slices {
        length: Duration::from_secs_f64(SECONDS) / (2 * PAIRS),
    }
}

/// Returns the runs; configurations and loads alternate.
pub(super) fn phases(length: Length, loaded_hz: u32) -> Vec<Phase<Point>> {
    let runs: [usize; 2] = length.pick([2, 1], [3, 3], [5, 5]);
    let loads = [(Load::Paper, LOW_HZ), (Load::Calibrated, loaded_hz)];
    let mut phases = Vec::new();
    for run in 0..runs.into_iter().max().unwrap_or(0) {
        for (load, hz) in loads {
            for (configuration, runs) in CONFIGURATIONS.into_iter().zip(runs) {
                if run < runs {
                    phases.push(phase(configuration, load, hz));
                }
            }
        }
    }
    phases
}

fn phase(configuration: Configuration, load: Load, hz: u32) -> Phase<Point> {
    let name = configuration.name();
    let title = format!("{name}: {HZ} Hz without and with {MOST_LOW} clients at {hz} Hz");
    let slices = Some(slices());
    let mut clients = configuration.clients(HZ, MOST_LOW, hz);
    for low in &mut clients[1..] {
        low.pace = Pace::Pausing { hz, slices };
    }
    configuration.phase(Point::Contrast(configuration, load), title, SECONDS, clients)
}

/// The high-priority client's calls in one run.
struct Contrast {
    configuration: Configuration,
    load: Load,
    /// Calls without and with calls of the low-priority clients; the time in which these finish is omitted.
    calls: [Vec<Span>; 2],
}

impl Contrast {
    fn of(configuration: Configuration, load: Load, begin_ns: u64, calls: &[Span]) -> Self {
        let of_kind = |with_others: bool| {
            let belongs = |call: &&Span| {
                let since = Duration::from_nanos(call.start_ns.saturating_sub(begin_ns));
                slices().have_others(since) == with_others && slices().is_settled(since)
            };
            calls.iter().filter(belongs).copied().collect()
        };
        Self {
            configuration,
            load,
            calls: [false, true].map(of_kind),
        }
    }

    /// Returns the latencies without and with the others.
    fn latencies(&self) -> [Latencies; 2] {
        [0, 1].map(|kind| latencies(&self.calls[kind]))
    }
}

fn latencies(calls: &[Span]) -> Latencies {
    let mut latencies = Latencies::new();
    calls
        .iter()
        .for_each(|call| latencies.record(call.end_ns - call.start_ns));
    latencies
}

/// Adds a row for each run and kind of slice, the claims about lanes, and the distributions over all runs.
pub(super) fn evaluate(results: &[PhaseResult<Point>], holes: &[Hole], trial: &mut Trial<'_>) {
    let contrast = |phase: &PhaseResult<Point>| match phase.key {
        Point::Contrast(configuration, load) => {
            let calls = &phase.clients.first()?.report.calls;
            Some(Contrast::of(configuration, load, phase.span.start_ns, calls))
        }
        Point::Curve { .. } | Point::Alone(_) | Point::Capacity => None,
    };
    let contrasts: Vec<Contrast> = results.iter().filter_map(contrast).collect();
    rows(&contrasts, &mut trial.outcome);
    claims(&contrasts, &mut trial.outcome);
    for configuration in CONFIGURATIONS {
        for (kind, low) in [0, MOST_LOW].into_iter().enumerate() {
            let of_kind = |run: &&Contrast| (run.configuration, run.load) == (configuration, Load::Paper);
            let runs = contrasts.iter().filter(of_kind);
            let calls: Vec<Span> = runs.flat_map(|run| &run.calls[kind]).copied().collect();
            distribution(
                &format!("{}, {low} low-priority clients", configuration.name()),
                &calls,
                holes,
                trial,
            );
        }
    }
}

/// Adds the latencies by percentile, and their row.
fn distribution(name: &str, calls: &[Span], holes: &[Hole], trial: &mut Trial<'_>) {
    let latencies = latencies(calls);
    let slowest = calls.iter().max_by_key(|call| call.end_ns - call.start_ns);
    let row = Row::new().with("what", name).with("count", latencies.count());
    let row = row.with_fields(&latencies.summary());
    let cause = slowest.map_or_else(String::new, |call| cause_of(*call, holes));
    trial.shown_row("distributions", row.with("cause", cause));
    trial.curve("distributions", name, latencies.curve());
}

fn rows(contrasts: &[Contrast], outcome: &mut Outcome) {
    for (number, contrast) in contrasts.iter().enumerate() {
        for (low, latencies) in [0, MOST_LOW].into_iter().zip(contrast.latencies()) {
            outcome.row(
                Row::new()
                    .with("kind", "contrast")
                    .with("run", number)
                    .with("configuration", contrast.configuration.name())
                    .with("load", contrast.load.name())
                    .with("low_clients", low)
                    .with("asked_hz", f64::from(HZ))
                    .with("calls", latencies.count())
                    .with_fields(&latencies.summary()),
            );
        }
    }
}

/// Adds the claims about lanes, and the ratios.
fn claims(contrasts: &[Contrast], outcome: &mut Outcome) {
    let of = |configuration, load| {
        let of_kind = move |run: &&Contrast| (run.configuration, run.load) == (configuration, load);
        contrasts.iter().filter(of_kind)
    };
    for (load, (name, quantile)) in [Load::Paper, Load::Calibrated].into_iter().flat_map(|load| {
        let quantiles = [
            ("p50", (|summary| summary.p50_us) as fn(&Summary) -> Option<f64>),
            ("p99", |summary| summary.p99_us),
        ];
        quantiles.map(|quantile| (load, quantile))
    }) {
        let ratio = |run: &Contrast| {
            let [without, with] = run.latencies().map(|latencies| quantile(&latencies.summary()));
            Some(with? / without?)
        };
        let ratios = |configuration| median(&of(configuration, load).filter_map(ratio).collect::<Vec<_>>());
        outcome.row(
            Row::new()
                .with("kind", "ratio")
                .with("percentile", name)
                .with("load", load.name())
                .with("lanes", ratios(Configuration::Own))
                .with("without_lanes", ratios(Configuration::WithoutLanes)),
        );
        let text = format!(
            "lanes: {name} of a high-priority client at {HZ} Hz with {MOST_LOW} low-priority clients, {}, over \
             that without (median of the runs)",
            load.name()
        );
        let measured = ratios(Configuration::Own).unwrap_or(f64::NAN);
        let id = format!("{}{name}-ratio", load.prefix());
        let claim = Claim::at_most(id, text, SOURCE, measured, LIMIT);
        outcome.claim(claim);
    }
    let own = contrasts
        .iter()
        .filter(|run| run.configuration == Configuration::Own);
    let fewest = own
        .flat_map(|run| run.calls.iter().map(Vec::len))
        .min()
        .unwrap_or(0) as f64;
    let text = "smallest number of calls of the high-priority client in a run, without or with the others, \
                for the percentiles";
    let claim = Claim::at_least("samples", text, SOURCE, fewest, FEWEST_CALLS as f64);
    outcome.claim(claim);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast(configuration: Configuration, with_us: u64) -> Contrast {
        let call = |ms: u64| {
            let start_ns = 1_000 + ms * 1_000_000;
            let with_others = slices().have_others(Duration::from_millis(ms));
            let us = if with_others { with_us } else { 20 };
            Span {
                start_ns,
                end_ns: start_ns + us * 1000,
            }
        };
        let calls: Vec<Span> = (0..2000).map(call).collect();
        Contrast::of(configuration, Load::Paper, 1_000, &calls)
    }

    #[test]
    fn calls_belong_to_the_slice_of_their_start() {
        let [without, with] = contrast(Configuration::Own, 22).latencies();
        // Slices of 783.3 ms; the first 20 ms of each slice without the others are excluded.
        assert_eq!((without.count(), with.count()), (2000 - 783 - 2 * 20, 783));
        let p50 = |latencies: &Latencies| latencies.quantile_us(0.5).unwrap();
        assert!((p50(&without) - 20.0).abs() < 0.1 && (p50(&with) - 22.0).abs() < 0.1);
    }

    #[test]
    fn the_claims_use_the_median_of_the_runs_with_lanes() {
        let runs = [22, 23, 90]
            .map(|us| contrast(Configuration::Own, us))
            .into_iter();
        let contrasts: Vec<_> = runs.chain([contrast(Configuration::WithoutLanes, 500)]).collect();
        let machine = punctual_harness::MachineFacts::read(&punctual_os::CpuSet::single(0));
        let mut outcome = Outcome::new("orb.latency", machine);
        claims(&contrasts, &mut outcome);
        let claim = |id: &str| outcome.claims().iter().find(|claim| claim.id == id).unwrap();
        assert!(claim("p50-ratio").holds() && claim("p99-ratio").holds());
        assert!((claim("p50-ratio").measured.as_f64().unwrap() - 1.15).abs() < 0.01);
        assert!(!claim("samples").holds(), "783 calls are too few");
    }
}
