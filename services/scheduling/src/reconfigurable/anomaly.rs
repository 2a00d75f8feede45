//! Anomalies: faults of operations and their dependencies, and work that was not admitted.

use std::{fmt, sync::Arc, time::Duration};

use super::OperationId;

/// Severity of an anomaly, ascending.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Some work runs less often than it could.
    Warning,
    /// Some work does not run.
    Error,
    /// The description contradicts itself.
    Fatal,
}

/// A problem that a computation found.
#[derive(Clone, Eq, PartialEq)]
pub enum Anomaly {
    /// These operations, or what follows from them, depend on each other in a circle; none of them runs.
    Cycle(Vec<Arc<str>>),
    /// An operation without rates depends on nothing that runs.
    Unresolved {
        /// Name of the operation.
        name: Arc<str>,
        /// Whether it waits for another host.
        remote: bool,
    },
    /// Tuples of an operation contradict each other; none of them is admitted.
    Contradiction {
        /// Name of the operation.
        name: Arc<str>,
        /// The contradiction, in words.
        reason: &'static str,
    },
    /// None of the rates of a source fits below the threshold.
    NotAdmitted(Arc<str>),
    /// A critical operation does not run, because the source from which it follows does not.
    Stopped {
        /// Name of the operation.
        name: Arc<str>,
        /// Name of the source.
        source: Arc<str>,
    },
    /// A source runs at a lower rate than its greatest one.
    LowerRate {
        /// Name of the operation.
        name: Arc<str>,
        /// Its period.
        period: Duration,
        /// The shortest one.
        wanted: Duration,
    },
    /// Two operations have this name.
    DuplicateName(Arc<str>),
    /// No operation has this id.
    UnknownOperation(OperationId),
}

punctual_types::debug_as_display!(Anomaly);

impl Anomaly {
    /// Returns its severity.
    pub fn severity(&self) -> Severity {
        match self {
            Self::LowerRate { .. } | Self::Unresolved { remote: true, .. } => Severity::Warning,
            Self::NotAdmitted(_) | Self::Stopped { .. } | Self::Unresolved { .. } => Severity::Error,
            Self::Cycle(_)
            | Self::Contradiction { .. }
            | Self::DuplicateName(_)
            | Self::UnknownOperation(_) => Severity::Fatal,
        }
    }
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle(names) => {
                let names = names.join(", ");
                write!(
                    f,
                    "operations depend on each other in a circle: {names}; remove a dependency"
                )
            }
            Self::Unresolved { name, remote: false } => {
                write!(
                    f,
                    "`{name}` has no rate and depends on nothing that runs; add a rate or a dependency"
                )
            }
            Self::Unresolved { name, remote: true } => {
                write!(
                    f,
                    "`{name}` waits for an operation of another host that is not known yet"
                )
            }
            Self::Contradiction { name, reason } => write!(f, "`{name}` contradicts itself: {reason}"),
            Self::NotAdmitted(name) => write!(
                f,
                "`{name}` was not admitted at any rate: utilisation would exceed the threshold; lower \
                 rates or execution times, or raise the threshold"
            ),
            Self::Stopped { name, source } => {
                write!(
                    f,
                    "`{name}` does not run: `{source}`, from which it follows, was not admitted; make that \
                     critical, too, or lower rates"
                )
            }
            Self::LowerRate { name, period, wanted } => write!(
                f,
                "`{name}` runs every {period:?} instead of every {wanted:?}: utilisation would exceed the \
                 threshold"
            ),
            Self::DuplicateName(name) => write!(f, "an operation is named `{name}` already"),
            Self::UnknownOperation(OperationId(number)) => write!(f, "there is no operation {number}"),
        }
    }
}

impl std::error::Error for Anomaly {}
