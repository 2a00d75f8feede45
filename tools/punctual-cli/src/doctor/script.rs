use super::{
    finding::{Finding, State},
    system::System,
};

/// A script for `sh` that mends what a script can; each part may be run again and again.
pub fn of(system: &System, findings: &[Finding]) -> String {
    let (release, _) = system.kernel();
    let mut script = format!(
        "#!/bin/sh\n\
         # What `punctual doctor` would change on this machine (Linux {release}) for real time.\n\
         # Read it, take out what you do not want, and run it as root: sudo sh THIS-FILE\n\
         # It may be run again: each part sets something to a value, and adds nothing twice.\n\
         set -eu\n\
         if [ \"$(id -u)\" -ne 0 ]; then echo 'run this as root: sudo sh THIS-FILE' >&2; exit 1; fi\n"
    );
    if system.is_container() {
        script += "# This was a container: settings of the kernel are its host's, and are changed there.\n";
    }
    let wanted: Vec<_> = findings
        .iter()
        .filter(|finding| finding.state != State::Fine)
        .collect();
    for finding in &wanted {
        script += &format!("\n# --- {}: {}\n", finding.title, comment(&finding.found));
        if finding.remedy.script.is_empty() {
            script += &format!("# By hand: {}\n", comment(&finding.remedy.now));
        } else {
            script += &finding.remedy.script;
            script += "\n";
        }
    }
    if wanted.is_empty() {
        script += "\n# Nothing lacks.\n";
    }
    script
}

/// What was read from the system cannot end the comment it stands in.
fn comment(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
