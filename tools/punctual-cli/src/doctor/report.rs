//! The report of `doctor`, as text and as JSON.

use punctual_report::terminal;
use serde_json::{Value, json};

use super::{
    finding::{Finding, State},
    system::System,
    verdict,
};

/// How the report looks.
#[derive(Clone, Copy)]
pub struct Appearance {
    /// Columns.
    pub width: usize,
    pub is_coloured: bool,
}

impl Appearance {
    /// That of the terminal, or of a page of 80 columns. Wider lines would be hard to read.
    pub fn of_stdout() -> Self {
        Self {
            width: terminal::width().unwrap_or(80).min(100),
            is_coloured: terminal::is_coloured(),
        }
    }

    fn painted(self, text: &str, colour: &str) -> String {
        if self.is_coloured {
            format!("\x1b[{colour}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// The report for people.
pub fn text(system: &System, findings: &[Finding], appearance: Appearance) -> String {
    let (release, _) = system.kernel();
    let place = if system.is_container() {
        ", in a container"
    } else {
        ""
    };
    let title = format!(
        "Real-time readiness of this machine: Linux {release}, {} CPUs{place}",
        system.online_cpus().len()
    );
    let mut text = terminal::hanging("", &title, appearance.width) + "\n";
    let mut had_passed = false;
    for finding in findings {
        let passed = finding.state == State::Passed;
        // Checks that passed are listed without blank lines.
        text += if passed && had_passed { "" } else { "\n" };
        had_passed = passed;
        text += &entry(finding, appearance);
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
        let hint =
            "`punctual doctor --fix` prints a script with all fixes; read it before you run it as root.";
        text += &(terminal::hanging("", hint, appearance.width) + "\n");
    }
    text
}

/// A check, why it matters and how to fix it.
fn entry(finding: &Finding, appearance: Appearance) -> String {
    let (mark, colour) = match finding.state {
        State::Passed => ("✓", GREEN),
        State::Failed => ("✗", RED),
        State::Unknown => ("?", YELLOW),
    };
    let line = format!("{}: {}", finding.title, finding.found);
    let line = terminal::hanging("  ", &line, appearance.width);
    let line = line.replacen(finding.title, &appearance.painted(finding.title, BOLD), 1);
    let mut text = format!("{}{}\n", appearance.painted(mark, colour), &line[1..]);
    if finding.state == State::Passed {
        return text;
    }
    let why = terminal::hanging("    why   ", finding.why, appearance.width);
    text += &(appearance.painted(&why, FAINT) + "\n");
    let remedy = &finding.remedy;
    let mut label = "    fix   ";
    if !remedy.command.is_empty() {
        text += &(shell_command(label, &remedy.command, appearance.width) + "\n");
        label = "          ";
    }
    if !remedy.advice.is_empty() {
        text += &(terminal::hanging(label, &remedy.advice, appearance.width) + "\n");
    }
    text
}

const BOLD: &str = "1";
const FAINT: &str = "2";
const RED: &str = "1;31";
const GREEN: &str = "32";
const YELLOW: &str = "1;33";

/// A command after a label. Where it is divided, lines end with a backslash, so that it can be copied.
fn shell_command(label: &str, command: &str, width: usize) -> String {
    let indent = " ".repeat(label.len());
    let (mut lines, mut line) = (Vec::new(), label.to_owned());
    for word in shell_words(command) {
        let is_first = line.len() == label.len();
        // Room for the space and the backslash.
        if !is_first && line.chars().count() + 1 + word.chars().count() + 2 > width {
            lines.push(line + " \\");
            line = indent.clone();
        } else if !is_first {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.join("\n")
}

/// The parts of a command between spaces that are not quoted.
fn shell_words(command: &str) -> Vec<&str> {
    let (mut words, mut start, mut quote) = (Vec::new(), 0, None);
    for (place, letter) in command.char_indices() {
        match (quote, letter) {
            (None, ' ') => {
                words.push(&command[start..place]);
                start = place + 1;
            }
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
    }
    words.push(&command[start..]);
    words
}

/// The report for programs.
pub fn json(system: &System, findings: &[Finding]) -> Value {
    let (release, version) = system.kernel();
    let findings = findings.iter().map(|finding| {
        json!({
            "id": finding.id,
            "title": finding.title,
            "state": match finding.state {
                State::Passed => "passed",
                State::Failed => "failed",
                State::Unknown => "unknown",
            },
            "found": finding.found,
            "why": finding.why,
            "fix": finding.remedy.now(),
            "script": finding.remedy.script,
        })
    });
    json!({
        "schema": 2,
        "kernel_release": release,
        "kernel_version": version,
        "online_cpus": system.online_cpus().len(),
        "container": system.is_container(),
        "findings": findings.collect::<Vec<_>>(),
    })
}
