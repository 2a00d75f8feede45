//! Measurements that end otherwise than planned: Ctrl-C, outputs that take nothing, standard output as a
//! file.

use std::{
    fs::OpenOptions,
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use punctual_fixtures::programs::interruptible;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A demo of this many seconds.
const fn demo(seconds: &str) -> [&str; 4] {
    ["demo", "--seconds", seconds, "--leave-system-alone"]
}

fn punctual() -> Command {
    let mut command = interruptible(env!("CARGO_BIN_EXE_punctual"));
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    command
}

/// Starts the demo, and waits until it prints something; `None` while another program measures.
fn begun(seconds: &str) -> Option<(Child, String)> {
    let mut demo = punctual()
        .args(demo(seconds))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let output = demo.stdout.as_mut().unwrap();
    BufReader::with_capacity(1, output).read_line(&mut first).unwrap();
    if first.is_empty() {
        let ended = demo.wait_with_output().unwrap();
        assert!(
            complaint(&ended).contains("another measurement"),
            "{}",
            complaint(&ended)
        );
        return None;
    }
    Some((demo, first))
}

/// Tries again for a while: two measurements would disturb each other.
fn begin(seconds: &str) -> (Child, String) {
    let until = Instant::now() + Duration::from_secs(180);
    loop {
        match begun(seconds) {
            Some(begun) => return begun,
            None => assert!(Instant::now() < until, "another program measures all the time"),
        }
        thread::sleep(Duration::from_secs(2));
    }
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn ctrl_c_says_that_the_machine_is_as_before() {
    let (mut demo, _) = begin("60");
    kill_process(Pid::from_child(&demo), Signal::INT).unwrap();
    let began = Instant::now();
    // Discards the rest of its output.
    let mut rest = String::new();
    demo.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    let ended = demo.wait_with_output().unwrap();
    let said = complaint(&ended);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(
        said.contains("interrupted by SIGINT; machine as before"),
        "{said}"
    );
    assert!(
        !said.contains("panicked") && !rest.contains("PASS"),
        "{rest}{said}"
    );
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "it would take a minute"
    );
}

/// As `punctual demo | head -1`.
pub fn a_pipe_that_ends_ends_the_measurement_without_a_word() {
    let (mut demo, first) = begin("5");
    drop(demo.stdout.take());
    let ended = demo.wait_with_output().unwrap();
    let said = complaint(&ended);
    assert_eq!(ended.status.code(), Some(128 + 13), "{first}{said}");
    assert!(!said.contains("panicked"), "{said}");
}

pub fn a_full_disk_ends_the_measurement_with_an_error() {
    let until = Instant::now() + Duration::from_secs(180);
    loop {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = punctual().args(demo("60")).stdout(full).output().unwrap();
        let said = complaint(&ended);
        assert_eq!(ended.status.code(), Some(2), "{said}");
        if said.contains("another measurement") && Instant::now() < until {
            thread::sleep(Duration::from_secs(2));
            continue;
        }
        assert!(
            said.contains("cannot write to standard output: No space left"),
            "{said}"
        );
        assert!(!said.contains("panicked"), "{said}");
        return;
    }
}

/// Nothing is measured first, and so nothing is printed.
pub fn unwritable_files_are_reported_first() {
    for (arguments, expected) in [
        (["demo", "--json", "/nowhere/r.json"], "does its folder exist?"),
        (["demo", "--html", "/"], "give a file name"),
        (["demo", "--html", "/dev/full/r.html"], "cannot write"),
    ] {
        let ended = punctual().args(arguments).output().unwrap();
        let said = complaint(&ended);
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(
            said.contains(expected) && !said.contains("panicked"),
            "{arguments:?}: {said}"
        );
        assert!(ended.stdout.is_empty(), "{arguments:?}");
    }
    let trace = ["trace", "--perfetto", "/nowhere/t.json", "--", "touch", "started"];
    let ended = punctual().args(trace).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let started = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("started");
    assert!(!started.exists(), "the command must not have run");
}

pub fn standard_output_is_a_file_as_well() {
    for option in ["--json", "--perfetto"] {
        let ended = punctual()
            .args(["trace", option, "-", "--", "true"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&ended.stdout);
        let written: Result<Value, _> = serde_json::from_str(&text);
        let object =
            written.unwrap_or_else(|error| panic!("{option}: {error}: {text}\n{}", complaint(&ended)));
        let field = if option == "--json" {
            "benchmark"
        } else {
            "traceEvents"
        };
        assert!(!object[field].is_null(), "{option}: {text}");
        assert!(
            complaint(&ended).contains("trace: "),
            "the verdict is elsewhere: {}",
            complaint(&ended)
        );
    }
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("-");
    assert!(!file.exists(), "no file of this name");
}
