//! `--controls`: runs benchmarks under their controls, and checks that claims do not hold then.

use std::process::ExitCode;

use punctual_harness::{Claim, Outcome, Row};
use punctual_report::Table;

use super::{not_restored, page};
use crate::{
    benchmark::Benchmark,
    control::{Control, matches},
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

/// Runs the benchmarks under their controls: all of them, or in a quick run the first one of each.
pub(crate) fn check(
    benchmarks: &[&Benchmark],
    settings: &Settings,
    after_each: impl FnMut(&Run<'_>, &Testbed),
) -> Result<Checked, Error> {
    let of_each = if settings.quick { 1 } else { usize::MAX };
    let parts = benchmarks.iter().flat_map(|&benchmark| {
        let controls = benchmark.controls.iter().take(of_each);
        controls.map(move |control| Part {
            benchmark,
            control: Some(control),
        })
    });
    let (run, testbed) = Run::measure_parts(NAME, parts.collect(), settings, after_each)?;
    let mut outcome = run.doubts(testbed.outcome(NAME));
    for benchmark in benchmarks
        .iter()
        .filter(|benchmark| benchmark.controls.is_empty())
    {
        outcome.claim(uncontrolled(benchmark.name, "any"));
    }
    run.measured
        .iter()
        .for_each(|measured| add(measured, &mut outcome));
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

/// Adds what one control run showed.
fn add(measured: &Measured<'_>, outcome: &mut Outcome) {
    let Part {
        benchmark,
        control: Some(control),
    } = measured.part
    else {
        return;
    };
    let name = benchmark.name;
    for claim in measured.outcome.claims() {
        if control.breaks(&claim.id) {
            outcome.row(row(name, control, claim));
            outcome.claim(broken(name, control, claim));
        } else if benchmark.control_of(&claim.id).is_none() {
            let claim = uncontrolled(name, &claim.id);
            // Every control of the benchmark shows it again.
            if outcome.claims().iter().all(|other| other.id != claim.id) {
                outcome.claim(claim);
            }
        }
    }
    let absent = control.breaks.iter().filter(|pattern| {
        let claims = measured.outcome.claims().iter();
        claims.map(|claim| &claim.id).all(|id| !matches(pattern, id))
    });
    for pattern in absent {
        let id = format!("{name}.{pattern}@{}", control.id);
        let reason = measured.outcome.skipped().iter().find(|skipped| {
            let id = skipped.id.as_deref();
            id.is_none_or(|id| matches(pattern, id))
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

/// Returns the claim that a claim does not hold under a control.
fn broken(benchmark: &str, control: &Control, claim: &Claim) -> Claim {
    let mut checked = Claim::new(
        format!("{benchmark}.{}@{}", claim.id, control.id),
        format!("must not hold with {}: {}", control.about, claim.text),
        claim.source.clone(),
        claim.measured.clone(),
        claim.limit.clone(),
        !claim.holds(),
    );
    checked.control = Some(control.id.to_owned());
    checked
}

/// Returns the claim, which does not hold, that a claim has a control.
fn uncontrolled(benchmark: &str, claim: &str) -> Claim {
    Claim::new(
        format!("{benchmark}.{claim}@none"),
        "each claim has a control, a run in which it does not hold",
        "Punctual's limit",
        "no control",
        "a control",
        false,
    )
}

fn row(benchmark: &str, control: &Control, claim: &Claim) -> Row {
    Row::new()
        .with("sign", if claim.holds() { "✗" } else { "✓" })
        .with("benchmark", benchmark)
        .with("control", control.id)
        .with("claim", claim.id.as_str())
        .with("measured", claim.measured.clone())
        .with("limit", claim.limit.clone())
        .with("state", claim.state.to_string())
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
