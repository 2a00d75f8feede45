//! Statements of [Gill 2004] about the costs of its implementation, judged by the rows of `dyn.tss` and
//! `dyn.switch`. Their own claims limit what ours costs; here the opposite would hold.

use punctual_harness::{Claim, Outcome, Row};

use super::{switch, tss};
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    experiment::benchmark,
    testbed::Testbed,
};

pub(super) const TSS: Benchmark = Benchmark {
    run: run_tss,
    ..benchmark::<tss::ThreadStorage>()
};
pub(super) const SWITCH: Benchmark = Benchmark {
    run: run_switch,
    ..benchmark::<switch::Switch>()
};

/// The number of keys over which the cost of their creation at least doubles if it "grows linearly": the
/// paper's emulation doubles it within its 500 keys, and half of the fitted growth is no noise.
const KEYS: f64 = 10_000.0;
const DOUBLES: f64 = 1.0;

fn run_tss(testbed: &mut Testbed) -> Result<Findings, Error> {
    let mut findings = (benchmark::<tss::ThreadStorage>().run)(testbed)?;
    creation(&mut findings.outcome);
    accesses(&mut findings.outcome);
    Ok(findings)
}

fn run_switch(testbed: &mut Testbed) -> Result<Findings, Error> {
    let mut findings = (benchmark::<switch::Switch>().run)(testbed)?;
    let name = "ready_queue_by_native_priorities";
    let is_it = |row: &&Row| row.get("ratio").is_some_and(|ratio| ratio == name);
    let low = number(&findings.outcome, is_it, "low");
    let text = "time of a decision and hand-over through the ready queue (MIF) over that by native \
                priorities, lower bound of the median of alternating \
                blocks (95 %), above 1: it costs more";
    add(
        "hand-over.more",
        text,
        "[Gill 2004] 2.4",
        low,
        1.0,
        &mut findings.outcome,
    );
    Ok(findings)
}

/// Claims the growth of the cost of a creation, by the line fitted to the first keys of a process.
fn creation(outcome: &mut Outcome) {
    let is_ours = |row: &&Row| row.get("table").is_some_and(|table| table == "creation");
    let first = outcome.rows().iter().find(is_ours);
    let line = |column| first.and_then(|row| row.number(column));
    let growth = line("slope_ns_per_key").zip(line("intercept_ns"));
    // A line through zero, or below it, grows without limit as a share of its beginning.
    let growth = growth.map(|(slope, intercept)| slope * KEYS / intercept.max(0.0));
    let text = "growth of the time to create a key over 10,000 keys, by the fitted line, as a share of the \
                time of the first one, above 1: it grows linearly";
    add(
        "creation.grows",
        text,
        "[Gill 2004] 3.1, table 3",
        growth,
        DOUBLES,
        outcome,
    );
}

/// Claims that reads and writes cost more than those of POSIX keys.
fn accesses(outcome: &mut Outcome) {
    for operation in ["read", "write"] {
        let is_ours = |row: &&Row| {
            let has = |name: &str, text: &str| row.get(name).is_some_and(|value| value == text);
            has("table", "access") && has("operation", operation) && !has("what", "POSIX")
        };
        let low = number(outcome, is_ours, "ratio_low");
        let text = format!(
            "time of a {operation} of our storage over that of POSIX keys, lower bound of the median (95 %), \
             above 1: it costs more"
        );
        let id = format!("{operation}.more");
        add(&id, &text, "[Gill 2004] 3.1, table 4", low, 1.0, outcome);
    }
}

/// Returns a number of the first of these rows that has it.
fn number(outcome: &Outcome, wanted: impl Fn(&&Row) -> bool, column: &str) -> Option<f64> {
    let mut rows = outcome.rows().iter().filter(wanted);
    rows.find_map(|row| row.number(column))
}

fn add(id: &str, text: &str, source: &str, measured: Option<f64>, limit: f64, outcome: &mut Outcome) {
    match measured {
        Some(measured) => outcome.claim(Claim::above(id, text, source, measured, limit)),
        None => outcome.skip(Some(id), text, "it was not measured in this run"),
    }
}

#[cfg(test)]
mod tests {
    use punctual_harness::MachineFacts;
    use punctual_os::CpuSet;

    use super::*;

    fn evaluated(slope: f64, intercept: f64, ratio_low: f64) -> Vec<(String, bool)> {
        let mut outcome = Outcome::new("dyn.tss", MachineFacts::read(&CpuSet::single(0)));
        let row = Row::new().with("table", "creation").with("what", "ours");
        outcome.row(
            row.with("slope_ns_per_key", slope)
                .with("intercept_ns", intercept),
        );
        // That of the paper is not ours.
        outcome.row(Row::new().with("table", "creation").with("slope_ns_per_key", 9.0));
        for operation in ["read", "write"] {
            let row = Row::new().with("table", "access").with("operation", operation);
            outcome.row(row.clone().with("what", "POSIX").with("ratio_low", 1.0));
            outcome.row(row.with("ratio_low", ratio_low));
        }
        creation(&mut outcome);
        accesses(&mut outcome);
        let claims = outcome.claims().iter();
        claims.map(|claim| (claim.id.clone(), claim.holds())).collect()
    }

    #[test]
    fn the_papers_statements_hold_if_ours_costs_as_much() {
        let expected =
            |holds: bool| ["creation.grows", "read.more", "write.more"].map(|id| (id.to_owned(), holds));
        assert_eq!(evaluated(0.02, 100.0, 9.7), expected(true));
        assert_eq!(
            evaluated(1.5, -3.0, 9.7),
            expected(true),
            "as in a table that is searched"
        );
        assert_eq!(evaluated(0.0004, 100.0, 0.9), expected(false));
        assert_eq!(evaluated(-1.0, 100.0, 1.0), expected(false));
    }
}
