//! `--controls`: runs benchmarks under their controls, and checks that claims do not hold then.

use std::{fmt, process::ExitCode};

use punctual_harness::{Claim, Outcome, Row, State};
use punctual_report::Table;

use super::{not_restored, page};
use crate::{
    benchmark::Benchmark,
    control::{Control, meet},
    error::Error,
    report::Files,
    run::{Measured, Part, Run},
    settings::Settings,
    testbed::Testbed,
};

const NAME: &str = "controls";

/// The outcome of controls, as claims: each claim of a benchmark must have a control, and must not hold
/// under it.
pub(crate) struct Checked {
    pub(crate) outcome: Outcome,
}

/// Runs the benchmarks as they are and under the first `of_each` of their controls. Without the ordinary run,
/// a claim that never holds would look as if a control broke it.
pub(crate) fn check(
    benchmarks: &[&Benchmark],
    of_each: usize,
    settings: &Settings,
    after_each: impl FnMut(&Run<'_>, &Testbed),
) -> Result<Checked, Error> {
    let parts = benchmarks.iter().flat_map(|&benchmark| {
        let controls = benchmark.controls.iter().take(of_each).map(Some);
        let controls = std::iter::once(None).chain(controls);
        controls.map(move |control| Part { benchmark, control })
    });
    let (run, testbed) = Run::measure_parts(NAME, parts.collect(), settings, after_each)?;
    let mut outcome = run.doubts(testbed.outcome(NAME));
    let mut without: Option<&Outcome> = None;
    for Measured {
        part, outcome: found, ..
    } in &run.measured
    {
        match (part.control, without) {
            (None, _) => {
                without = Some(found);
                add_uncontrolled(part.benchmark, found, &mut outcome);
            }
            (Some(control), Some(without)) => add(part.benchmark, control, found, without, &mut outcome),
            (Some(_), None) => unreachable!("a benchmark runs as it is first"),
        }
    }
    if let Err(error) = testbed.finish() {
        outcome.failed(not_restored(&error));
    }
    Ok(Checked { outcome })
}

impl Checked {
    /// Prints the results, writes the requested files and returns the exit code.
    pub(crate) fn finish(&self, files: &Files) -> ExitCode {
        println!("{}\n", table(&self.outcome).to_text());
        files.finish(&self.outcome, || {
            page::of_controls(&self.outcome, &table(&self.outcome))
        })
    }
}

/// Adds the claims that no control breaks. One that does not hold needs none: it can fail.
fn add_uncontrolled(benchmark: &Benchmark, found: &Outcome, outcome: &mut Outcome) {
    let claims = found.claims().iter();
    let can_fail =
        |claim: &&Claim| benchmark.control_of(&claim.id).is_some() || claim.state == State::DoesNotHold;
    for claim in claims.filter(|claim| !can_fail(claim)) {
        outcome.claim(Claim::new(
            format!("{}.{}@none", benchmark.name, claim.id),
            "each claim has a control, a run in which it does not hold",
            "Punctual's limit",
            "no control",
            "a control",
            false,
        ));
    }
}

/// Adds what one control run showed.
fn add(benchmark: &Benchmark, control: &Control, found: &Outcome, without: &Outcome, outcome: &mut Outcome) {
    let name = benchmark.name;
    for claim in found.claims().iter().filter(|claim| control.breaks(&claim.id)) {
        let ordinary = without.claims().iter().find(|other| other.id == claim.id);
        let broken = Broken::of(claim, ordinary.map(|ordinary| ordinary.state));
        outcome.row(row(name, control, claim, broken));
        let id = format!("{name}.{}@{}", claim.id, control.id);
        let text = format!("must not hold with {}: {}", control.about, claim.text);
        if broken.state() == State::CannotTell {
            outcome.skip(Some(&id), text, broken.to_string());
            continue;
        }
        let (source, measured) = (claim.source.clone(), claim.measured.clone());
        let holds = broken == Broken::Yes;
        let mut checked = Claim::new(id, text, source, measured, claim.limit.clone(), holds);
        checked.control = Some(control.id.to_owned());
        outcome.claim(checked);
    }
    let absent = control.breaks.iter().filter(|pattern| {
        let claims = found.claims().iter();
        claims.map(|claim| &claim.id).all(|id| !meet(pattern, id))
    });
    for pattern in absent {
        let id = format!("{name}.{pattern}@{}", control.id);
        let reason = found.skipped().iter().find(|skipped| {
            let id = skipped.id.as_deref();
            id.is_none_or(|id| meet(pattern, id))
        });
        match reason {
            Some(skipped) => outcome.skip(Some(&id), skipped.what.clone(), skipped.reason.clone()),
            None => outcome.claim(Claim::new(
                id,
                "a control names a claim of its benchmark",
                "Punctual's limit",
                "no such claim",
                "a claim",
                false,
            )),
        }
    }
}

/// Whether a control breaks a claim.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Broken {
    /// It was judged and does not hold, and holds without the control.
    Yes,
    /// It holds all the same.
    Holds,
    /// It does not hold for want of a value, which shows nothing about the limit.
    NoValue,
    /// The machine was unfit.
    Unfit,
    /// It does not hold without the control either, so that this one shows nothing.
    NeverHolds,
    /// Without the control, it was not judged.
    NotJudgedWithout,
}

impl Broken {
    /// `without` is the state of the claim in the ordinary run, if it was made there.
    fn of(claim: &Claim, without: Option<State>) -> Self {
        match (claim.state, without) {
            (State::Holds, _) => Self::Holds,
            (State::CannotTell, _) => Self::Unfit,
            (_, Some(State::DoesNotHold | State::Explained)) => Self::NeverHolds,
            (_, Some(State::CannotTell) | None) => Self::NotJudgedWithout,
            (_, Some(State::Holds)) if claim.measured.is_null() => Self::NoValue,
            (_, Some(State::Holds)) => Self::Yes,
        }
    }

    /// Returns what it says about the control.
    fn state(self) -> State {
        match self {
            Self::Yes => State::Holds,
            Self::Holds | Self::NoValue => State::DoesNotHold,
            Self::Unfit | Self::NeverHolds | Self::NotJudgedWithout => State::CannotTell,
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Yes => "does not hold",
            Self::Holds => "holds",
            Self::NoValue => "has no value",
            Self::Unfit => "cannot tell: the machine was unfit",
            Self::NeverHolds => "does not hold without the control either",
            Self::NotJudgedWithout => "not judged without the control",
        })
    }
}

fn row(benchmark: &str, control: &Control, claim: &Claim, broken: Broken) -> Row {
    Row::new()
        .with("sign", broken.state().sign())
        .with("benchmark", benchmark)
        .with("control", control.id)
        .with("claim", claim.id.as_str())
        .with("measured", claim.measured.clone())
        .with("limit", claim.limit.clone())
        .with("state", broken.to_string())
}

fn table(outcome: &Outcome) -> Table {
    Table::of(outcome.rows().iter().map(Row::as_map))
        .title("Claims under their controls: ✓ does not hold, as it must")
        .columns(&[
            ("sign", ""),
            ("benchmark", "benchmark"),
            ("control", "control"),
            ("claim", "claim"),
            ("measured", "measured"),
            ("limit", "limit"),
            ("state", "under the control"),
        ])
}
