//! Runs commands of `punctual` that measure.

use std::{
    path::Path,
    process::{Command, Output},
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// Runs one, short and with nothing changed on the system, and has it write its outcome and its page.
///
/// Two measurements would disturb each other: one at a time. While another program measures the command
/// refuses, and is tried again for a while.
pub fn measure(arguments: &[&str], json: &Path, html: &Path) -> Output {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let start = Instant::now();
    loop {
        let output = Command::new(env!("CARGO_BIN_EXE_punctual"))
            .args(arguments)
            .args(["--quick", "--leave-system-alone"])
            .arg("--json")
            .arg(json)
            .arg("--html")
            .arg(html)
            .output()
            .unwrap();
        let refused = String::from_utf8_lossy(&output.stderr).contains("another measurement");
        if !refused || start.elapsed() > TIMEOUT {
            return output;
        }
        thread::sleep(Duration::from_secs(2));
    }
}

const TIMEOUT: Duration = Duration::from_secs(180);
