//! The three kinds of files that describe a system, and the advice for a file of another kind than expected.

use std::{fmt::Display, path::Path};

use punctual_scheduling::{Schedule, reconfigurable::ReconfigurableScheduler};
use punctual_simulation::Scenario;

/// Completes the error about a file that is not of the expected kind: if it is of another one, with the
/// command for that.
pub fn misread(file: &Path, error: impl Display) -> String {
    let path = file.display();
    let advice = if Schedule::read(file).is_ok() {
        format!("this is a schedule: `punctual plan {path}`")
    } else if Scenario::read(file).is_ok() {
        format!("this is a scenario: `punctual plan --simulate {path}`")
    } else if ReconfigurableScheduler::read(file).is_ok() {
        format!("this is a file with operations: `punctual scheduler show {path}`")
    } else {
        return error.to_string();
    };
    format!("{error}; {advice}")
}
