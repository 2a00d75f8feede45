//! Errors of scheduling by name.

use punctual::{OrbError, SystemException};
use thiserror::Error;

/// A name that is not in the schedule: `RTCosScheduling::UnknownName`.
///
/// ```
/// use punctual::Orb;
/// use punctual_scheduling::{ClientScheduler, Schedule, SchedulingError};
///
/// let orb = Orb::builder().build()?;
/// let schedule = Schedule::parse("radar.toml", "[[activity]]\nname = \"track\"\npriority = 5\n")?;
/// let error = ClientScheduler::new(&orb, &schedule).schedule_activity("trakc").unwrap_err();
/// assert_eq!(error.to_string(), "unknown activity `trakc`; known: `track`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Eq, Error, PartialEq)]
#[error("unknown {kind} `{name}`; known: {}", list(.known))]
pub struct UnknownName {
    /// Kind of the name: activity, object, adapter or host.
    pub kind: &'static str,
    /// The unknown name.
    pub name: String,
    /// The names in the schedule.
    pub known: Vec<String>,
}

impl UnknownName {
    pub(crate) fn of<'a>(kind: &'static str, name: &str, known: impl Iterator<Item = &'a String>) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            known: known.cloned().collect(),
        }
    }
}

punctual_types::debug_as_display!(UnknownName, SchedulingError);

/// Lists names in backquotes, or `none`.
pub(crate) fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Error of [`ClientScheduler`](crate::ClientScheduler) and [`ServerScheduler`](crate::ServerScheduler).
#[derive(Error)]
#[non_exhaustive]
pub enum SchedulingError {
    /// The name is not in the schedule.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// The adapter belongs to another host.
    #[error("{0}")]
    Elsewhere(String),
    /// A pool could not be started.
    #[error("pool `{pool}`: {source}")]
    Pool {
        /// Name of the pool.
        pool: String,
        /// Error of the ORB.
        source: OrbError,
    },
    /// The ORB refused the adapter or the object.
    #[error(transparent)]
    Orb(#[from] OrbError),
    /// The thread cannot have the priority.
    #[error(transparent)]
    Priority(#[from] SystemException),
}
