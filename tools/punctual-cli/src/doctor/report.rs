use serde_json::{Value, json};

use super::{
    finding::{Finding, State},
    system::System,
    verdict,
};

/// For people.
pub fn text(system: &System, findings: &[Finding]) -> String {
    let (release, _) = system.kernel();
    let place = if system.is_container() {
        ", in a container"
    } else {
        ""
    };
    let mut text = format!(
        "What this machine has for real time: work that has to be done by a point in time, every time.\n\
         Linux {release}, {} CPUs{place}\n",
        system.online_cpus().len()
    );
    let mut was_fine = false;
    for finding in findings {
        let is_fine = finding.state == State::Fine;
        // What is fine needs no room.
        text += if is_fine && was_fine { "" } else { "\n" };
        was_fine = is_fine;
        text += &format!("{} {}: {}\n", mark(finding.state), finding.title, finding.found);
        if is_fine {
            continue;
        }
        text += &paragraph("why", finding.why);
        if !finding.remedy.now.is_empty() {
            // Not wrapped: it is to be copied.
            text += &format!("    {:<5} {}\n", "mend", finding.remedy.now);
        }
    }
    let count = |state: State| findings.iter().filter(|finding| finding.state == state).count();
    text += &format!(
        "\n{} fine, {} lacking, {} could not be looked at.\n",
        count(State::Fine),
        count(State::Lacks),
        count(State::Unknown)
    );
    if system.is_container() {
        text += "Settings of the kernel are the host's: they are changed there.\n";
    }
    if verdict(findings) != 0 {
        text +=
            "`punctual doctor --fix` prints a script with all of it; read it before you run it as root.\n";
    }
    text
}

/// For machines.
pub fn json(system: &System, findings: &[Finding]) -> Value {
    let (release, version) = system.kernel();
    let findings = findings.iter().map(|finding| {
        json!({
            "id": finding.id,
            "title": finding.title,
            "state": match finding.state {
                State::Fine => "fine",
                State::Lacks => "lacks",
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
        State::Fine => '✓',
        State::Lacks => '✗',
        State::Unknown => '?',
    }
}

/// Words behind a label, in lines of 100 letters.
fn paragraph(label: &str, words: &str) -> String {
    const WIDTH: usize = 90;
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let last = lines.last_mut().expect("there is a line");
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
