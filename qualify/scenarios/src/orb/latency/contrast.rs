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
    load::{Pace, Phase, PhaseResult, Request, Slices},
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

/// The high-priority client and its surroundings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Subject {
    /// It calls; all clients have lanes of their own.
    Lanes,
    /// It calls; all clients share a pool without lanes.
    WithoutLanes,
    /// It exchanges messages over TCP without the ORB, beside clients with lanes of their own: this shows the
    /// kernel's part.
    PingPong,
}

impl Subject {
    const ALL: [Self; 3] = [Self::Lanes, Self::WithoutLanes, Self::PingPong];

    fn configuration(self) -> Configuration {
        match self {
            Self::Lanes | Self::PingPong => Configuration::Own,
            Self::WithoutLanes => Configuration::WithoutLanes,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Lanes | Self::WithoutLanes => self.configuration().name(),
            Self::PingPong => "raw TCP ping-pong beside own lanes",
        }
    }

    /// Returns the number of its runs with this load.
    fn runs(self, load: Load, length: Length) -> usize {
        match (self, load) {
            (Self::Lanes, _) => length.pick(2, 3, 5),
            (Self::WithoutLanes, _) => length.pick(1, 3, 5),
            (Self::PingPong, Load::Paper) => 0,
            (Self::PingPong, Load::Calibrated) => length.pick(0, 3, 5),
        }
    }
}

fn slices() -> Slices {
    Slices {
        length: Duration::from_secs_f64(SECONDS) / (2 * PAIRS),
    }
}

/// Returns the runs; subjects and loads alternate.
pub(super) fn phases(length: Length, loaded_hz: u32) -> Vec<Phase<Point>> {
    let loads = [(Load::Paper, LOW_HZ), (Load::Calibrated, loaded_hz)];
    let kinds = || {
        loads
            .into_iter()
            .flat_map(|load| Subject::ALL.map(|subject| (load, subject)))
    };
    let most = kinds()
        .map(|((load, _), subject)| subject.runs(load, length))
        .max();
    let runs = (0..most.unwrap_or(0)).flat_map(|run| kinds().map(move |kind| (run, kind)));
    runs.filter(|(run, ((load, _), subject))| *run < subject.runs(*load, length))
        .map(|(_, ((load, hz), subject))| phase(subject, load, hz))
        .collect()
}

fn phase(subject: Subject, load: Load, hz: u32) -> Phase<Point> {
    let (name, configuration) = (subject.name(), subject.configuration());
    let title = format!("{name}: {HZ} Hz without and with {MOST_LOW} clients at {hz} Hz");
    let slices = Some(slices());
    let mut clients = configuration.clients(HZ, MOST_LOW, hz);
    for low in &mut clients[1..] {
        low.pace = Pace::Pausing { hz, slices };
    }
    if subject == Subject::PingPong {
        clients[0].request = Request::PingPong;
    }
    configuration.phase(Point::Contrast(subject, load), title, SECONDS, clients)
}

/// The high-priority client's calls in one run.
struct Contrast {
    subject: Subject,
    load: Load,
    /// Calls without and with calls of the low-priority clients; the time in which these finish is omitted.
    calls: [Vec<Span>; 2],
}

impl Contrast {
    fn of(subject: Subject, load: Load, begin_ns: u64, calls: &[Span]) -> Self {
        let of_kind = |with_others: bool| {
            let belongs = |call: &&Span| {
                let since = Duration::from_nanos(call.start_ns.saturating_sub(begin_ns));
                slices().have_others(since) == with_others && slices().is_settled(since)
            };
            calls.iter().filter(belongs).copied().collect()
        };
        Self {
            subject,
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
        Point::Contrast(subject, load) => {
            let calls = &phase.clients.first()?.report.calls;
            Some(Contrast::of(subject, load, phase.span.start_ns, calls))
        }
        Point::Curve { .. } | Point::Alone(_) | Point::Capacity => None,
    };
    let contrasts: Vec<Contrast> = results.iter().filter_map(contrast).collect();
    rows(&contrasts, &mut trial.outcome);
    claims(&contrasts, &mut trial.outcome);
    for subject in [Subject::Lanes, Subject::WithoutLanes] {
        for (kind, low) in [0, MOST_LOW].into_iter().enumerate() {
            let of_kind = |run: &&Contrast| (run.subject, run.load) == (subject, Load::Paper);
            let runs = contrasts.iter().filter(of_kind);
            let calls: Vec<Span> = runs.flat_map(|run| &run.calls[kind]).copied().collect();
            distribution(
                &format!("{}, {low} low-priority clients", subject.name()),
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
                    .with("configuration", contrast.subject.name())
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
    let of = |subject, load| {
        let of_kind = move |run: &&Contrast| (run.subject, run.load) == (subject, load);
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
        let ratios = |subject| median(&of(subject, load).filter_map(ratio).collect::<Vec<_>>());
        outcome.row(
            Row::new()
                .with("kind", "ratio")
                .with("percentile", name)
                .with("load", load.name())
                .with("lanes", ratios(Subject::Lanes))
                .with("without_lanes", ratios(Subject::WithoutLanes))
                .with("ping_pong", ratios(Subject::PingPong)),
        );
        let text = format!(
            "lanes: {name} of a high-priority client at {HZ} Hz with {MOST_LOW} low-priority clients, {}, over \
             that without (median of the runs)",
            load.name()
        );
        let measured = ratios(Subject::Lanes).unwrap_or(f64::NAN);
        let id = format!("{}{name}-ratio", load.prefix());
        let claim = Claim::at_most(id, text, SOURCE, measured, LIMIT);
        outcome.claim(claim);
    }
    let own = contrasts.iter().filter(|run| run.subject == Subject::Lanes);
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

    fn contrast(subject: Subject, with_us: u64) -> Contrast {
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
        Contrast::of(subject, Load::Paper, 1_000, &calls)
    }

    #[test]
    fn calls_belong_to_the_slice_of_their_start() {
        let [without, with] = contrast(Subject::Lanes, 22).latencies();
        // Slices of 783.3 ms; the first 20 ms of each slice without the others are excluded.
        assert_eq!((without.count(), with.count()), (2000 - 783 - 2 * 20, 783));
        let p50 = |latencies: &Latencies| latencies.quantile_us(0.5).unwrap();
        assert!((p50(&without) - 20.0).abs() < 0.1 && (p50(&with) - 22.0).abs() < 0.1);
    }

    #[test]
    fn the_claims_use_the_median_of_the_runs_with_lanes() {
        let runs = [22, 23, 90].map(|us| contrast(Subject::Lanes, us)).into_iter();
        let contrasts: Vec<_> = runs.chain([contrast(Subject::WithoutLanes, 500)]).collect();
        let machine = punctual_harness::MachineFacts::read(&punctual_os::CpuSet::single(0));
        let mut outcome = Outcome::new("orb.latency", machine);
        claims(&contrasts, &mut outcome);
        let claim = |id: &str| outcome.claims().iter().find(|claim| claim.id == id).unwrap();
        assert!(claim("p50-ratio").holds() && claim("p99-ratio").holds());
        assert!((claim("p50-ratio").measured.as_f64().unwrap() - 1.15).abs() < 0.01);
        assert!(!claim("samples").holds(), "783 calls are too few");
    }
}
