use punctual::{OrbError, SystemException};
use thiserror::Error;

/// The schedule has nothing of this name: `RTCosScheduling::UnknownName`.
///
/// ```
/// use punctual::Orb;
/// use punctual_scheduling::{ClientScheduler, Schedule, SchedulingError};
///
/// let orb = Orb::builder().build()?;
/// let schedule = Schedule::parse("radar.toml", "[[activity]]\nname = \"track\"\npriority = 5\n")?;
/// let error = ClientScheduler::new(&orb, &schedule).schedule_activity("trakc").unwrap_err();
/// assert_eq!(error.to_string(), "the schedule has no activity `trakc`; it has `track`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("the schedule has no {kind} `{name}`; it has {}", list(.known))]
pub struct UnknownName {
    /// What was looked for: an activity, an object, an adapter, a host.
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// The names there are.
    pub known: Vec<String>,
}

/// Names in backquotes, or that there are none.
pub(crate) fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Why something was not scheduled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SchedulingError {
    /// The schedule has nothing of this name.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// The adapter is of another host, or the object of another adapter.
    #[error("{0}")]
    Elsewhere(String),
    /// The ORB could not start a pool.
    #[error("pool `{pool}`: {source}")]
    Pool {
        /// Its name.
        pool: String,
        /// Why.
        source: OrbError,
    },
    /// The ORB refused the adapter or the object.
    #[error(transparent)]
    Orb(#[from] OrbError),
    /// The thread could not have the priority.
    #[error(transparent)]
    Priority(#[from] SystemException),
}
