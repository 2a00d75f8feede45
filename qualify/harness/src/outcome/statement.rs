//! Statements of papers, and what a run says about them.

use serde::{Deserialize, Serialize};

use super::State;

/// Statement of a paper that rests on claims of a benchmark, and what a run says about it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Statement {
    /// Id, unique and stable over versions.
    pub id: String,
    /// Paper, as in `docs/papers.md`.
    pub paper: String,
    /// Section, figure or table.
    pub source: String,
    /// The statement in a few words.
    pub says: String,
    /// The benchmark that evaluates it; `None` if none can.
    pub benchmark: Option<String>,
    /// The whole ids of the claims on which it rests.
    pub claims: Vec<String>,
    /// State after the run.
    pub state: State,
    /// Why it does not hold or cannot be told; empty if it holds.
    pub why: String,
}
