use std::{io, path::Path};

use punctual::{OrbError, SystemException};
use thiserror::Error;

/// Why a file is no schedule: where, which key, and what would do.
///
/// ```
/// use punctual_scheduling::Schedule;
///
/// let text = "[[activity]]\nname = \"track\"\npriority = 40000\n";
/// let error = Schedule::parse("radar.toml", text).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "radar.toml:3:12: activity.priority: 40000 is no CORBA priority; use 0 (lowest) to 32767 (highest)"
/// );
/// ```
#[derive(Debug, Error)]
pub enum ScheduleError {
    /// The file could not be read.
    #[error("{file} cannot be read: {source}")]
    Read {
        /// Its name.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// What stands there is no schedule.
    #[error("{file}:{line}:{column}: {}{problem}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
    Invalid {
        /// The file's name.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The character in the line, from 1.
        column: usize,
        /// The key, as far as it is known: `activity[2].step[1].pool`, numbered from 1.
        key: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

impl ScheduleError {
    pub(crate) fn read(file: &Path, source: io::Error) -> Self {
        let file = file.display().to_string();
        Self::Read { file, source }
    }

    /// An error at an octet of the text.
    pub(crate) fn at(file: &str, text: &str, offset: usize, key: String, problem: String) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self::Invalid {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            key,
            problem,
        }
    }
}

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
