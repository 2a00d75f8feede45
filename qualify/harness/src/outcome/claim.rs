//! Statements with a limit and a source.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::State;

/// Statement about results that was tested.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(from = "ClaimInFile", into = "ClaimInFile")]
pub struct Claim {
    /// Id, unique within its benchmark and stable over versions.
    pub id: String,
    /// Statement, with its direction ("at most", "at least").
    pub text: String,
    /// Source of the limit: "Punctual's limit", or a paper with its section.
    pub source: String,
    /// Measured value in the unit of `limit`; [`Claim::INFINITE`] if it is infinite, null if there is none.
    pub measured: Value,
    /// Limit.
    pub limit: Value,
    /// Unit of both in the verdict, such as `µs`; empty: none, or it is in the statement.
    pub unit: String,
    /// Whether the statement holds in this run.
    pub state: State,
    /// The run of the same benchmark, with one thing changed, in which the statement must not hold. A claim
    /// without one may be true regardless of what is measured.
    pub control: Option<String>,
}

/// A claim as it is in a file: `holds` is redundant, and is all that older files have.
#[derive(Deserialize, Serialize)]
struct ClaimInFile {
    id: String,
    text: String,
    source: String,
    measured: Value,
    limit: Value,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    unit: String,
    holds: bool,
    #[serde(default)]
    state: Option<State>,
    #[serde(default)]
    control: Option<String>,
}

impl From<ClaimInFile> for Claim {
    fn from(file: ClaimInFile) -> Self {
        Self {
            state: file.state.unwrap_or(State::of(file.holds)),
            id: file.id,
            text: file.text,
            source: file.source,
            measured: file.measured,
            limit: file.limit,
            unit: file.unit,
            control: file.control,
        }
    }
}

impl From<Claim> for ClaimInFile {
    fn from(claim: Claim) -> Self {
        Self {
            holds: claim.holds(),
            state: Some(claim.state),
            id: claim.id,
            text: claim.text,
            source: claim.source,
            measured: claim.measured,
            limit: claim.limit,
            unit: claim.unit,
            control: claim.control,
        }
    }
}

impl Claim {
    /// A measured value beyond all limits, as of a ratio to nothing: JSON has no such number.
    pub const INFINITE: &str = "infinite";

    /// Returns a number as a measured value.
    pub fn number(measured: f64) -> Value {
        if measured == f64::INFINITY {
            Self::INFINITE.into()
        } else {
            measured.into()
        }
    }

    /// Returns the measured value as a number; `None` if it is none.
    pub fn measured_number(&self) -> Option<f64> {
        let infinite = self.measured == Self::INFINITE;
        self.measured.as_f64().or(infinite.then_some(f64::INFINITY))
    }

    /// Creates a claim that holds if `measured` ≤ `limit`, and does not if either is not a number.
    pub fn at_most(
        id: impl Into<String>,
        text: impl Into<String>,
        source: impl Into<String>,
        measured: f64,
        limit: f64,
    ) -> Self {
        Self::new(id, text, source, Self::number(measured), limit, measured <= limit)
    }

    /// Creates a claim that holds if `measured` ≥ `limit`, and does not if either is not a number.
    pub fn at_least(
        id: impl Into<String>,
        text: impl Into<String>,
        source: impl Into<String>,
        measured: f64,
        limit: f64,
    ) -> Self {
        Self::new(id, text, source, Self::number(measured), limit, measured >= limit)
    }

    /// Creates a claim that holds if `measured` < `limit`, and does not if either is not a number.
    pub fn below(
        id: impl Into<String>,
        text: impl Into<String>,
        source: impl Into<String>,
        measured: f64,
        limit: f64,
    ) -> Self {
        Self::new(id, text, source, Self::number(measured), limit, measured < limit)
    }

    /// Creates a claim that holds if `measured` > `limit`, and does not if either is not a number.
    pub fn above(
        id: impl Into<String>,
        text: impl Into<String>,
        source: impl Into<String>,
        measured: f64,
        limit: f64,
    ) -> Self {
        Self::new(id, text, source, Self::number(measured), limit, measured > limit)
    }

    /// Creates a claim of another form, such as an order; the caller determines whether it holds.
    pub fn new(
        id: impl Into<String>,
        text: impl Into<String>,
        source: impl Into<String>,
        measured: impl Into<Value>,
        limit: impl Into<Value>,
        holds: bool,
    ) -> Self {
        Self {
            id: id.into(),
            text: text.into(),
            source: source.into(),
            measured: measured.into(),
            limit: limit.into(),
            unit: String::new(),
            state: State::of(holds),
            control: None,
        }
    }

    /// Sets the unit of the measured value and the limit.
    #[must_use]
    pub fn in_unit(self, unit: &str) -> Self {
        Self {
            unit: unit.to_owned(),
            ..self
        }
    }

    /// Returns whether the statement holds in this run.
    pub fn holds(&self) -> bool {
        self.state == State::Holds
    }
}

/// Record of what was not measured.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Skipped {
    /// Id of the claim that is therefore missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Name of the missing part.
    pub what: String,
    /// Reason.
    pub reason: String,
}
