//! Runs benchmarks one after the other on one prepared machine. After a failure the next one runs; a signal
//! ends the run, and the results measured by then are kept.

use std::{
    any::Any,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use punctual_harness::{Outcome, State};
use punctual_report::Chapter;
use punctual_system::signals::TerminationSignal;

use crate::{
    attacks,
    benchmark::{Benchmark, Findings},
    control::Control,
    error::Error,
    explain,
    settings::Settings,
    testbed::Testbed,
};

/// How often a benchmark is repeated because the machine was unfit.
const REPETITIONS: usize = 2;

/// Unit of measurement: a benchmark, as it is or under a control.
#[derive(Clone, Copy)]
pub(crate) struct Part<'b> {
    pub(crate) benchmark: &'b Benchmark,
    pub(crate) control: Option<&'static Control>,
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.benchmark.name)?;
        match self.control {
            Some(control) => write!(f, "@{}", control.id),
            None => Ok(()),
        }
    }
}

impl Part<'_> {
    /// Time in addition to the measuring time that was requested: processes, calibration.
    const PREPARATION: Duration = Duration::from_secs(4);

    fn expected(&self, settings: &Settings) -> Duration {
        let length = settings.length();
        match (settings.seconds, settings.attacks.len()) {
            (Some(seconds), _) => Duration::from_secs(seconds.into()) + Self::PREPARATION,
            (None, 1..) if self.benchmark.name == attacks::BENCHMARK.name => {
                attacks::expected(settings.attacks.len(), length)
            }
            (None, _) => (self.benchmark.expected)(length),
        }
    }
}

/// The results of a run, possibly still in progress.
pub(crate) struct Run<'b> {
    settings: &'b Settings,
    /// In the order in which they ran.
    pub(crate) measured: Vec<Measured<'b>>,
    /// Parts that have not started.
    pub(crate) outstanding: Vec<Part<'b>>,
    interrupted: Option<TerminationSignal>,
    /// Why the outstanding ones cannot be measured, other than a signal.
    obstacle: Option<String>,
}

/// One part that ran.
pub(crate) struct Measured<'b> {
    pub(crate) part: Part<'b>,
    pub(crate) elapsed: Duration,
    /// Its outcome; if it failed, this states why.
    pub(crate) outcome: Outcome,
    /// Its chapter of the report; `None` if it failed.
    pub(crate) chapter: Option<Chapter>,
}

impl<'b> Run<'b> {
    /// Runs the benchmarks as they are. `after_each` receives the results so far.
    pub(crate) fn measure(
        title: &str,
        benchmarks: &[&'b Benchmark],
        settings: &'b Settings,
        after_each: impl FnMut(&Self, &Testbed),
    ) -> Result<(Self, Testbed), Error> {
        explain::check(settings, benchmarks)?;
        let control = None;
        let parts = benchmarks.iter().map(|&benchmark| Part { benchmark, control });
        Self::measure_parts(title, parts.collect(), settings, after_each)
    }

    /// Runs the parts. `after_each` receives the results so far.
    pub(crate) fn measure_parts(
        title: &str,
        parts: Vec<Part<'b>>,
        settings: &'b Settings,
        mut after_each: impl FnMut(&Self, &Testbed),
    ) -> Result<(Self, Testbed), Error> {
        let length = settings.length();
        let all = parts.len();
        let expected = parts.iter().map(|part| part.expected(settings)).sum();
        let mut testbed = Testbed::prepare(title, length, settings, expected)?;
        let mut run = Self {
            settings,
            measured: Vec::new(),
            outstanding: parts,
            interrupted: None,
            obstacle: None,
        };
        while run.interrupted.is_none() && run.obstacle.is_none() && !run.outstanding.is_empty() {
            let part = run.outstanding.remove(0);
            if all > 1 {
                let name = format!("{part} ({} of {all})", run.measured.len() + 1);
                testbed.progress.part(name, part.expected(settings));
            }
            run.run_one(part, &mut testbed);
            run.interrupted = testbed.interrupted();
            after_each(&run, &testbed);
        }
        Ok((run, testbed))
    }

    /// Runs a part, and repeats it if the machine was unfit, unless it is so for a reason that remains.
    fn run_one(&mut self, part: Part<'b>, testbed: &mut Testbed) {
        testbed.control = part.control;
        let mut measured = self.try_one(part, testbed);
        for repetition in 1..=REPETITIONS {
            if !measured.outcome.is_unfit() || testbed.interrupted().is_some() || self.obstacle.is_some() {
                break;
            }
            if !measured.outcome.is_worth_repeating() {
                break;
            }
            let reasons: Vec<String> = measured.outcome.doubts().collect();
            testbed
                .progress
                .note(format!("{part}: repeated, because: {}", reasons.join("; ")));
            testbed.progress.repeat(part.expected(self.settings));
            // The processor may have another speed now.
            testbed.rounds_per_unit_of_work = None;
            measured = self.try_one(part, testbed);
            measured.outcome.parameter("repetitions", repetition);
            if measured.outcome.doubts().eq(reasons) {
                break;
            }
        }
        measured.evaluate();
        self.measured.push(measured);
    }

    fn try_one(&mut self, part: Part<'b>, testbed: &mut Testbed) -> Measured<'b> {
        let began = Instant::now();
        let prepared = testbed.sweep().map_err(|error| {
            self.obstacle = Some(format!("the machine is no longer prepared: {error}"));
            error
        });
        let result = prepared.and_then(|()| run_catching_panics(part.benchmark, testbed));
        let (mut outcome, chapter) = match result {
            Ok(Findings { outcome, chapter }) => (outcome, Some(chapter)),
            Err(error) => {
                let mut outcome = testbed.outcome(part.benchmark.name);
                match testbed.interrupted() {
                    Some(signal) => outcome.interrupted(format!("by {signal}, before it had results")),
                    None => outcome.failed(error.to_string()),
                }
                (outcome, None)
            }
        };
        let elapsed = began.elapsed();
        outcome.parameter("elapsed_s", (elapsed.as_secs_f64() * 10.0).round() / 10.0);
        Measured {
            part,
            elapsed,
            outcome,
            chapter,
        }
    }

    /// Merges the outcomes of the benchmarks into `named`.
    pub(crate) fn outcome(&self, mut named: Outcome) -> Outcome {
        for measured in &self.measured {
            named.absorb(measured.outcome.clone());
        }
        self.state_of_run(&mut named);
        named
    }

    /// Adds to `named` what failed, with the names of the parts, and what is missing.
    pub(crate) fn doubts(&self, mut named: Outcome) -> Outcome {
        for measured in &self.measured {
            named.absorb_doubts(&measured.part.to_string(), &measured.outcome);
        }
        self.state_of_run(&mut named);
        named
    }

    fn state_of_run(&self, named: &mut Outcome) {
        named.parameter("length", self.settings.length().name());
        let why = match (&self.interrupted, &self.obstacle) {
            (Some(signal), _) => Some(format!("interrupted by {signal} before it started")),
            (None, Some(obstacle)) => Some(obstacle.clone()),
            (None, None) => None,
        };
        for part in &self.outstanding {
            let why = why.clone().unwrap_or_else(|| "not reached yet".to_owned());
            named.skip(None, part.to_string(), why);
        }
        match (&self.interrupted, self.outstanding.len()) {
            (Some(signal), 0) => named.interrupted(format!("by {signal}")),
            (Some(signal), left) => named.interrupted(format!("by {signal}; {left} not started")),
            (None, 0) => {}
            (None, left) => named.failed(format!("{left} not started")),
        }
    }
}

impl Measured<'_> {
    /// Sets what the benchmark does not know of its claims: their controls, and that an unfit machine says
    /// nothing about them.
    fn evaluate(&mut self) {
        let unfit = self.outcome.is_unfit();
        // Throttling excuses nothing, so a claim that holds does so in spite of it.
        let throttled = self.outcome.is_only_throttled();
        for claim in self.outcome.claims_mut() {
            let control = self.part.benchmark.control_of(&claim.id);
            claim.control = control.map(|control| control.id.to_owned());
            let holds = claim.state == State::Holds;
            if unfit && !(throttled && holds) {
                claim.state = State::CannotTell;
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requested_measuring_time_is_expected_in_place_of_the_usual_one() {
        let any = crate::catalog::benchmarks().find(|benchmark| benchmark.name == "cubit");
        let part = Part {
            benchmark: any.expect("it is listed"),
            control: None,
        };
        let usual = Settings::default();
        assert_eq!(part.expected(&usual), (part.benchmark.expected)(usual.length()));
        let short = Settings {
            seconds: Some(3),
            ..Settings::default()
        };
        assert_eq!(part.expected(&short), Duration::from_secs(7));
    }

    #[test]
    fn the_announced_time_is_that_of_the_chosen_attacks() {
        let of = |names: &[&str]| {
            let part = Part {
                benchmark: &attacks::BENCHMARK,
                control: None,
            };
            part.expected(&Settings {
                attacks: names.iter().copied().map(str::to_owned).collect(),
                ..Settings::default()
            })
        };
        let (two, all) = (of(&["idle", "locates"]), of(&[]));
        assert_eq!(all, (attacks::BENCHMARK.expected)(Settings::default().length()));
        assert!(of(&["idle"]) < two, "{two:?}");
        assert_eq!(all - of(&["idle"]), (two - of(&["idle"])) * 15, "16 attacks");
    }
}
