//! JSON result of a measurement.

mod claim;
mod row;
mod state;
mod statement;
mod verdict;

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::MachineFacts;
use crate::output_file;
pub use claim::{Claim, Skipped};
pub use row::Row;
pub use state::State;
pub use statement::Statement;
pub use verdict::Verdict;
use verdict::{Doubt, Kind};

/// Result of a benchmark: one JSON object.
///
/// ```
/// # use punctual_harness::{Claim, MachineFacts, Outcome, Row};
/// # use punctual_os::CpuSet;
/// let mut outcome = Outcome::new("cubit", MachineFacts::read(&CpuSet::single(1)));
/// outcome.parameter("rounds", 30);
/// outcome.row(Row::new().with("transport", "tcp").with("p50_us", 18.5));
/// outcome.claim(Claim::at_most("p50-tcp", "p50 at most 1.15 × raw", "Punctual's limit", 1.08, 1.15));
/// println!("{}", outcome.verdict());
/// # let file = std::env::temp_dir().join(format!("punctual-outcome-{}.json", std::process::id()));
/// outcome.write(&file)?;
/// # std::fs::remove_file(&file)?;
/// # assert!([0, 3].contains(&outcome.verdict().exit_code()));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Outcome {
    schema: u32,
    benchmark: String,
    machine: MachineFacts,
    parameters: Map<String, Value>,
    rows: Vec<Row>,
    claims: Vec<Claim>,
    /// States of the papers' statements, by these claims; empty before they are evaluated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    statements: Vec<Statement>,
    skipped: Vec<Skipped>,
    /// Reasons why results cannot be trusted or are missing. In the file they are in `skipped`, and only
    /// there after reading it back.
    #[serde(skip)]
    doubts: Vec<Doubt>,
}

impl Outcome {
    /// Version of the format.
    pub const SCHEMA: u32 = 1;

    /// Creates an outcome without results.
    pub fn new(benchmark: impl Into<String>, machine: MachineFacts) -> Self {
        Self {
            schema: Self::SCHEMA,
            benchmark: benchmark.into(),
            machine,
            parameters: Map::new(),
            rows: Vec::new(),
            claims: Vec::new(),
            statements: Vec::new(),
            skipped: Vec::new(),
            doubts: Vec::new(),
        }
    }

    /// Sets a parameter of the benchmark, replacing an earlier value.
    pub fn parameter(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.parameters.insert(name.into(), value.into());
    }

    /// Adds a row of results.
    pub fn row(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Adds a claim that was tested.
    ///
    /// # Panics
    /// If a claim with the same id exists: readers find claims by id.
    pub fn claim(&mut self, claim: Claim) {
        assert!(
            self.claims.iter().all(|other| other.id != claim.id),
            "duplicate claim `{}` in benchmark `{}`",
            claim.id,
            self.benchmark
        );
        self.claims.push(claim);
    }

    /// Sets what the claims say about statements of papers.
    pub fn set_statements(&mut self, statements: Vec<Statement>) {
        self.statements = statements;
    }

    /// Records what was not measured, and why, with the id of the claim that is therefore missing.
    pub fn skip(&mut self, id: Option<&str>, what: impl Into<String>, reason: impl Into<String>) {
        self.skipped.push(Skipped {
            id: id.map(str::to_owned),
            what: what.into(),
            reason: reason.into(),
        });
    }

    /// Records that the machine was unfit: exit code 2 regardless of the claims.
    pub fn unfit(&mut self, reason: impl Into<String>) {
        self.doubt(Kind::Unfit, reason.into());
    }

    /// Records that real-time throttling made the machine unfit, as it will in a repetition.
    pub(crate) fn throttled(&mut self, reason: impl Into<String>) {
        self.doubt(Kind::Throttled, reason.into());
    }

    /// Records that the benchmark failed, at least partly: exit code 2 regardless of the claims.
    pub fn failed(&mut self, reason: impl Into<String>) {
        self.doubt(Kind::Failed, reason.into());
    }

    /// Records that the benchmark was interrupted: exit code 2 regardless of the claims.
    pub fn interrupted(&mut self, reason: impl Into<String>) {
        self.doubt(Kind::Interrupted, reason.into());
    }

    fn doubt(&mut self, kind: Kind, reason: String) {
        let what = format!("verdict of {}", self.benchmark);
        self.skip(None, what, format!("{kind}: {reason}"));
        self.doubts.push(Doubt { kind, reason });
    }

    /// Merges the outcome of another benchmark: its claims become `benchmark.claim`, its rows get a first
    /// column `benchmark`, and its parameters become one entry under its name.
    pub fn absorb(&mut self, other: Self) {
        let name = other.benchmark;
        self.parameter(name.clone(), other.parameters);
        for row in other.rows {
            self.rows.push(row.with_first("benchmark", name.as_str()));
        }
        for mut claim in other.claims {
            claim.id = format!("{name}.{}", claim.id);
            self.claim(claim);
        }
        for mut skipped in other.skipped {
            skipped.id = skipped.id.map(|id| format!("{name}.{id}"));
            self.skipped.push(skipped);
        }
        self.take_doubts(&name, other.doubts);
    }

    /// Merges only the doubts of another outcome, under this name.
    pub fn absorb_doubts(&mut self, name: &str, other: &Self) {
        self.take_doubts(name, other.doubts.clone());
    }

    fn take_doubts(&mut self, name: &str, doubts: Vec<Doubt>) {
        self.doubts.extend(doubts.into_iter().map(|doubt| Doubt {
            reason: format!("{name}: {}", doubt.reason),
            ..doubt
        }));
    }

    /// Returns the name of the benchmark.
    pub fn benchmark(&self) -> &str {
        &self.benchmark
    }

    /// Returns the version of the format in which it was written.
    pub fn schema(&self) -> u32 {
        self.schema
    }

    /// Returns the parameters.
    pub fn parameters(&self) -> &Map<String, Value> {
        &self.parameters
    }

    /// Returns the reasons, one sentence each, why the claims alone do not determine the verdict; empty after
    /// reading back.
    pub fn doubts(&self) -> impl Iterator<Item = String> {
        self.doubts
            .iter()
            .map(|Doubt { kind, reason }| format!("{kind}: {reason}"))
    }

    /// Returns the machine on which it ran.
    pub fn machine(&self) -> &MachineFacts {
        &self.machine
    }

    /// Returns the rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the claims.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// Returns what the claims say about statements of papers.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// Returns the claims, to set their states and controls.
    pub fn claims_mut(&mut self) -> impl Iterator<Item = &mut Claim> {
        self.claims.iter_mut()
    }

    /// Returns whether the machine was unfit.
    pub fn is_unfit(&self) -> bool {
        let mut kinds = self.doubts.iter().map(|doubt| doubt.kind);
        kinds.any(|kind| matches!(kind, Kind::Unfit | Kind::Throttled))
    }

    /// Returns whether real-time throttling is the only doubt.
    pub fn is_only_throttled(&self) -> bool {
        self.doubts.iter().all(|doubt| doubt.kind == Kind::Throttled)
    }

    /// Returns whether a repetition may have another outcome: the machine had real-time rights, and was not
    /// throttled.
    pub fn is_worth_repeating(&self) -> bool {
        let is_throttled = self.doubts.iter().any(|doubt| doubt.kind == Kind::Throttled);
        self.machine.is_realtime() && !is_throttled
    }

    /// Returns what was not measured.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Returns the verdict, for a line on the terminal and the exit code.
    pub fn verdict(&self) -> Verdict<'_> {
        let nothing_ran = self.rows.is_empty() && self.claims.is_empty();
        Verdict {
            benchmark: &self.benchmark,
            machine: &self.machine,
            claims: &self.claims,
            doubts: &self.doubts,
            nothing_ran,
        }
    }

    /// Returns the JSON text.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("an outcome consists of JSON types")
    }

    /// Writes the JSON text to a file, atomically.
    ///
    /// # Errors
    /// The file cannot be written; the text names it.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        output_file::write(file, self.to_json().as_bytes())
    }
}

#[cfg(test)]
mod tests;
