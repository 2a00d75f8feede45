//! `--controls`: runs benchmarks under their controls, and checks that the verdicts on claims change then.

use std::{fmt, process::ExitCode};

use punctual_harness::{Claim, Outcome, Row, State};
use punctual_report::Table;

use super::{not_restored, page};
use crate::{
    benchmark::{Benchmark, Effect},
    control::{Control, meet},
    error::Error,
    report::Files,
    run::{Measured, Part, Run},
    settings::Settings,
    testbed::Testbed,
};

const NAME: &str = "controls";

/// The controls of a benchmark that are run.
#[derive(Clone, Copy)]
pub(crate) enum Chosen<'a> {
    All,
    First,
    Named(&'a [String]),
}

impl<'a> Chosen<'a> {
    /// Returns those of this benchmark with these ids; without ids, all.
    ///
    /// # Errors
    /// It has no control with one of the ids.
    pub(crate) fn named(ids: &'a [String], benchmark: &Benchmark) -> Result<Self, Error> {
        let known = || benchmark.controls.iter().map(|control| control.id);
        match ids.iter().find(|id| !known().any(|known| known == *id)) {
            Some(unknown) => Err(format!(
                "{} has no control `{unknown}`, but {}",
                benchmark.name,
                known().collect::<Vec<_>>().join(", ")
            )
            .into()),
            None if ids.is_empty() => Ok(Self::All),
            None => Ok(Self::Named(ids)),
        }
    }

    fn among(self, controls: &[Control]) -> impl Iterator<Item = &Control> {
        let mut numbered = controls.iter().enumerate();
        std::iter::from_fn(move || {
            numbered
                .find(|(place, control)| match self {
                    Self::All => true,
                    Self::First => *place == 0,
                    Self::Named(ids) => ids.iter().any(|id| id == control.id),
                })
                .map(|(_, control)| control)
        })
    }
}

/// The outcome of controls, as claims: each claim of a benchmark must have a control that breaks it, or, if
/// it does not hold for an explained reason, that restores it.
pub(crate) struct Checked {
    pub(crate) outcome: Outcome,
}

/// Runs the benchmarks as they are and under their chosen controls. Without the ordinary run, a claim that
/// never holds would look as if a control broke it.
pub(crate) fn check(
    benchmarks: &[&Benchmark],
    chosen: Chosen<'_>,
    settings: &Settings,
    after_each: impl FnMut(&Run<'_>, &Testbed),
) -> Result<Checked, Error> {
    let parts = benchmarks.iter().flat_map(|&benchmark| {
        let controls = chosen.among(benchmark.controls).map(Some);
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
    for claim in found.claims() {
        let Some(effect) = benchmark.effect(control, &claim.id) else {
            continue;
        };
        let ordinary = without.claims().iter().find(|other| other.id == claim.id);
        let shown = Shown::of(effect, claim, ordinary.map(|ordinary| ordinary.state));
        outcome.row(row(name, control, claim, shown));
        let id = format!("{name}.{}@{}", claim.id, control.id);
        let must = match effect {
            Effect::Breaks => "must not hold",
            Effect::Restores => "must hold",
        };
        let text = format!("{must} with {}: {}", control.about, claim.text);
        if shown.state() == State::CannotTell {
            outcome.skip(Some(&id), text, shown.to_string());
            continue;
        }
        let (source, measured) = (claim.source.clone(), claim.measured.clone());
        let holds = shown.state() == State::Holds;
        let mut checked = Claim::new(id, text, source, measured, claim.limit.clone(), holds);
        checked.control = Some(control.id.to_owned());
        outcome.claim(checked);
    }
    let named = control
        .breaks
        .iter()
        .copied()
        .chain(benchmark.restored_by(control));
    let absent = named.filter(|pattern| {
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

/// Result of a control for a claim.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Shown {
    /// It does not hold, as it must, and holds without the control.
    Broken,
    /// It holds, as it must, and does not without the control.
    Restored,
    /// It holds, and must not.
    Holds,
    /// It does not hold, and must.
    DoesNotHold,
    /// It does not hold for want of a value, which shows nothing about the limit.
    NoValue,
    /// The machine was unfit.
    Unfit,
    /// It does not hold without the control either, so that this one shows nothing.
    NeverHolds,
    /// It holds without the control, too, so that this one shows nothing.
    AlwaysHolds,
    /// The claim was not evaluated without the control either.
    NotEvaluatedWithout,
}

impl Shown {
    /// `without` is the state of the claim in the ordinary run, if it was made there.
    fn of(effect: Effect, claim: &Claim, without: Option<State>) -> Self {
        let has_no_value = claim.measured.is_null();
        match (effect, claim.state, without) {
            (_, State::CannotTell, _) => Self::Unfit,
            (Effect::Breaks, State::Holds, _) => Self::Holds,
            (_, _, Some(State::CannotTell) | None) => Self::NotEvaluatedWithout,
            (Effect::Breaks, _, Some(State::DoesNotHold | State::Explained)) => Self::NeverHolds,
            (Effect::Restores, _, Some(State::Holds)) => Self::AlwaysHolds,
            (_, State::DoesNotHold | State::Explained, _) if has_no_value => Self::NoValue,
            (Effect::Breaks, ..) => Self::Broken,
            (Effect::Restores, State::Holds, _) => Self::Restored,
            (Effect::Restores, ..) => Self::DoesNotHold,
        }
    }

    /// Returns what it says about the control.
    fn state(self) -> State {
        match self {
            Self::Broken | Self::Restored => State::Holds,
            Self::Holds | Self::DoesNotHold | Self::NoValue => State::DoesNotHold,
            Self::Unfit | Self::NeverHolds | Self::AlwaysHolds | Self::NotEvaluatedWithout => {
                State::CannotTell
            }
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Broken | Self::DoesNotHold => "does not hold",
            Self::Restored | Self::Holds => "holds",
            Self::NoValue => "has no value",
            Self::Unfit => "cannot tell: the machine was unfit",
            Self::NeverHolds => "does not hold without the control either",
            Self::AlwaysHolds => "holds without the control, too",
            Self::NotEvaluatedWithout => "not judged without the control",
        })
    }
}

fn row(benchmark: &str, control: &Control, claim: &Claim, shown: Shown) -> Row {
    Row::new()
        .with("sign", shown.state().sign())
        .with("benchmark", benchmark)
        .with("control", control.id)
        .with("claim", claim.id.as_str())
        .with("measured", claim.measured.clone())
        .with("limit", claim.limit.clone())
        .with("state", shown.to_string())
}

fn table(outcome: &Outcome) -> Table {
    Table::of(outcome.rows().iter().map(Row::as_map))
        .title("Claims under their controls: ✓ does not hold, or holds again, as it must")
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

#[cfg(test)]
mod tests {
    use super::*;

    const CONTROLS: [Control; 3] = [control("slow"), control("empty"), control("stuck")];

    const fn control(id: &'static str) -> Control {
        Control {
            id,
            about: "something else",
            breaks: &["*"],
        }
    }

    #[test]
    fn the_chosen_controls_are_run_in_their_order() {
        let ids = |chosen: Chosen<'_>| {
            chosen
                .among(&CONTROLS)
                .map(|control| control.id)
                .collect::<Vec<_>>()
        };
        let named = ["stuck", "slow"].map(String::from);
        assert_eq!(ids(Chosen::All), ["slow", "empty", "stuck"]);
        assert_eq!(ids(Chosen::First), ["slow"]);
        assert_eq!(ids(Chosen::Named(&named)), ["slow", "stuck"]);
    }
}
