//! A number that somebody set, and what was measured.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A statement about figures that was put to the test.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Claim {
    /// Unique within its benchmark and stable over versions.
    pub id: String,
    /// The statement, as a sentence with its direction ("at most", "at least").
    pub text: String,
    /// Who set it: an issue, or a paper with its section.
    pub source: String,
    /// What was measured, in the unit of `limit`; null when it came out as no number.
    pub measured: Value,
    /// The number that was set.
    pub limit: Value,
    /// Whether the statement is true of this run.
    pub holds: bool,
}

impl Claim {
    /// Holds when `measured` ≤ `limit`; a measurement that is no number does not hold.
    pub fn at_most(
        id: impl Into<String>,
        text: impl Into<String>,
        source: impl Into<String>,
        measured: f64,
        limit: f64,
    ) -> Self {
        Self::new(id, text, source, measured, limit, measured <= limit)
    }

    /// Holds when `measured` ≥ `limit`; a measurement that is no number does not hold.
    pub fn at_least(
        id: impl Into<String>,
        text: impl Into<String>,
        source: impl Into<String>,
        measured: f64,
        limit: f64,
    ) -> Self {
        Self::new(id, text, source, measured, limit, measured >= limit)
    }

    /// Holds when `measured` < `limit`; a measurement that is no number does not hold.
    pub fn below(
        id: impl Into<String>,
        text: impl Into<String>,
        source: impl Into<String>,
        measured: f64,
        limit: f64,
    ) -> Self {
        Self::new(id, text, source, measured, limit, measured < limit)
    }

    /// A statement of another form, such as an order: the caller says whether it holds.
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
            holds,
        }
    }
}

/// Something that was not measured.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Skipped {
    /// The claim that is absent for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What is missing.
    pub what: String,
    /// Why.
    pub reason: String,
}
