//! `punctual scheduler`: the schedule of a file, and the served object.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use punctual::Orb;
use punctual_scheduling::rtec::idl::punctual_scheduling::SchedulerRef;
use serde_json::Value;

use crate::command::{file, row, run};

const FLIGHT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../services/scheduling/flight.toml"
);

#[test]
fn the_schedule_of_a_file_is_shown() {
    let shown = run(["scheduler", "show", FLIGHT]);
    assert_eq!(shown.code, 0, "{}", shown.complained);
    assert!(
        shown.said.contains("% of the processor is admitted"),
        "{}",
        shown.said
    );
    let json = run(["scheduler", "show", FLIGHT, "--json"]).said;
    let json: Value = serde_json::from_str(&json).unwrap();
    let mut operations = json["operations"].as_array().unwrap().iter();
    // Follows the moving map and the radar at the lower of their rates, and is as critical as the radar.
    let symbols = operations.find(|own| own["operation"] == "symbols").unwrap();
    assert_eq!(symbols["criticality"], "high");
    assert_eq!(symbols["period_ms"].as_f64().map(f64::round), Some(200.0));
}

#[test]
fn json_has_what_has_no_room() {
    let text = "threshold = 0.5\n[[operation]]\nname = \"map\"\n\
                rates = [{ period = \"10 ms\", wcet = \"6 ms\" }]";
    let run = run([
        "scheduler".as_ref(),
        "show".as_ref(),
        file("map.toml", text).as_os_str(),
        "--json".as_ref(),
    ]);
    assert_eq!(run.code, 1, "{}", run.complained);
    let shown: Value = serde_json::from_str(&run.said).unwrap();
    assert_eq!(shown["operations"][0]["period_ms"], Value::Null);
    let anomaly = &shown["anomalies"][0];
    assert_eq!(anomaly["severity"], "error");
    assert!(
        anomaly["text"]
            .as_str()
            .unwrap()
            .contains("`map` was not admitted"),
        "{anomaly}"
    );
}

#[test]
fn errors_name_the_place() {
    for (text, expected) in [
        ("[[operation]]\nname = \"a\"", "either `rates`, or both `wcet`"),
        ("threshold = 2.0", "not a utilisation"),
        ("strategy = \"best\"", "unknown strategy `best`"),
        (
            "[[operation]]\nname = \"a\"\nwcet = \"1 ms\"\nfollows = [{ operation = \"b\" }]",
            "no operation `b`",
        ),
    ] {
        let file = file("wrong.toml", text);
        let run = run(["scheduler".as_ref(), "show".as_ref(), file.as_os_str()]);
        assert_eq!(run.code, 2, "{text}");
        assert!(run.complained.contains(expected), "{text}: {}", run.complained);
    }
}

#[test]
fn show_reads_files_and_says_so_about_anything_else() {
    for (argument, expected) in [
        (
            "corbaloc::localhost:2811/Scheduler",
            "`corbaloc::localhost:2811/Scheduler` is the address of an object, and this command reads a file",
        ),
        ("IOR:00", "`IOR:00` is the address of an object"),
        ("absent.toml", "absent.toml: No such file or directory"),
    ] {
        let run = run(["scheduler", "show", argument]);
        assert_eq!(run.code, 2, "{argument}");
        assert!(run.complained.contains(expected), "{}", run.complained);
        assert!(!run.complained.contains("empty"), "{}", run.complained);
    }
}

#[test]
fn a_served_scheduler_answers_is_watched_and_ends_with_a_signal() {
    // Socket paths have at most 107 octets.
    let socket = std::env::temp_dir().join(format!("punctual-served-{}.inspect", std::process::id()));
    let socket = socket.to_str().unwrap();
    let serve = [
        "scheduler",
        "serve",
        "--listen",
        "iiop://127.0.0.1:0",
        "--strategy",
        "MUF",
    ];
    let mut server = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args(serve)
        .args(["--inspection", socket])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let url = line.split_whitespace().last().unwrap();
    let orb = Orb::builder().lock_memory(false).build().unwrap();
    let scheduler: SchedulerRef = orb.resolve(url).unwrap();
    assert_eq!(scheduler.strategy().unwrap(), "MUF");
    assert_eq!(scheduler.create("display").unwrap(), 1);
    // It has no rate, and depends on nothing.
    assert!(scheduler.recompute_scheduling(1, 99).is_err());
    let watched = run(["top", socket, "--interval", "0.1"]);
    assert_eq!(watched.code, 0, "{}", watched.complained);
    assert_eq!(
        row(&watched.said, "Scheduler"),
        [
            "Scheduler",
            "MUF",
            "0.0%",
            "0/0",
            "1",
            "1",
            "0",
            "1",
            "0",
            "0",
            "0"
        ]
    );
    let pid = rustix::process::Pid::from_child(&server);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(server.wait().unwrap().success());
}
