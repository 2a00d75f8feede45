//! Runs that are ended by signals.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use punctual_os::affinity;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use crate::{
    Test,
    process::{Running, claims, file, json, reason},
};

pub const TESTS: &[Test] = &[
    ("signals::ctrl_c_keeps_the_results", ctrl_c_keeps_the_results),
    (
        "signals::a_signal_to_one_process_ends_all",
        a_signal_to_one_process_ends_all,
    ),
    ("signals::kill_leaves_nothing_behind", kill_leaves_nothing_behind),
];

/// The signal goes to the whole process group, as from a terminal.
fn ctrl_c_keeps_the_results() {
    let (code, output, outcome, page) =
        ended_by("ctrl-c", |run| kill_process_group(run, Signal::INT).unwrap());
    assert_eq!(code, Some(130), "{output}");
    assert!(
        output.contains("interrupted by SIGINT; machine as before"),
        "{output}"
    );
    let page = page.unwrap();
    assert!(
        page.contains("INTERRUPTED: ") && page.contains("by SIGINT"),
        "{output}"
    );
    assert_eq!(claims(&outcome), ["t.good.p50"]);
    assert_eq!(
        reason(&outcome, "verdict of qualify"),
        "interrupted: by SIGINT; 1 not started"
    );
    assert_eq!(
        reason(&outcome, "verdict of t.long"),
        "interrupted: by SIGINT, before it had results"
    );
    assert_eq!(
        reason(&outcome, "t.after"),
        "interrupted by SIGINT before it started"
    );
}

fn a_signal_to_one_process_ends_all() {
    let (code, output, outcome, _) = ended_by("term", |run| kill_process(run, Signal::TERM).unwrap());
    assert_eq!(code, Some(143), "{output}");
    assert_eq!(
        reason(&outcome, "t.after"),
        "interrupted by SIGTERM before it started"
    );
}

/// The JSON file is the one written after the last complete benchmark; there is no page.
fn kill_leaves_nothing_behind() {
    let (code, output, outcome, page) = ended_by("kill", |run| kill_process(run, Signal::KILL).unwrap());
    assert_eq!((code, page), (None, None), "{output}");
    assert_eq!(claims(&outcome), ["t.good.p50"]);
    assert_eq!(reason(&outcome, "t.long"), "not reached yet");
}

/// Ends a run in its second benchmark of three, and checks that processes and settings are restored. Returns
/// the exit code, the output, the JSON and the page.
fn ended_by(name: &str, end: impl FnOnce(Pid)) -> (Option<i32>, String, Value, Option<String>) {
    let [to_json, to_html] = ["json", "html"].map(|kind| file(&format!("{name}.{kind}")));
    let place = affinity::current();
    let mut run = Running::start(&[
        "--only",
        "t.good,t.long,t.after",
        "--json",
        to_json.to_str().unwrap(),
        "--html",
        to_html.to_str().unwrap(),
    ]);
    let left = [(); 2].map(|()| run.wait_for("leaves=").expect("the second benchmark begins"));
    for path in &left {
        assert!(Path::new(path).exists(), "{path}");
    }
    let child = run.wait_for("child=").expect("the second benchmark begins");
    let child = child.trim_end_matches('.').to_owned();
    let began = Instant::now();
    end(Pid::from_child(&run.process));
    let (code, output) = run.end();
    assert!(began.elapsed() < Duration::from_secs(20), "{output}");
    eventually("the child process is gone", || {
        !Path::new(&format!("/proc/{child}")).exists()
    });
    eventually("files are gone", || {
        left.iter().all(|path| !Path::new(path).exists())
    });
    let outcome = json(&to_json, &output);
    if let Some(before) = outcome["parameters"]["prepared"]["throttling"]["lifted"].as_str() {
        eventually("throttling is restored", || {
            let now = fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us").unwrap();
            now.trim() == before
        });
    }
    eventually("the affinity is restored", || affinity::current() == place);
    (code, output, outcome, fs::read_to_string(&to_html).ok())
}

/// Waits for a condition; another measurement may have lifted throttling again in the meantime.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "not so: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}
