//! Limits on results, from a TOML file of the user.

use std::{collections::BTreeMap, fmt, fs, path::Path};

use punctual_harness::{Claim, Outcome, Row};
use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::suggestions;
use crate::error::Error;

/// The limits of a file.
#[derive(Debug)]
pub(super) struct Bounds {
    file: String,
    limits: Vec<Limit>,
}

#[derive(Debug)]
struct Limit {
    line: usize,
    /// Position in the file, from 1, for messages.
    number: usize,
    of: Subject,
    bounds: Vec<Bound>,
}

/// Subject of a limit.
#[derive(Debug)]
enum Subject {
    /// The measured value of a claim.
    Claim { id: String, benchmark: &'static str },
    /// A column, in all rows with these values.
    Column {
        benchmark: &'static str,
        rows: BTreeMap<String, Value>,
        column: String,
    },
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    limit: Vec<Spanned<WrittenLimit>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLimit {
    claim: Option<Spanned<String>>,
    benchmark: Option<Spanned<String>>,
    #[serde(default, rename = "where")]
    rows: BTreeMap<String, Value>,
    column: Option<Spanned<String>>,
    at_most: Option<Spanned<f64>>,
    at_least: Option<Spanned<f64>>,
}

/// A problem at an offset in the text.
struct Problem {
    offset: usize,
    key: String,
    text: String,
}

impl Bounds {
    pub(super) fn read(file: &Path, benchmarks: &[&'static str]) -> Result<Self, Error> {
        let name = file.display().to_string();
        let text = fs::read_to_string(file).map_err(|error| format!("{name} cannot be read: {error}"))?;
        Ok(Self::parse(&name, &text, benchmarks)?)
    }

    fn parse(file: &str, text: &str, benchmarks: &[&'static str]) -> Result<Self, String> {
        let at = |offset: usize| text.get(..offset).unwrap_or(text).matches('\n').count() + 1;
        let written: Written =
            punctual_toml::parse(file, text, |_| Ok(())).map_err(|error| error.to_string())?;
        if written.limit.is_empty() {
            return Err(format!("{file}: contains no limit; each begins with [[limit]]"));
        }
        let mut limits: Vec<Limit> = Vec::new();
        for (number, spanned) in (1..).zip(written.limit) {
            let offset = spanned.span().start;
            let limit = Limit::of(number, at(offset), spanned.into_inner(), offset, benchmarks);
            let limit = limit.map_err(|Problem { offset, key, text }| {
                format!("{file}:{}: limit[{number}]{key}: {text}", at(offset))
            })?;
            if let Some(other) = limits.iter().find(|other| other.repeats(&limit)) {
                return Err(format!(
                    "{file}:{}: limit[{number}]: duplicate of limit[{}] in line {}: keep one of them",
                    limit.line, other.number, other.line
                ));
            }
            limits.push(limit);
        }
        let file = file.to_owned();
        Ok(Self { file, limits })
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Adds a claim for each limit, or the reason why it is skipped. Returns the limits that apply to no
    /// result.
    pub(super) fn check(&self, outcome: &mut Outcome) -> Vec<String> {
        let mut mistakes = Vec::new();
        for limit in &self.limits {
            let skip = |outcome: &mut Outcome, because: &str| {
                for bound in &limit.bounds {
                    let id = bound.id(&limit.of);
                    outcome.skip(Some(&id), format!("limit of {}", limit.of), because);
                }
            };
            let found = match &limit.of {
                Subject::Claim { id, .. } => of_claim(outcome, id),
                Subject::Column {
                    benchmark,
                    rows,
                    column,
                } => of_column(outcome, benchmark, rows, column),
            };
            match found {
                Found::Values(values) => {
                    let source = format!("{}:{}", self.file, limit.line);
                    for bound in &limit.bounds {
                        outcome.claim(bound.claim(&limit.of, &source, &values));
                    }
                }
                Found::Nothing { because } => skip(outcome, &because),
                // Without results, a name cannot be checked.
                Found::Unknown { .. } if !ran(outcome, limit.of.benchmark()) => {
                    let because = format!("{} has no results in this run", limit.of.benchmark());
                    skip(outcome, &because);
                }
                Found::Unknown { key, what } => {
                    let (file, line, number) = (&self.file, limit.line, limit.number);
                    mistakes.push(format!("{file}:{line}: limit[{number}].{key}: {what}"));
                }
            }
        }
        mistakes
    }
}

impl Limit {
    fn of(
        number: usize,
        line: usize,
        written: WrittenLimit,
        offset: usize,
        benchmarks: &[&'static str],
    ) -> Result<Self, Problem> {
        let problem = |offset, key: &str, text: String| Problem {
            offset,
            key: key.to_owned(),
            text,
        };
        let unknown = |name: &Spanned<String>, key, what: &str| {
            let advice = suggestions::suggest(name.get_ref(), benchmarks.iter().copied());
            problem(name.span().start, key, format!("{what}; {advice}"))
        };
        let bounds = [
            written
                .at_most
                .map(|limit| (limit, Bound::AtMost as fn(f64) -> Bound, ".at_most")),
            written
                .at_least
                .map(|limit| (limit, Bound::AtLeast as fn(f64) -> Bound, ".at_least")),
        ];
        let mut checked = Vec::new();
        for (limit, bound, key) in bounds.into_iter().flatten() {
            if !limit.get_ref().is_finite() {
                return Err(problem(limit.span().start, key, "not a finite number".to_owned()));
            }
            checked.push(bound(limit.into_inner()));
        }
        if checked.is_empty() {
            let text = "has no bound: add at_most = NUMBER or at_least = NUMBER".to_owned();
            return Err(problem(offset, "", text));
        }
        let of = match (written.claim, written.benchmark, written.column) {
            (Some(claim), None, None) if written.rows.is_empty() => {
                let of = benchmarks
                    .iter()
                    .filter(|name| begins_with(claim.get_ref(), name));
                let Some(benchmark) = of.max_by_key(|name| name.len()).copied() else {
                    let what = format!("`{}` does not begin with a benchmark's name", claim.get_ref());
                    return Err(unknown(&claim, ".claim", &what));
                };
                let id = claim.into_inner();
                Subject::Claim { id, benchmark }
            }
            (None, Some(benchmark), Some(column)) => {
                let Some(known) = benchmarks.iter().find(|name| **name == benchmark.get_ref()) else {
                    let what = format!("unknown benchmark `{}`", benchmark.get_ref());
                    return Err(unknown(&benchmark, ".benchmark", &what));
                };
                Subject::Column {
                    benchmark: known,
                    rows: written.rows,
                    column: column.into_inner(),
                }
            }
            _ => {
                let text =
                    "needs either `claim`, or `benchmark` and `column` (and optionally `where`)".to_owned();
                return Err(problem(offset, "", text));
            }
        };
        Ok(Self {
            line,
            number,
            of,
            bounds: checked,
        })
    }

    fn repeats(&self, other: &Self) -> bool {
        let ids =
            |limit: &Self| -> Vec<String> { limit.bounds.iter().map(|bound| bound.id(&limit.of)).collect() };
        ids(self).iter().any(|id| ids(other).contains(id))
    }
}

fn begins_with(claim: &str, benchmark: &str) -> bool {
    claim
        .strip_prefix(benchmark)
        .is_some_and(|rest| rest.len() > 1 && rest.starts_with('.'))
}

/// The name in claims and messages.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claim { id, .. } => f.write_str(id),
            Self::Column {
                benchmark,
                rows,
                column,
            } => {
                write!(f, "{benchmark}")?;
                if !rows.is_empty() {
                    let wanted: Vec<_> = rows
                        .iter()
                        .map(|(name, value)| format!("{name}={}", plain(value)))
                        .collect();
                    write!(f, "[{}]", wanted.join(","))?;
                }
                write!(f, ".{column}")
            }
        }
    }
}

impl Subject {
    fn benchmark(&self) -> &'static str {
        match self {
            Self::Claim { benchmark, .. } | Self::Column { benchmark, .. } => benchmark,
        }
    }
}

impl Bound {
    fn id(self, of: &Subject) -> String {
        match self {
            Self::AtMost(_) => format!("bounds.{of}.at-most"),
            Self::AtLeast(_) => format!("bounds.{of}.at-least"),
        }
    }

    /// Returns the claim about the worst of the values.
    fn claim(self, of: &Subject, source: &str, values: &[f64]) -> Claim {
        let rows = match values.len() {
            1 => String::new(),
            several => format!(" (the worst of {several} rows)"),
        };
        match self {
            Self::AtMost(limit) => {
                let worst = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                Claim::at_most(self.id(of), format!("{of} at most{rows}"), source, worst, limit)
            }
            Self::AtLeast(limit) => {
                let worst = values.iter().copied().fold(f64::INFINITY, f64::min);
                Claim::at_least(self.id(of), format!("{of} at least{rows}"), source, worst, limit)
            }
        }
    }
}

/// The results that a limit applies to.
enum Found {
    Values(Vec<f64>),
    /// The limit applies to something that was not measured.
    Nothing {
        because: String,
    },
    /// No claim, row or column has this name.
    Unknown {
        key: &'static str,
        what: String,
    },
}

/// Returns whether a benchmark has results.
fn ran(outcome: &Outcome, benchmark: &str) -> bool {
    outcome.rows().iter().any(|row| is_of(row, benchmark))
        || outcome
            .claims()
            .iter()
            .any(|claim| begins_with(&claim.id, benchmark))
}

fn is_of(row: &Row, benchmark: &str) -> bool {
    row.get("benchmark").is_some_and(|name| name == benchmark)
}

fn of_claim(outcome: &Outcome, id: &str) -> Found {
    if let Some(claim) = outcome.claims().iter().find(|claim| claim.id == id) {
        return match claim.measured_number() {
            Some(value) => Found::Values(vec![value]),
            None => Found::Nothing {
                because: format!("the measured value is not a number: {}", claim.measured),
            },
        };
    }
    let skipped = outcome
        .skipped()
        .iter()
        .find(|skipped| skipped.id.as_deref() == Some(id));
    match skipped {
        Some(skipped) => Found::Nothing {
            because: skipped.reason.clone(),
        },
        None => {
            let ids = outcome.claims().iter().map(|claim| claim.id.as_str());
            let advice = suggestions::suggest(id, ids);
            Found::Unknown {
                key: "claim",
                what: format!("unknown claim `{id}`; {advice}"),
            }
        }
    }
}

fn of_column(outcome: &Outcome, benchmark: &str, wanted: &BTreeMap<String, Value>, column: &str) -> Found {
    let rows: Vec<&Row> = outcome
        .rows()
        .iter()
        .filter(|row| is_of(row, benchmark))
        .collect();
    let columns = || {
        rows.iter()
            .flat_map(|row| row.as_map().keys().map(String::as_str))
    };
    let unknown = |key, name: &str| Found::Unknown {
        key,
        what: format!(
            "the rows of {benchmark} have no column `{name}`; {}",
            suggestions::suggest(name, columns())
        ),
    };
    if !columns().any(|name| name == column) {
        return unknown("column", column);
    }
    for (name, value) in wanted {
        if !columns().any(|known| known == name) {
            return unknown("where", name);
        }
        let values: Vec<String> = rows.iter().filter_map(|row| row.get(name)).map(plain).collect();
        if !values.contains(&plain(value)) {
            let advice = suggestions::suggest(&plain(value), values.iter().map(String::as_str));
            return Found::Unknown {
                key: "where",
                what: format!("no row of {benchmark} has {name} = {}; {advice}", plain(value)),
            };
        }
    }
    let matches = |row: &&&Row| {
        wanted
            .iter()
            .all(|(name, value)| row.get(name).map(plain) == Some(plain(value)))
    };
    let matching: Vec<_> = rows.iter().filter(matches).collect();
    let values: Vec<f64> = matching.iter().filter_map(|row| row.number(column)).collect();
    match (matching.len(), values.len()) {
        (0, _) => Found::Unknown {
            key: "where",
            what: format!(
                "no row of {benchmark} has all of these values, though some rows have each of them"
            ),
        },
        (_, 0) => Found::Nothing {
            because: format!("{column} is not a number in these rows"),
        },
        _ => Found::Values(values),
    }
}

/// Formats a value so that 128 and 128.0 are equal.
fn plain(value: &Value) -> String {
    match (value.as_str(), value.as_f64()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(number)) => number.to_string(),
        (None, None) => value.to_string(),
    }
}

#[cfg(test)]
mod tests;
