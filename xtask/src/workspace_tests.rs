//! Runs of `cargo test`: all targets, also after a failure, with the results and skips of every test program.

use std::{
    fmt,
    io::{BufRead, BufReader},
    ops::AddAssign,
    process::{ChildStdout, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use crate::{command::cargo, interop, limit, skips::Skips, test::LINK};

/// Runs all tests of the workspace and of the link; an outdated table of interoperability counts as one that
/// failed.
pub fn workspace() -> Result<Sum, String> {
    interop::forget();
    let mut sum = run(&["--workspace", "--no-fail-fast"], None)?;
    sum += run(&["-p", LINK, "--no-fail-fast"], None)?;
    if let Err(outdated) = interop::check() {
        println!("\nFAILED: {outdated}");
        sum.failed += 1;
    }
    Ok(sum)
}

/// Runs the tests under loom, in a folder of its own: other flags would make everything else be built again.
pub fn loom() -> Result<Sum, String> {
    let packages = ["-p", "punctual-poa", "-p", "punctual-os", "--lib"];
    let folder = ["--target-dir", "target/loom"];
    let arguments = [&["--no-fail-fast"], &packages[..], &folder, &["loom"]].concat();
    run(&arguments, Some(("RUSTFLAGS", "--cfg loom")))
}

/// Runs a `cargo test` to its end. Failed tests are in the sum; an error means that nothing could be run.
fn run(arguments: &[&str], variable: Option<(&str, &str)>) -> Result<Sum, String> {
    let failed = |error: std::io::Error| format!("cargo test cannot be run: {error}");
    let skips = Skips::start()?;
    let [option, setting] = limit::of_test_programs()?;
    let mut command = cargo(&[&["test", &option, &setting], arguments].concat())
        .env("PUNCTUAL_SKIPS", &skips.folder.display().to_string());
    if let Some((name, value)) = variable {
        command = command.env(name, value);
    }
    let mut child = command.show().stdout(Stdio::piped()).spawn().map_err(failed)?;
    let lines = lines(child.stdout.take().expect("it is piped"));
    let mut output = Output::default();
    let mut status = None;
    loop {
        match lines.recv_timeout(AFTER_THE_END) {
            Ok(line) => {
                println!("{line}");
                output.add(&line);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            // A process that a test has left behind still has our output.
            Err(RecvTimeoutError::Timeout) if status.is_some() => break,
            Err(RecvTimeoutError::Timeout) => status = child.try_wait().map_err(failed)?,
        }
    }
    let status = status.map_or_else(|| child.wait(), Ok).map_err(failed)?;
    Ok(output.sum(status.success(), skips.read()?))
}

/// Time for which the output is read after the end of `cargo test`, and interval of checks for that end.
const AFTER_THE_END: Duration = Duration::from_secs(1);

/// The lines of the output as they arrive.
fn lines(output: ChildStdout) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    });
    lines
}

/// The results of test programs.
#[derive(Debug, Default, PartialEq)]
pub struct Sum {
    passed: usize,
    /// Failed tests, and programs that ended without a result.
    pub failed: usize,
    skips: Skips,
}

impl Sum {
    /// The reasons of all skips, with the tests below each.
    pub fn reasons(&self) -> String {
        self.skips.reasons()
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skips.add(other.skips);
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skipped = self.skips.count();
        write!(
            f,
            "{} passed, {} failed, {skipped} skipped",
            self.passed, self.failed
        )
    }
}

/// Counts the results in the output of test programs.
#[derive(Debug, Default)]
struct Output {
    passed: usize,
    failed: usize,
    /// A program has started its tests and not reported a result yet.
    is_running: bool,
    ignored: Vec<(String, String)>,
}

/// Tests that are no checks of their own: other tests run them in a process of their own.
const CHILD_PROCESS: &str = "started by other tests";

impl Output {
    fn add(&mut self, line: &str) {
        if is_start(line) {
            self.end_without_result();
            self.is_running = true;
        } else if let Some(result) = line.strip_prefix("test result: ") {
            self.is_running = false;
            let (_, counts) = result.split_once(". ").unwrap_or_default();
            for count in counts.split("; ") {
                match count.split_once(' ') {
                    Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                    Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                    _ => {}
                }
            }
        } else if let Some((test, reason)) = ignored(line)
            && reason != CHILD_PROCESS
        {
            self.ignored.push((test.to_owned(), reason.to_owned()));
        }
    }

    /// A program that is killed or exits in a test has no result: this counts as one failure.
    fn end_without_result(&mut self) {
        self.failed += usize::from(self.is_running);
        self.is_running = false;
    }

    fn sum(mut self, is_success: bool, mut skips: Skips) -> Sum {
        self.end_without_result();
        if !is_success && self.failed == 0 {
            // It could not be built, for example.
            self.failed = 1;
        }
        let passed = self.passed.saturating_sub(skips.whole_tests());
        for (test, reason) in self.ignored {
            skips.add_ignored(test, reason);
        }
        Sum {
            passed,
            failed: self.failed,
            skips,
        }
    }
}

/// `running 3 tests`.
fn is_start(line: &str) -> bool {
    let number = line
        .strip_prefix("running ")
        .and_then(|rest| rest.split_once(" test"));
    number.is_some_and(|(number, _)| number.parse::<usize>().is_ok())
}

/// `test name ... ignored, reason`, of a test and not of an example in the documentation.
fn ignored(line: &str) -> Option<(&str, &str)> {
    let (test, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let reason = outcome.strip_prefix("ignored")?;
    let is_example = test.contains("(line ");
    (!is_example).then(|| (test, reason.trim_start_matches(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(lines: &[&str], is_success: bool) -> Sum {
        let mut output = Output::default();
        lines.iter().for_each(|line| output.add(line));
        output.sum(is_success, Skips::default())
    }

    const GOOD: &str =
        "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.00s";
    const BAD: &str =
        "test result: FAILED. 4 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s";

    #[test]
    fn results_of_all_programs_are_summed() {
        let all = [
            "running 3 tests",
            GOOD,
            "running 7 tests",
            BAD,
            "9 passed, 9 failed",
        ];
        assert_eq!(sum(&all, false).to_string(), "7 passed, 2 failed, 0 skipped");
    }

    #[test]
    fn programs_without_a_result_have_failed() {
        let died = [
            "running 3 tests",
            "test a ... ok",
            "running 3 tests",
            GOOD,
            "running 1 test",
        ];
        assert_eq!(sum(&died, false).to_string(), "3 passed, 2 failed, 0 skipped");
        assert_eq!(sum(&[GOOD], false).to_string(), "3 passed, 1 failed, 0 skipped");
        assert_eq!(sum(&[GOOD], true).to_string(), "3 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn ignored_tests_are_skipped_unless_others_start_them() {
        let lines = [
            "test a::b ... ignored, takes an hour",
            "test a::c ... ignored, started by other tests",
            "test crates/punctual/src/lib.rs - include_idl (line 217) ... ignored",
        ];
        let sum = sum(&lines, true);
        assert_eq!(sum.to_string(), "0 passed, 0 failed, 1 skipped");
        assert!(sum.reasons().contains("takes an hour"), "{}", sum.reasons());
    }

    #[test]
    fn sums_of_several_runs_are_added() {
        let mut all = sum(&[GOOD], true);
        all += sum(&[BAD], false);
        assert_eq!(all.to_string(), "7 passed, 2 failed, 0 skipped");
    }
}
