//! What a measurement writes: the contract for machine reading.

mod claim;
mod row;
mod verdict;

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::MachineFacts;
pub use claim::{Claim, Skipped};
pub use row::Row;
pub use verdict::Verdict;
use verdict::{Doubt, Kind};

/// The one JSON object of a benchmark.
///
/// ```
/// # use punctual_harness::{Claim, MachineFacts, Outcome, Row};
/// # use punctual_os::CpuSet;
/// let mut outcome = Outcome::new("cubit", MachineFacts::read(&CpuSet::single(1)));
/// outcome.parameter("rounds", 30);
/// outcome.row(Row::new().with("transport", "tcp").with("p50_us", 18.5));
/// outcome.claim(Claim::at_most("p50-tcp", "p50 at most 1.15 × raw", "issue 2", 1.08, 1.15));
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
    skipped: Vec<Skipped>,
    /// Why the figures cannot be trusted, or there are none. The file has it in `skipped`; read back, it is no more than
    /// that.
    #[serde(skip)]
    doubts: Vec<Doubt>,
}

impl Outcome {
    /// The version of the contract.
    pub const SCHEMA: u32 = 1;

    /// An outcome without results.
    pub fn new(benchmark: impl Into<String>, machine: MachineFacts) -> Self {
        Self {
            schema: Self::SCHEMA,
            benchmark: benchmark.into(),
            machine,
            parameters: Map::new(),
            rows: Vec::new(),
            claims: Vec::new(),
            skipped: Vec::new(),
            doubts: Vec::new(),
        }
    }

    /// States how the benchmark was set up. The same name again replaces the value.
    pub fn parameter(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.parameters.insert(name.into(), value.into());
    }

    /// Adds a result.
    pub fn row(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Adds a claim that was put to the test.
    ///
    /// # Panics
    /// When a claim of that id is there already: readers look claims up by id.
    pub fn claim(&mut self, claim: Claim) {
        assert!(
            self.claims.iter().all(|other| other.id != claim.id),
            "claim `{}` was made twice in benchmark `{}`",
            claim.id,
            self.benchmark
        );
        self.claims.push(claim);
    }

    /// Says that something was not measured, and why; with the id of the claim that is absent for it, if there is one.
    pub fn skip(&mut self, id: Option<&str>, what: impl Into<String>, reason: impl Into<String>) {
        self.skipped.push(Skipped {
            id: id.map(str::to_owned),
            what: what.into(),
            reason: reason.into(),
        });
    }

    /// Says that the machine was unfit: exit code 2 whatever the claims say.
    pub fn unfit(&mut self, reason: impl Into<String>) {
        self.doubt(Kind::Unfit, reason.into());
    }

    /// Says that it could not run, or not all of it: exit code 2 whatever the claims say.
    pub fn failed(&mut self, reason: impl Into<String>) {
        self.doubt(Kind::Failed, reason.into());
    }

    /// Says that somebody ended it before its time: exit code 2 whatever the claims say.
    pub fn interrupted(&mut self, reason: impl Into<String>) {
        self.doubt(Kind::Interrupted, reason.into());
    }

    fn doubt(&mut self, kind: Kind, reason: String) {
        let what = format!("verdict of {}", self.benchmark);
        self.skip(None, what, format!("{kind}: {reason}"));
        self.doubts.push(Doubt { kind, reason });
    }

    /// Takes in the outcome of another benchmark: its claims become `benchmark.claim`, its rows get a first column
    /// `benchmark`, its parameters one entry under its name.
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
        for mut doubt in other.doubts {
            doubt.reason = format!("{name}: {}", doubt.reason);
            self.doubts.push(doubt);
        }
    }

    /// The name of the benchmark.
    pub fn benchmark(&self) -> &str {
        &self.benchmark
    }

    /// The version of the contract that it was written by.
    pub fn schema(&self) -> u32 {
        self.schema
    }

    /// How it was set up.
    pub fn parameters(&self) -> &Map<String, Value> {
        &self.parameters
    }

    /// Why the claims alone do not decide, a sentence each; empty where they do, and of an outcome that was read back.
    pub fn doubts(&self) -> impl Iterator<Item = String> {
        self.doubts
            .iter()
            .map(|Doubt { kind, reason }| format!("{kind}: {reason}"))
    }

    /// Where it ran.
    pub fn machine(&self) -> &MachineFacts {
        &self.machine
    }

    /// The results so far.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The claims so far.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// What was not measured so far.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// What it all says, for a line on the terminal and the exit code.
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

    /// The object as text, for a file or a page.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("an outcome holds nothing that JSON cannot say")
    }

    /// Writes the object to a file, whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written; the text names it.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        replace_file(file, self.to_json().as_bytes())
    }
}

/// Writes a file under another name and renames it, so that a reader sees the old text or the new one.
///
/// What is no file, a device, a pipe or a link, is written to and stays what it is: renaming would put a file in place of it.
///
/// # Errors
/// The file cannot be written; the text names it.
pub(crate) fn replace_file(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let is_replaceable = std::fs::symlink_metadata(file).map_or(true, |there| there.is_file());
    let written = if is_replaceable {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let beside = file.with_file_name(format!(".{name}.{}", std::process::id()));
        std::fs::write(&beside, bytes)
            .and_then(|()| std::fs::rename(&beside, file))
            .inspect_err(|_| {
                let _ = std::fs::remove_file(&beside);
            })
    } else {
        std::fs::write(file, bytes)
    };
    written.map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("{} cannot be written: {error}", file.display()),
        )
    })
}

#[cfg(test)]
mod tests;
