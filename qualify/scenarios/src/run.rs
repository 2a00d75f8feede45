//! Runs benchmarks one after the other on one prepared machine. After a failure the next one runs; a signal
//! ends the run, and the results measured by then are kept.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use punctual_harness::Outcome;
use punctual_report::Chapter;
use punctual_system::signals::TerminationSignal;

use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    explain,
    settings::Settings,
    testbed::Testbed,
};

/// The results of a run, possibly still in progress.
pub(crate) struct Run<'b> {
    settings: &'b Settings,
    /// In the order in which they ran.
    pub(crate) measured: Vec<Measured<'b>>,
    /// Benchmarks that have not started.
    pub(crate) outstanding: Vec<&'b Benchmark>,
    interrupted: Option<TerminationSignal>,
    /// Why the outstanding ones cannot be measured, other than a signal.
    obstacle: Option<String>,
}

/// One benchmark that ran.
pub(crate) struct Measured<'b> {
    pub(crate) benchmark: &'b Benchmark,
    pub(crate) elapsed: Duration,
    /// Its outcome; if it failed, this states why.
    pub(crate) outcome: Outcome,
    /// Its chapter of the report; `None` if it failed.
    pub(crate) chapter: Option<Chapter>,
}

impl<'b> Run<'b> {
    /// Runs the benchmarks. `after_each` receives the results so far.
    pub(crate) fn measure(
        title: &str,
        benchmarks: &[&'b Benchmark],
        settings: &'b Settings,
        mut after_each: impl FnMut(&Self, &Testbed),
    ) -> Result<(Self, Testbed), Error> {
        explain::check(settings, benchmarks)?;
        let length = settings.length();
        let expected = benchmarks
            .iter()
            .map(|benchmark| (benchmark.expected)(length))
            .sum();
        let mut testbed = Testbed::prepare(title, length, settings, expected)?;
        let mut run = Self {
            settings,
            measured: Vec::new(),
            outstanding: benchmarks.to_vec(),
            interrupted: None,
            obstacle: None,
        };
        while run.interrupted.is_none() && run.obstacle.is_none() && !run.outstanding.is_empty() {
            let benchmark = run.outstanding.remove(0);
            if benchmarks.len() > 1 {
                let name = format!(
                    "{} ({} of {})",
                    benchmark.name,
                    run.measured.len() + 1,
                    benchmarks.len()
                );
                testbed.progress.part(name, (benchmark.expected)(length));
            }
            run.run_one(benchmark, &mut testbed);
            run.interrupted = testbed.interrupted();
            after_each(&run, &testbed);
        }
        Ok((run, testbed))
    }

    fn run_one(&mut self, benchmark: &'b Benchmark, testbed: &mut Testbed) {
        let began = Instant::now();
        let prepared = testbed.sweep().map_err(|error| {
            self.obstacle = Some(format!("the machine is no longer prepared: {error}"));
            error
        });
        let result = prepared.and_then(|()| run_catching_panics(benchmark, testbed));
        let (mut outcome, chapter) = match result {
            Ok(Findings { outcome, chapter }) => (outcome, Some(chapter)),
            Err(error) => {
                let mut outcome = testbed.outcome(benchmark.name);
                match testbed.interrupted() {
                    Some(signal) => outcome.interrupted(format!("by {signal}, before it had results")),
                    None => outcome.failed(error.to_string()),
                }
                (outcome, None)
            }
        };
        let elapsed = began.elapsed();
        outcome.parameter("elapsed_s", (elapsed.as_secs_f64() * 10.0).round() / 10.0);
        self.measured.push(Measured {
            benchmark,
            elapsed,
            outcome,
            chapter,
        });
    }

    /// Merges the outcomes of the benchmarks into `named`.
    pub(crate) fn outcome(&self, mut named: Outcome) -> Outcome {
        named.parameter("length", self.settings.length().name());
        for measured in &self.measured {
            named.absorb(measured.outcome.clone());
        }
        let why = match (&self.interrupted, &self.obstacle) {
            (Some(signal), _) => Some(format!("interrupted by {signal} before it started")),
            (None, Some(obstacle)) => Some(obstacle.clone()),
            (None, None) => None,
        };
        for benchmark in &self.outstanding {
            let why = why.clone().unwrap_or_else(|| "not reached yet".to_owned());
            named.skip(None, benchmark.name, why);
        }
        match (&self.interrupted, self.outstanding.len()) {
            (Some(signal), 0) => named.interrupted(format!("by {signal}")),
            (Some(signal), left) => named.interrupted(format!("by {signal}; {left} not started")),
            (None, 0) => {}
            (None, left) => named.failed(format!("{left} not started")),
        }
        named
    }
}

/// Runs a benchmark. A panic, which is a defect of the benchmark, loses its own results only.
fn run_catching_panics(benchmark: &Benchmark, testbed: &mut Testbed) -> Result<Findings, Error> {
    catch_unwind(AssertUnwindSafe(|| (benchmark.run)(testbed))).unwrap_or_else(|panic| {
        Err(format!(
            "the benchmark panicked, which is a defect in it: {}",
            text_of(panic.as_ref())
        )
        .into())
    })
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "no message",
    }
}
