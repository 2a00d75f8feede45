//! State of a statement after a run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// State of a statement after a run. Only the first counts as holding.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub enum State {
    /// It holds.
    #[serde(rename = "holds")]
    Holds,
    /// It could not be determined on this machine or in this run.
    #[serde(rename = "cannot tell here")]
    CannotTell,
    /// It does not hold, and a written explanation states why.
    #[serde(rename = "explained")]
    Explained,
    /// It does not hold.
    #[serde(rename = "does not hold")]
    DoesNotHold,
}

impl State {
    /// All states, in the order in which they are counted.
    pub const ALL: [Self; 4] = [Self::Holds, Self::DoesNotHold, Self::Explained, Self::CannotTell];

    /// Returns the state of a statement that was tested.
    pub fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::DoesNotHold }
    }

    /// Returns the state of a statement that rests on all of these; of none, it cannot be told.
    pub fn of_all(states: impl IntoIterator<Item = Self>) -> Self {
        states.into_iter().max().unwrap_or(Self::CannotTell)
    }

    /// Returns a character for tables.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Holds => "✓",
            Self::DoesNotHold => "✗",
            Self::Explained => "≠",
            Self::CannotTell => "?",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::Explained => "explained",
            Self::CannotTell => "cannot tell here",
        })
    }
}
