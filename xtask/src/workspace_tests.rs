//! `cargo test --workspace`, with a sum at the end.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use crate::{command::cargo, peers};

/// Runs all tests, also after one has failed, and says how many passed.
pub fn run() -> Result<String, String> {
    let failed = |error: std::io::Error| format!("cargo test cannot be run: {error}");
    // Where peers are to be there, a test that misses its peer fails instead of passing silently.
    let require_peers = if peers::skipped() { "0" } else { "1" };
    let mut child = cargo(&["test", "--workspace", "--no-fail-fast"])
        .env("PUNCTUAL_REQUIRE_PEERS", require_peers)
        .show()
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut sum = Sum::default();
    let output = child.stdout.take().expect("it is piped");
    for line in BufReader::new(output).split(b'\n') {
        let line = line.map_err(failed)?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        sum.add(&line);
    }
    let status = child.wait().map_err(failed)?;
    match (status.success(), sum.failed) {
        (true, 0) => Ok(sum.to_string()),
        (_, 0) => Err(format!(
            "cargo test: {status}, outside a counted test; see above\n{sum}"
        )),
        _ => Err(format!("see above\n{sum}")),
    }
}

/// What test programs said of themselves.
#[derive(Debug, Default, PartialEq)]
struct Sum {
    passed: usize,
    failed: usize,
}

impl Sum {
    /// Counts a line such as `test result: ok. 3 passed; 0 failed; ...`.
    fn add(&mut self, line: &str) {
        let Some((_, counts)) = line
            .strip_prefix("test result: ")
            .and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for count in counts.split("; ") {
            match count.split_once(' ') {
                Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_summed() {
        let mut sum = Sum::default();
        for line in [
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.00s",
            "test result: FAILED. 4 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "9 passed, 9 failed",
        ] {
            sum.add(line);
        }
        assert_eq!(sum.to_string(), "7 passed, 2 failed");
    }
}
