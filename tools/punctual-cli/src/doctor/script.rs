//! The script of `doctor --fix`.

use super::{
    finding::{Finding, State},
    system::System,
};

/// A script for `sh` with all fixes that a script can make; each part is idempotent.
pub fn of(system: &System, findings: &[Finding]) -> String {
    let (release, _) = system.kernel();
    let mut script = format!(
        "#!/bin/sh\n\
         # Fixes of `punctual doctor` for real time on this machine (Linux {release}).\n\
         # Read it, remove unwanted parts, and run it as root: sudo sh THIS-FILE\n\
         # It can be run repeatedly: each part sets a value and adds nothing twice.\n\
         set -eu\n\
         if [ \"$(id -u)\" -ne 0 ]; then echo 'run this as root: sudo sh THIS-FILE' >&2; exit 1; fi\n"
    );
    if system.is_container() {
        script += "# Written in a container: kernel settings belong to the host and are changed there.\n";
    }
    let wanted: Vec<_> = findings
        .iter()
        .filter(|finding| finding.state != State::Passed)
        .collect();
    for finding in &wanted {
        script += &format!("\n# --- {}: {}\n", finding.title, comment(&finding.found));
        if finding.remedy.script.is_empty() {
            script += &format!("# Manually: {}\n", comment(&finding.remedy.now()));
        } else {
            script += &finding.remedy.script;
            script += "\n";
        }
    }
    if wanted.is_empty() {
        script += "\n# All checks passed.\n";
    }
    script
}

/// Text read from the system cannot end the comment that contains it.
fn comment(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
