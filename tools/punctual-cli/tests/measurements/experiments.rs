//! The experiments with thread pools from end to end, as far as short runs go: what they write, and that a
//! run that is killed leaves no process and no network behind.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStderr, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

/// Two measurements would disturb each other, so that the second one refuses; it is tried again for a while.
const TIMEOUT: Duration = Duration::from_secs(180);

fn bench(name: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["bench", name, "--quick", "--leave-system-alone"]);
    command
}

fn is_refused(said: &str) -> bool {
    said.contains("another measurement")
}

pub fn experiment_1_runs_and_writes_what_other_tools_read() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (json, html) = (folder.join("rt.1.json"), folder.join("rt.1.html"));
    let start = Instant::now();
    let output: Output = loop {
        let mut command = bench("rt.1");
        let output = command.arg("--json").arg(&json).arg("--html").arg(&html).output();
        let output = output.unwrap();
        if !is_refused(&String::from_utf8_lossy(&output.stderr)) || start.elapsed() > TIMEOUT {
            break output;
        }
        thread::sleep(Duration::from_secs(2));
    };
    let said = String::from_utf8_lossy(&output.stderr);
    // What it says of the machine is not judged here: others may be using it.
    assert!([0, 1, 2, 3].contains(&output.status.code().unwrap()), "{said}");

    let text = fs::read_to_string(&json).unwrap_or_else(|error| panic!("{error}: {said}"));
    let outcome: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(outcome["benchmark"], "rt.1");
    assert!(outcome["parameters"]["shortened"].is_string(), "{outcome}");
    let rows = outcome["rows"].as_array().unwrap();
    let works: Vec<u64> = rows.iter().map(|row| row["work"].as_u64().unwrap()).collect();
    assert_eq!(works, [25, 30, 55, 85]);
    // Twice the work takes about twice the time on any machine; only the order is asserted.
    let rates: Vec<f64> = rows
        .iter()
        .map(|row| row["achieved_hz"].as_f64().unwrap())
        .collect();
    assert!(rates[0] > rates[2] && rates[2] > rates[3], "{rates:?}");
    let claims = outcome["claims"].as_array().unwrap();
    assert!(claims.iter().any(|claim| claim["id"] == "constant"), "{claims:?}");
    assert!(fs::read_to_string(&html).unwrap().contains("<svg"));
}

pub fn a_killed_run_leaves_no_process_and_no_network() {
    let start = Instant::now();
    let (mut run, _stderr) = loop {
        let mut run = bench("rt.8")
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Server and clients of both stages are there when the first phase begins.
        if let Some(stderr) = said(&mut run, "best-effort threads") {
            break (run, stderr);
        }
        run.wait().unwrap();
        assert!(
            start.elapsed() < TIMEOUT,
            "another measurement has been running all the time"
        );
        thread::sleep(Duration::from_secs(2));
    };
    let children = load_processes_of(run.id());
    assert!(children.len() >= 2, "server and clients: {children:?}");
    let apart = children
        .iter()
        .filter(|child| network_of(**child) != network_of(run.id()));
    if apart.count() == 0 {
        punctual_fixtures::skip_part(
            punctual_fixtures::Missing::Right,
            "cannot create a network namespace",
        );
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let left = || {
        children
            .iter()
            .any(|child| Path::new(&format!("/proc/{child}")).exists())
    };
    while left() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
    }
    assert!(!left(), "processes are left: {children:?}");
    // Networks without a name go with their processes; the cable was never in this one.
    let devices = fs::read_to_string("/proc/net/dev").unwrap();
    assert!(
        !devices.contains("server-end") && !devices.contains("client-end"),
        "{devices}"
    );
}

/// Reads what it says until a line holds the text, and gives the rest, which must stay open for it to write
/// on. `None` if it ends before, because another measurement runs.
fn said(run: &mut Child, text: &str) -> Option<BufReader<ChildStderr>> {
    let mut stderr = BufReader::new(run.stderr.take().unwrap());
    let mut all = String::new();
    loop {
        let so_far = all.len();
        if stderr.read_line(&mut all).unwrap() == 0 {
            assert!(is_refused(&all), "it ended before its time: {all}");
            return None;
        }
        if all[so_far..].contains(text) {
            return Some(stderr);
        }
    }
}

/// Servers and clients that this process has started.
fn load_processes_of(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_ours = |process: &u32| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let command = fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
        status.contains(&format!("PPid:\t{parent}\n")) && command.contains("__load-")
    };
    numbers.filter(is_ours).collect()
}

fn network_of(process: u32) -> Option<std::path::PathBuf> {
    fs::read_link(format!("/proc/{process}/ns/net")).ok()
}
