//! `cargo xtask limit SECONDS PROGRAM...`: a program that is ended, with all that it started, when its time
//! is up.
//!
//! `cargo test` starts test programs through it: one that hangs costs its limit and not the whole run.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Child, Command, ExitCode, ExitStatus},
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper};

/// Longest time of a test program: the longest one takes five minutes on two processors with nothing else to
/// do.
const TEST_PROGRAM: Duration = Duration::from_secs(1_200);

/// Longest time that killed processes take to end.
const END_OF_ALL: Duration = Duration::from_secs(10);

/// The path of this program when it was first asked for: once `cargo test` has built the program anew, the
/// system calls the file of this process deleted.
static OWN: LazyLock<Result<PathBuf, String>> = LazyLock::new(|| {
    std::env::current_exe().map_err(|error| format!("the path of xtask is unknown: {error}"))
});

/// Settings with which `cargo test` limits the time of each test program.
pub fn of_test_programs() -> Result<[String; 2], String> {
    let own = OWN.as_ref().map_err(Clone::clone)?;
    let seconds = TEST_PROGRAM.as_secs();
    let runner = toml::Value::from(vec![
        own.display().to_string(),
        "limit".into(),
        seconds.to_string(),
    ]);
    Ok(["--config".into(), format!("target.'cfg(all())'.runner={runner}")])
}

/// Runs the program; its exit code is ours.
pub fn run(seconds: &str, program: &[&str]) -> Result<ExitCode, String> {
    let limit = seconds
        .parse()
        .map(Duration::from_secs)
        .map_err(|_| format!("`{seconds}` is not a number of seconds"))?;
    let [name, arguments @ ..] = program else {
        return Err("a program is expected after the number of seconds".into());
    };
    // Processes that the program leaves behind become children of this one.
    set_child_subreaper(Some(getpid())).map_err(|error| format!("no processes can be adopted: {error}"))?;
    let child = Command::new(name)
        .args(arguments)
        .spawn()
        .map_err(|error| format!("{name}: {error}"))?;
    let failed = |error: std::io::Error| format!("{name}: {error}");
    let status = wait(&child, limit).map_err(failed)?;
    let left = end_children();
    if status.is_some() && left > 0 {
        println!("warning: {name} has left {left} process(es) behind, which were ended");
    }
    let Some(status) = status else {
        return Err(format!(
            "{name} has run for {seconds} s and was ended; a test that hangs is named above, with \"has been running \
             for over 60 seconds\""
        ));
    };
    match status.code() {
        Some(code) => Ok(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))),
        None => Err(format!("{name}: {status}")),
    }
}

/// Waits for the end of the program, and for that of what it leaves behind, which would be listed as a
/// process until then; `None`: the program has not ended within `limit`.
fn wait(child: &Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match rustix::process::wait(WaitOptions::NOHANG)? {
            Some((process, status)) if process == Pid::from_child(child) => {
                return Ok(Some(ExitStatus::from_raw(status.as_raw())));
            }
            Some(_) => continue,
            None if start.elapsed() >= limit => return Ok(None),
            None => thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Ends all processes that were started from here, by whichever process, and waits until they are gone;
/// returns their number.
fn end_children() -> usize {
    let mut all = children(&std::process::id().to_string());
    let mut next = 0;
    while next < all.len() {
        let started = children(&all[next]);
        all.extend(started);
        next += 1;
    }
    if !all.is_empty() {
        // Some have ended meanwhile; then there is nothing to do.
        let _ = Command::new("kill").arg("-KILL").args(&all).output();
        collect_children();
    }
    all.len()
}

/// Waits until there are no children, those of ended processes included; for a while, since one may be in an
/// uninterruptible state.
fn collect_children() {
    let start = Instant::now();
    while start.elapsed() < END_OF_ALL {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => thread::sleep(Duration::from_millis(1)),
            Err(_) => break,
        }
    }
}

fn children(process: &str) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten();
    threads
        .filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().map(String::from).collect::<Vec<_>>())
        .filter(|child| !has_ended(child))
        .collect()
}

/// A process that has ended is listed until its parent waits for its status.
fn has_ended(process: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status.is_empty() || status.contains(") Z ")
}
