//! Operations: `RtecScheduler::RT_Info`.

use std::{sync::Arc, time::Duration};

use super::{Anomaly, OperationId};

/// Criticality of an operation: how serious a missed deadline is; critical from [`Self::High`] on.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Criticality {
    /// `VERY_LOW_CRITICALITY`.
    #[default]
    VeryLow,
    /// `LOW_CRITICALITY`.
    Low,
    /// `MEDIUM_CRITICALITY`.
    Medium,
    /// `HIGH_CRITICALITY`.
    High,
    /// `VERY_HIGH_CRITICALITY`.
    VeryHigh,
}

impl Criticality {
    /// Returns whether it counts as critical.
    pub fn is_critical(self) -> bool {
        self >= Self::High
    }
}

/// Name in files: "very-high".
impl std::fmt::Display for Criticality {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::VeryLow => "very-low",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::VeryHigh => "very-high",
        })
    }
}

/// One of the rates at which an operation may run, with its execution time then.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RateTuple {
    /// Time between two executions; zero for passive operations.
    pub period: Duration,
    /// Worst-case execution time.
    pub wcet: Duration,
}

/// When an operation with several dependencies runs: `Info_Type_t`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Firing {
    /// Whenever one of them has run.
    #[default]
    Any,
    /// When all of them have: at the lowest rate.
    All,
}

/// Work of a component.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Operation {
    /// Name: `entry_point`. Anomalies share it.
    pub name: Arc<str>,
    /// Criticality.
    pub criticality: Criticality,
    /// Importance, which decides between equals.
    pub importance: i32,
    /// Rates, ascending; one with period zero for a passive operation.
    pub tuples: Vec<RateTuple>,
    /// When it runs if it depends on several.
    pub firing: Firing,
    /// Whether what it depends on is on another host.
    pub is_remote: bool,
    /// Whether it takes part.
    pub enabled: bool,
}

impl Operation {
    /// Creates an enabled operation without rates.
    pub fn new(name: impl Into<Arc<str>>, criticality: Criticality) -> Self {
        Self {
            name: name.into(),
            criticality,
            importance: 0,
            tuples: Vec::new(),
            firing: Firing::Any,
            is_remote: false,
            enabled: true,
        }
    }

    /// Adds a rate.
    pub fn tuple(mut self, period: Duration, wcet: Duration) -> Self {
        self.tuples.push(RateTuple { period, wcet });
        self.sort_tuples();
        self
    }

    /// Makes it run when what it depends on has run.
    pub fn passive(self, wcet: Duration) -> Self {
        self.tuple(Duration::ZERO, wcet)
    }

    /// Sets the importance.
    pub fn importance(mut self, importance: i32) -> Self {
        self.importance = importance;
        self
    }

    /// Sets when it runs if it depends on several.
    pub fn firing(mut self, firing: Firing) -> Self {
        self.firing = firing;
        self
    }

    /// Returns whether it has rates of its own.
    pub fn is_source(&self) -> bool {
        self.tuples.iter().any(|tuple| !tuple.period.is_zero())
    }

    /// Returns its longest execution time.
    pub fn wcet(&self) -> Duration {
        self.tuples
            .iter()
            .map(|tuple| tuple.wcet)
            .max()
            .unwrap_or_default()
    }

    pub(super) fn sort_tuples(&mut self) {
        self.tuples
            .sort_by_key(|tuple| (std::cmp::Reverse(tuple.period), tuple.wcet));
    }

    /// Finds tuples that contradict each other, or themselves.
    pub(super) fn contradiction(&self) -> Option<Anomaly> {
        self.why_contradictory().map(|reason| Anomaly::Contradiction {
            name: Arc::clone(&self.name),
            reason,
        })
    }

    /// Returns why its tuples contradict each other, in words.
    pub(super) fn why_contradictory(&self) -> Option<&'static str> {
        let (mut passive, mut repeated, mut too_long) = (0, false, false);
        let mut before = None;
        for tuple in &self.tuples {
            passive += usize::from(tuple.period.is_zero());
            repeated |= before.replace(tuple.period) == Some(tuple.period);
            too_long |= tuple.wcet > tuple.period && !tuple.period.is_zero();
        }
        match (passive, repeated, too_long) {
            (1.., ..) if passive < self.tuples.len() => Some("a passive operation has no rates of its own"),
            (_, true, _) => Some("two tuples have the same period"),
            (_, _, true) => Some("an execution time exceeds its period"),
            _ => None,
        }
    }

    /// Reports that it depends on nothing that runs.
    pub(super) fn unresolved(&self) -> Anomaly {
        Anomaly::Unresolved {
            name: Arc::clone(&self.name),
            remote: self.is_remote,
        }
    }
}

/// An operation that runs a number of times whenever another one has run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Dependency {
    /// The operation that follows.
    pub operation: OperationId,
    /// The operation on which it depends.
    pub on: OperationId,
    /// Number of executions for each one of `on`.
    pub times: u32,
}
