//! The report of `doctor`, as text and as JSON.

use serde_json::{Value, json};

use super::{
    finding::{Finding, State},
    system::System,
    verdict,
};

/// The report for people.
pub fn text(system: &System, findings: &[Finding]) -> String {
    let (release, _) = system.kernel();
    let place = if system.is_container() {
        ", in a container"
    } else {
        ""
    };
    let mut text = format!(
        "Real-time readiness of this machine: Linux {release}, {} CPUs{place}\n",
        system.online_cpus().len()
    );
    let mut had_passed = false;
    for finding in findings {
        let passed = finding.state == State::Passed;
        // Checks that passed are listed without blank lines.
        text += if passed && had_passed { "" } else { "\n" };
        had_passed = passed;
        text += &format!("{} {}: {}\n", mark(finding.state), finding.title, finding.found);
        if passed {
            continue;
        }
        text += &paragraph("why", finding.why);
        if !finding.remedy.now.is_empty() {
            // Not wrapped: it is copied by users.
            text += &format!("    {:<5} {}\n", "fix", finding.remedy.now);
        }
    }
    let count = |state: State| findings.iter().filter(|finding| finding.state == state).count();
    let (failed, unknown) = (count(State::Failed), count(State::Unknown));
    text += &if failed + unknown == 0 {
        String::from("\nAll checks passed.\n")
    } else {
        format!(
            "\n{} passed, {failed} failed, {unknown} unknown.\n",
            count(State::Passed)
        )
    };
    if system.is_container() {
        text += "Kernel settings belong to the host and are changed there.\n";
    }
    if verdict(findings) != 0 {
        text +=
            "`punctual doctor --fix` prints a script with all fixes; read it before you run it as root.\n";
    }
    text
}

/// The report for programs.
pub fn json(system: &System, findings: &[Finding]) -> Value {
    let (release, version) = system.kernel();
    let findings = findings.iter().map(|finding| {
        json!({
            "id": finding.id,
            "title": finding.title,
            "state": match finding.state {
                State::Passed => "fine",
                State::Failed => "lacks",
                State::Unknown => "unknown",
            },
            "found": finding.found,
            "why": finding.why,
            "mend": finding.remedy.now,
            "script": finding.remedy.script,
        })
    });
    json!({
        "schema": 1,
        "kernel_release": release,
        "kernel_version": version,
        "online_cpus": system.online_cpus().len(),
        "container": system.is_container(),
        "findings": findings.collect::<Vec<_>>(),
    })
}

fn mark(state: State) -> char {
    match state {
        State::Passed => '✓',
        State::Failed => '✗',
        State::Unknown => '?',
    }
}

/// Words after a label, in lines of 100 characters.
fn paragraph(label: &str, words: &str) -> String {
    const WIDTH: usize = 90;
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let last = lines.last_mut().expect("it starts with one line");
        if last.chars().count() + word.chars().count() >= WIDTH && !last.is_empty() {
            lines.push(word.to_owned());
        } else {
            last.push_str(if last.is_empty() { "" } else { " " });
            last.push_str(word);
        }
    }
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    let lines = lines.iter().zip(labels);
    lines
        .map(|(line, label)| format!("    {label:<5} {line}\n"))
        .collect()
}
