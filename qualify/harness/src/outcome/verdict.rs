//! Verdict of an outcome: one line and an exit code.

use std::fmt;
use std::process::ExitCode;

use super::{Claim, State};
use crate::MachineFacts;

/// Verdict of an [`Outcome`](super::Outcome); displayed as one line.
#[derive(Clone, Copy, Debug)]
pub struct Verdict<'a> {
    pub(super) benchmark: &'a str,
    pub(super) machine: &'a MachineFacts,
    pub(super) claims: &'a [Claim],
    pub(super) doubts: &'a [Doubt],
    pub(super) nothing_ran: bool,
}

/// Reason why the claims alone do not determine the verdict.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Doubt {
    pub(super) kind: Kind,
    pub(super) reason: String,
}

/// Kind of doubt, in ascending order of precedence.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Kind {
    Unfit,
    /// Unfit, and will be so again.
    Throttled,
    Failed,
    Interrupted,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unfit | Self::Throttled => "machine unfit",
            Self::Failed => "could not run",
            Self::Interrupted => "interrupted",
        })
    }
}

impl Verdict<'_> {
    /// Returns 2 if the benchmark failed, was interrupted or the machine was unfit, otherwise 3 if it ran
    /// without real-time rights, otherwise 1 if a claim does not hold, explained or not, otherwise 2 if none
    /// was evaluated, otherwise 0.
    pub fn exit_code(self) -> u8 {
        if !self.doubts.is_empty() || self.nothing_ran {
            2
        } else if !self.machine.is_realtime() {
            3
        } else if self.in_state(State::DoesNotHold) + self.in_state(State::Explained) > 0 {
            1
        } else if self.in_state(State::Holds) == 0 {
            2
        } else {
            0
        }
    }

    fn in_state(self, state: State) -> usize {
        self.claims.iter().filter(|claim| claim.state == state).count()
    }

    fn claims_line(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, holding) = (self.claims.len(), self.in_state(State::Holds));
        match all {
            0 => return write!(f, "no claim was tested"),
            1 => write!(f, "{holding} of 1 claim holds")?,
            _ => write!(f, "{holding} of {all} claims hold")?,
        }
        for (state, title) in [
            (State::Holds, ": "),
            (State::DoesNotHold, "; not: "),
            (State::Explained, "; explained: "),
            (State::CannotTell, "; cannot tell: "),
        ] {
            // A single claim is named in any case.
            let is_named = state != State::Holds || all == 1;
            let others = self
                .claims
                .iter()
                .filter(|claim| is_named && claim.state == state);
            for (place, claim) in others.enumerate() {
                match place {
                    0 => f.write_str(title)?,
                    _ => f.write_str(", ")?,
                }
                let (id, measured, limit) = (&claim.id, Rounded(&claim.measured), Rounded(&claim.limit));
                let unit = match claim.unit.as_str() {
                    "" => String::new(),
                    unit => format!(" {unit}"),
                };
                write!(f, "{id} (measured {measured}{unit}, limit {limit}{unit})")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.benchmark)?;
        match self.exit_code() {
            2 => match self.doubts.iter().map(|doubt| doubt.kind).max() {
                None if self.nothing_ran => return write!(f, "COULD NOT RUN: nothing was measured"),
                None => write!(f, "NOT JUDGED: ")?,
                Some(kind) => {
                    let reasons: Vec<&str> = self.doubts.iter().map(|doubt| doubt.reason.as_str()).collect();
                    let rights = if self.machine.is_realtime() {
                        ""
                    } else {
                        "no real-time rights; "
                    };
                    let kind = kind.to_string().to_uppercase();
                    write!(f, "{kind}: {rights}{}; ", reasons.join("; "))?;
                }
            },
            3 => write!(f, "NOT REAL-TIME: ")?,
            1 => write!(f, "FAIL: ")?,
            _ => write!(f, "PASS: ")?,
        }
        self.claims_line(f)?;
        match self.machine.remedies.first() {
            Some(remedy) if !self.machine.is_realtime() => write!(f, "; to run it in real time: {remedy}"),
            _ => Ok(()),
        }
    }
}

impl From<Verdict<'_>> for ExitCode {
    fn from(verdict: Verdict<'_>) -> Self {
        verdict.exit_code().into()
    }
}

/// Number rounded to three decimals.
struct Rounded<'a>(&'a serde_json::Value);

impl fmt::Display for Rounded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_f64() {
            Some(number) if self.0.is_f64() => write!(f, "{}", (number * 1000.0).round() / 1000.0),
            _ => match self.0.as_str() {
                Some(text) => f.write_str(text),
                None => write!(f, "{}", self.0),
            },
        }
    }
}
