//! The three kinds of files that describe a system, and the advice for a file of another kind than expected.

use std::{fmt::Display, fs, path::Path};

use punctual_scheduling::{Schedule, reconfigurable::ReconfigurableScheduler};
use punctual_simulation::Scenario;

/// Completes the error about a file that is not of the expected kind: if it is of another one, with the
/// command for that, and if it is no file but the address of an object, with what is expected.
pub fn misread(file: &Path, error: impl Display) -> String {
    let path = file.display();
    let advice = if !file.exists() {
        if !is_address(file) {
            return error.to_string();
        }
        return format!(
            "`{path}` is the address of an object, and this command reads a file; `punctual top` shows a served \
             scheduler (`punctual scheduler serve --inspection SOCKET`)"
        );
    } else if is_empty(file) {
        "the file is empty; docs/planning.md, docs/simulation.md and docs/scheduler.md have examples"
            .to_owned()
    } else if Schedule::read(file).is_ok() {
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

/// Whether it is the URL of an object instead of the path of a file.
fn is_address(file: &Path) -> bool {
    let path = file.to_string_lossy();
    ["corbaloc:", "corbaname:", "IOR:"]
        .iter()
        .any(|scheme| path.starts_with(scheme))
}

/// Whether the file has no key.
fn is_empty(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut lines = text.lines().map(str::trim_start);
    lines.all(|line| line.is_empty() || line.starts_with('#'))
}
