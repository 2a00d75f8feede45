//! The table of what the papers state (`claims`), and what a run says about it.

mod evaluation;
mod list;
pub(crate) mod tables;

use std::{collections::BTreeMap, sync::LazyLock};

use punctual_harness::Claim;
use serde::{Deserialize, Serialize};

pub(crate) use self::{evaluation::evaluate, list::print};

/// A paper, or Punctual itself, with its statements.
pub(crate) struct Paper {
    /// Key of `docs/papers.md`.
    pub(crate) key: String,
    pub(crate) statements: Vec<Stated>,
}

/// A statement and how it is evaluated.
pub(crate) struct Stated {
    /// File and id within it.
    pub(crate) id: String,
    /// A paraphrase in a few words.
    pub(crate) statement: String,
    /// Section, figure or table.
    pub(crate) source: String,
    pub(crate) evaluation: Evaluation,
}

/// How a statement is evaluated.
pub(crate) enum Evaluation {
    /// Decided by claims of a benchmark, all of which have to hold.
    Claims {
        benchmark: String,
        /// Patterns of ids.
        claims: Vec<String>,
        /// Rows, statistic and limit.
        method: String,
        /// The limits of the claims as the method states them.
        limits: BTreeMap<String, f64>,
        /// Why some do not hold here, if they do not, by pattern.
        explained: BTreeMap<String, Explanation>,
        /// Page of `docs/findings`, without `.md`, on what was found where they do not hold.
        finding: Option<String>,
    },
    /// It cannot be told here: what would be needed.
    Needs(String),
}

/// Why a claim does not hold here, and for which measured values this is the reason. A value out of this
/// range has another reason: the claim does not hold, and is not explained.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explanation {
    /// Smallest value.
    pub(crate) from: f64,
    /// Largest value.
    pub(crate) to: f64,
    /// The reason, with what a reader can check it by.
    pub(crate) why: String,
}

impl Explanation {
    /// Returns whether it is the reason of this claim's value; not without a value.
    pub(crate) fn covers(&self, claim: &Claim) -> bool {
        let measured = claim.measured_number();
        measured.is_some_and(|measured| (self.from..=self.to).contains(&measured))
    }
}

/// Returns the table.
pub(crate) fn papers() -> &'static [Paper] {
    static PAPERS: LazyLock<Vec<Paper>> = LazyLock::new(|| {
        let parsed = FILES.iter().map(|(name, text)| parse(name, text));
        parsed.collect::<Result<_, _>>().expect("a test parses the files")
    });
    &PAPERS
}

macro_rules! files {
    ($($name:literal),*) => {
        &[$(($name, include_str!(concat!("../../claims/", $name, ".toml")))),*]
    };
}

const FILES: &[(&str, &str)] = files!(
    "schmidt-2002",
    "levine-1999",
    "pyarali-2002",
    "fayyad-kazan-2013",
    "gill-2004",
    "punctual"
);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InFile {
    paper: String,
    statement: Vec<StatedInFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedInFile {
    id: String,
    statement: String,
    source: String,
    benchmark: Option<String>,
    #[serde(default)]
    evaluated_by: Vec<String>,
    method: Option<String>,
    #[serde(default)]
    limits: BTreeMap<String, f64>,
    #[serde(default)]
    explained: BTreeMap<String, Explanation>,
    finding: Option<String>,
    needs: Option<String>,
}

fn parse(name: &str, text: &str) -> Result<Paper, String> {
    let file: InFile = toml::from_str(text).map_err(|error| format!("{name}.toml: {error}"))?;
    let statements = file.statement.into_iter().map(|stated| stated.checked(name));
    Ok(Paper {
        key: file.paper,
        statements: statements.collect::<Result<_, _>>()?,
    })
}

impl StatedInFile {
    fn checked(self, file: &str) -> Result<Stated, String> {
        let id = format!("{file}.{}", self.id);
        if self.explained.values().any(|one| one.from > one.to) {
            return Err(format!("{id}: `from` above `to`"));
        }
        let evaluation = match (self.benchmark, self.method, self.needs) {
            (Some(benchmark), Some(method), None)
                if !self.evaluated_by.is_empty() && (self.explained.is_empty() || self.finding.is_some()) =>
            {
                Evaluation::Claims {
                    benchmark,
                    claims: self.evaluated_by,
                    method,
                    limits: self.limits,
                    explained: self.explained,
                    finding: self.finding,
                }
            }
            (None, None, Some(needs)) if self.evaluated_by.is_empty() && self.finding.is_none() => {
                Evaluation::Needs(needs)
            }
            _ => {
                return Err(format!(
                    "{id}: either `benchmark`, `evaluated_by` and `method`, or `needs`; `explained` with a `finding`"
                ));
            }
        };
        Ok(Stated {
            id,
            statement: self.statement,
            source: self.source,
            evaluation,
        })
    }
}

#[cfg(test)]
mod tests;
