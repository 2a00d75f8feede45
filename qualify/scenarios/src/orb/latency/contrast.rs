//! The high-priority client with and without low-priority clients, in alternating slices, and the claims
//! about it.

use std::time::Duration;

use punctual_harness::{
    Claim, Hole, Latencies, Outcome, Progress, Row,
    holes::cause_of,
    statistics::{Summary, median},
};
use punctual_report::Chapter;

use super::{
    super::mt_cubit::{Call, Deployment, Run, Slices, Task},
    Configuration, LOAD, LOW_HZ, MOST_LOW,
};
use crate::{
    distribution::{self, Distribution},
    error::Error,
    length::Length,
};

/// A rate that yields 2,000 calls in a few seconds: one every 2.1 ms.
pub(super) const HZ: f64 = 476.0;
/// The smallest number of calls for a meaningful 99th percentile.
const FEWEST_CALLS: u64 = 2000;
const SOURCE: &str = "Punctual's limit, after [Schmidt 2002] 3.3";
const LIMIT: f64 = 1.25;

/// Length of the measurement of the capacity.
const CALIBRATION_SECONDS: f64 = 0.5;

/// The load of the low-priority clients.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Load {
    /// 10 Hz each, as in the paper: 2 or 3 % of a CPU of today.
    Paper,
    /// Calibrated: together [`LOAD`] of the CPU.
    Calibrated,
}

/// The number of runs per configuration.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    lanes_runs: usize,
    without_lanes_runs: usize,
}

/// Pairs of slices per run, without and with the other clients.
const PAIRS: u32 = 6;
/// Long enough for [`FEWEST_CALLS`] in each kind of slice, even if pauses are slightly longer than requested.
const SECONDS: f64 = 9.4;

impl Extent {
    pub(super) fn of(length: Length) -> Self {
        let (lanes_runs, without_lanes_runs) = length.pick((3, 1), (3, 3), (5, 5));
        Self {
            lanes_runs,
            without_lanes_runs,
        }
    }

    pub(super) fn expected(self) -> Duration {
        // Each run twice: with the paper's load and with a larger one.
        let runs = 2 * (self.lanes_runs + self.without_lanes_runs);
        Duration::from_secs_f64(CALIBRATION_SECONDS + SECONDS * runs as f64)
    }
}

/// The results of all runs.
pub(super) struct Contrasts(Vec<Contrast>);

struct Contrast {
    configuration: Configuration,
    load: Load,
    run: Run,
    slices: Slices,
}

/// Measures the important client without and with 50 low-priority ones, in alternating slices.
pub(super) fn measure(
    deployment: &mut Deployment,
    extent: Extent,
    progress: &Progress,
) -> Result<Contrasts, Error> {
    let slices = Slices {
        length: Duration::from_secs_f64(SECONDS) / (2 * PAIRS),
    };
    let loads = [
        (Load::Paper, LOW_HZ),
        (Load::Calibrated, calibrated_hz(deployment, progress)?),
    ];
    let mut contrasts = Vec::new();
    // Configurations and loads alternate.
    for run in 0..extent.lanes_runs.max(extent.without_lanes_runs) {
        for ((load, low_hz), (configuration, runs)) in loads.into_iter().flat_map(|load| {
            let runs = [
                (Configuration::Own, extent.lanes_runs),
                (Configuration::WithoutLanes, extent.without_lanes_runs),
            ];
            runs.map(|runs| (load, runs))
        }) {
            if run >= runs {
                continue;
            }
            let what = format!(
                "{}: {HZ} Hz without and with {MOST_LOW} clients at {low_hz:.0} Hz",
                configuration.name()
            );
            progress.stage(what, Duration::from_secs_f64(SECONDS));
            let task = Task {
                pool: configuration.pool(),
                clients: configuration.clients(HZ, MOST_LOW, low_hz),
                seconds: SECONDS,
                slices: Some(slices),
                awake: false,
            };
            contrasts.push(Contrast {
                configuration,
                load,
                run: deployment.run(&task)?,
                slices,
            });
        }
    }
    Ok(Contrasts(contrasts))
}

/// Returns the calls per second of each low-priority client such that all together take [`LOAD`] of the CPU,
/// from the throughput of a single client that does not pause.
fn calibrated_hz(deployment: &mut Deployment, progress: &Progress) -> Result<f64, Error> {
    let seconds = CALIBRATION_SECONDS;
    progress.stage("measuring the capacity", Duration::from_secs_f64(seconds));
    let run = deployment.run(&Task {
        pool: Configuration::Own.pool(),
        clients: Configuration::Own.clients(f64::MAX, 0, LOW_HZ),
        seconds,
        slices: None,
        awake: false,
    })?;
    let calls: usize = run.clients.iter().map(|client| client.calls.len()).sum();
    Ok(LOAD * calls as f64 / seconds / MOST_LOW as f64)
}

impl Contrasts {
    pub(super) fn runs(&self) -> impl Iterator<Item = &Run> {
        self.0.iter().map(|contrast| &contrast.run)
    }

    /// Adds a row for each run and kind of slice, and the claims about lanes.
    pub(super) fn evaluate(&self, outcome: &mut Outcome) {
        for (number, contrast) in self.0.iter().enumerate() {
            for (low, latencies) in [
                (0, contrast.latencies(false)),
                (MOST_LOW, contrast.latencies(true)),
            ] {
                outcome.row(
                    Row::new()
                        .with("kind", "contrast")
                        .with("run", number)
                        .with("configuration", contrast.configuration.name())
                        .with("load", contrast.load.name())
                        .with("low_clients", low)
                        .with("asked_hz", HZ)
                        .with("calls", latencies.count())
                        .with_fields(&latencies.summary()),
                );
            }
        }
        for (load, (name, quantile)) in [Load::Paper, Load::Calibrated].into_iter().flat_map(|load| {
            let quantiles = [
                ("p50", (|summary| summary.p50_us) as fn(&Summary) -> Option<f64>),
                ("p99", |summary| summary.p99_us),
            ];
            quantiles.map(|quantile| (load, quantile))
        }) {
            let ratios = |configuration| median(&self.ratios(configuration, load, quantile));
            outcome.row(
                Row::new()
                    .with("kind", "ratio")
                    .with("percentile", name)
                    .with("load", load.name())
                    .with("lanes", ratios(Configuration::Own))
                    .with("without_lanes", ratios(Configuration::WithoutLanes)),
            );
            let text = format!(
                "lanes: {name} of a high-priority client at {HZ} Hz with {MOST_LOW} low-priority clients, \
                 {}, over that without (median of the runs)",
                load.name()
            );
            let measured = ratios(Configuration::Own).unwrap_or(f64::NAN);
            outcome.claim(Claim::at_most(
                format!("{}{name}-ratio", load.prefix()),
                text,
                SOURCE,
                measured,
                LIMIT,
            ));
        }
        let lanes = self
            .0
            .iter()
            .filter(|contrast| contrast.configuration == Configuration::Own);
        let counts = lanes
            .flat_map(|contrast| [false, true].map(|with_others| contrast.latencies(with_others).count()));
        let fewest = counts.min().unwrap_or(0);
        let text = "smallest number of calls of the high-priority client in a run, without or with the \
                    others, for the percentiles";
        outcome.claim(Claim::at_least(
            "samples",
            text,
            SOURCE,
            fewest as f64,
            FEWEST_CALLS as f64,
        ));
    }

    /// Adds latencies by percentile, over all runs.
    pub(super) fn add_to(&self, chapter: Chapter, holes: &[Hole]) -> Chapter {
        let kinds = [Configuration::Own, Configuration::WithoutLanes]
            .into_iter()
            .flat_map(|configuration| [(configuration, false), (configuration, true)]);
        let kinds: Vec<_> = kinds
            .map(|(configuration, with_others)| {
                let of_kind = self.0.iter().filter(|contrast| {
                    (contrast.configuration, contrast.load) == (configuration, Load::Paper)
                });
                let mut latencies = Latencies::new();
                let mut slowest: Option<Call> = None;
                for call in of_kind.flat_map(|contrast| contrast.calls(with_others)) {
                    latencies.record(call.latency_ns);
                    slowest = slowest
                        .filter(|slowest| slowest.latency_ns >= call.latency_ns)
                        .or(Some(call));
                }
                let low = if with_others { MOST_LOW } else { 0 };
                let name = format!("{}, {low} low-priority clients", configuration.name());
                let cause = slowest.map(|call| cause_of(call.span(), holes));
                (name, latencies, cause.unwrap_or_default())
            })
            .collect();
        let distributions: Vec<_> = kinds
            .iter()
            .map(|(name, latencies, cause)| Distribution {
                name: name.clone(),
                latencies,
                cause_of_maximum: cause.clone(),
            })
            .collect();
        distribution::add(
            chapter,
            &format!("The high-priority client at {HZ} Hz"),
            "All runs together. With lanes the two curves should coincide.",
            &distributions,
        )
    }

    fn ratios(
        &self,
        configuration: Configuration,
        load: Load,
        quantile: impl Fn(&Summary) -> Option<f64>,
    ) -> Vec<f64> {
        let of_kind = |contrast: &&Contrast| (contrast.configuration, contrast.load) == (configuration, load);
        let runs = self.0.iter().filter(of_kind);
        let ratio = |contrast: &Contrast| {
            let of = |with_others| quantile(&contrast.latencies(with_others).summary());
            Some(of(true)? / of(false)?)
        };
        runs.filter_map(ratio).collect()
    }
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

impl Contrast {
    /// Returns the latencies of the high-priority client, in slices with or without the others.
    fn latencies(&self, with_others: bool) -> Latencies {
        let mut latencies = Latencies::new();
        let calls = self.calls(with_others);
        calls.for_each(|call| latencies.record(call.latency_ns));
        latencies
    }

    fn calls(&self, with_others: bool) -> impl Iterator<Item = Call> {
        let high = self.run.clients.iter().take(1).flat_map(|client| &client.calls);
        let of_kind = move |call: &&Call| {
            let since = Duration::from_nanos(call.start_ns.saturating_sub(self.run.span.start_ns));
            self.slices.have_others(since) == with_others && self.slices.is_settled(since)
        };
        high.filter(of_kind).copied()
    }
}

#[cfg(test)]
mod tests {
    use punctual_harness::Span;

    use super::*;
    use crate::orb::mt_cubit::Calls;

    fn contrast(configuration: Configuration, with_us: u64) -> Contrast {
        let call = |ms: u64| Call {
            start_ns: 1_000 + ms * 1_000_000,
            latency_ns: if (ms / 100) % 2 == 1 {
                with_us * 1000
            } else {
                20_000
            },
        };
        Contrast {
            configuration,
            load: Load::Paper,
            run: Run {
                clients: vec![Calls {
                    calls: (0..1000).map(call).collect(),
                    ..Calls::default()
                }],
                span: Span {
                    start_ns: 1_000,
                    end_ns: 1_000_001_000,
                },
                server_context_switches: 0,
            },
            slices: Slices {
                length: Duration::from_millis(100),
            },
        }
    }

    #[test]
    fn calls_belong_to_the_slice_of_their_start() {
        let contrast = contrast(Configuration::Own, 22);
        let (without, with) = (contrast.latencies(false), contrast.latencies(true));
        // The first 20 ms of each slice without the others are excluded.
        assert_eq!((without.count(), with.count()), (400, 500));
        let p50 = |latencies: &Latencies| latencies.quantile_us(0.5).unwrap();
        assert!((p50(&without) - 20.0).abs() < 0.1 && (p50(&with) - 22.0).abs() < 0.1);
    }

    #[test]
    fn the_claims_use_the_median_of_the_runs_with_lanes() {
        let runs = [22, 23, 90]
            .map(|us| contrast(Configuration::Own, us))
            .into_iter();
        let contrasts = Contrasts(runs.chain([contrast(Configuration::WithoutLanes, 500)]).collect());
        let machine = punctual_harness::MachineFacts::read(&punctual_os::CpuSet::single(0));
        let mut outcome = Outcome::new("orb.latency", machine);
        contrasts.evaluate(&mut outcome);
        let claim = |id: &str| outcome.claims().iter().find(|claim| claim.id == id).unwrap();
        assert!(claim("p50-ratio").holds() && claim("p99-ratio").holds());
        assert!((claim("p50-ratio").measured.as_f64().unwrap() - 1.15).abs() < 0.01);
        assert!(!claim("samples").holds(), "400 calls are too few");
    }
}
