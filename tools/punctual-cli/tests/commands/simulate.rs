//! `punctual plan --simulate` from the command line.

use std::{fs, time::Duration};

use crate::command::{Run, row, run};
use punctual_scenarios::simulated;
use punctual_simulation::Scenario;
use serde_json::Value;

const FIGURE_6: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/simulation/figure-6.toml");
const COMPLETE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/simulation/complete.toml");

/// More work than CPU time.
const OVERLOAD: &str = r#"
scheduler = "EDF"
until = "1 s"
[[host]]
name = "h"
[[task]]
name = "heavy"
host = "h"
period = "10 ms"
parameters = { deadline = "10 ms" }
steps = [{ compute = "8 ms", least = 0.5 }]
[[task]]
name = "more"
host = "h"
period = "10 ms"
parameters = { deadline = "20 ms" }
steps = [{ compute = "6 ms" }]
"#;

fn simulate(arguments: &[&str]) -> Run {
    run(["plan", "--simulate"].iter().chain(arguments))
}

/// The path of a file of this test run, as an argument.
fn file(name: &str, text: &str) -> String {
    crate::command::file(name, text).display().to_string()
}

#[test]
fn the_file_of_figure_6_is_the_model_of_the_benchmark() {
    let scenario = Scenario::read(FIGURE_6).unwrap_or_else(|error| panic!("{error}"));
    let model = simulated::figure_6(Duration::from_secs(1), Duration::from_millis(100));
    assert_eq!(scenario.model(), model);
    assert_eq!(scenario.scheduler_name(1), "MIF");
}

#[test]
fn endless_work_ends_with_a_number_and_its_limit() {
    // A thread arrives in each nanosecond and computes for a second.
    let endless = OVERLOAD
        .replacen("\"10 ms\"", "\"1 ns\"", 1)
        .replacen("8 ms", "1 s", 1);
    let run = simulate(&[&file("endless.toml", &endless)]);
    assert_eq!(run.code, 2, "{}{}", run.said, run.complained);
    let expected = "200001 threads at one time, of at most 200000; they arrive faster than";
    assert!(run.complained.contains(expected), "{}", run.complained);
}

#[test]
fn figure_6_is_met_drawn_and_traced() {
    let [json, html, trace] = ["f6.json", "f6.html", "f6.jsonl"].map(|name| file(name, ""));
    let run = simulate(&[FIGURE_6, "--json", &json, "--html", &html, "--trace", &trace]);
    assert_eq!(run.code, 0, "{}{}", run.said, run.complained);
    assert_eq!(row(&run.said, "DT1")[..4], ["DT1", "1", "1", "0"]);
    assert!(
        run.said
            .contains("Every deadline is met: 5 distributable threads"),
        "{}",
        run.said
    );

    let outcome: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let rows = outcome["rows"].as_array().unwrap();
    let task = |name: &str| rows.iter().find(|row| row["task"] == name).unwrap();
    assert_eq!(task("DT2")["max_ms"], 21_100.0);
    assert_eq!(outcome["claims"].as_array().unwrap().len(), 5);

    let page = fs::read_to_string(html).unwrap();
    for text in ["<svg", "DT5", "host 2", "Dispatch graph", "simulate.json"] {
        assert!(page.contains(text), "{text} is missing");
    }

    let events: Vec<Value> = fs::read_to_string(trace)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let on_host_2 = |event: &&Value| {
        event["host"] == "host 2" && ["Started", "Resumed"].contains(&event["event"].as_str().unwrap())
    };
    let order: Vec<_> = events
        .iter()
        .filter(on_host_2)
        .map(|event| event["thread"].as_str().unwrap())
        .collect();
    assert_eq!(order, ["DT4", "DT1", "DT4", "DT5", "DT4", "DT2"]);
}

#[test]
fn missed_deadlines_end_with_1() {
    let model = file("overload.toml", OVERLOAD);
    let run = simulate(&[&model]);
    assert_eq!(run.code, 1, "{}", run.complained);
    assert!(
        run.said.contains("Not every deadline is met") && run.said.contains("`heavy`"),
        "{}",
        run.said
    );
}

#[test]
fn equal_seeds_give_equal_results_and_schedulers_differ() {
    let model = file("seeds.toml", OVERLOAD);
    let said = |arguments: &[&str]| simulate(&[&[model.as_str()], arguments].concat()).said;
    assert_eq!(said(&["--seed", "5"]), said(&["--seed", "5"]));
    assert_ne!(said(&["--seed", "5"]), said(&["--seed", "6"]));
    let edf = said(&[]);
    let rms = said(&["--scheduler", "RMS", "--until", "2 s"]);
    assert!(edf.contains("in 1 s of") && rms.contains("in 2 s of"), "{rms}");
    assert_eq!((row(&edf, "h")[1], row(&rms, "h")[1]), ("EDF", "RMS"));
}

#[test]
fn a_trace_has_every_event_as_a_line() {
    let trace = file("complete.jsonl", "");
    let run = simulate(&[COMPLETE, "--trace", &trace]);
    assert!(run.code < 2, "{}", run.complained);
    let events = fs::read_to_string(trace).unwrap();
    for line in events.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert!(
            event["time_ns"].is_u64() && event["host"].is_string() && event["thread"].is_string(),
            "{line}"
        );
    }
    for kind in [
        "Arrived",
        "Started",
        "Resumed",
        "Suspended",
        "SegmentBegun",
        "SegmentUpdated",
        "SegmentEnded",
        "Sent",
        "Received",
        "Replied",
        "Returned",
        "Spawned",
        "Posted",
        "Waiting",
        "Locked",
        "Unlocked",
        "Inherited",
        "Paused",
        "CancelAsked",
        "Cancelled",
        "Completed",
        "DeadlineMet",
    ] {
        assert!(events.contains(&format!("\"event\":\"{kind}\"")), "{kind}");
    }
}

#[test]
fn scheduler_names_may_be_in_small_letters() {
    let small = simulate(&[FIGURE_6, "--scheduler", "rms+mlf"]);
    let capital = simulate(&[FIGURE_6, "--scheduler", "RMS+MLF"]);
    assert_ne!(small.code, 2, "{}", small.complained);
    assert_eq!(small.code, capital.code);
}

#[test]
fn invalid_arguments_and_files_end_with_2() {
    let wrong = file("wrong.toml", &OVERLOAD.replace("\"EDF\"", "\"FIFO\""));
    let refused = simulate(&[&wrong]);
    assert_eq!(refused.code, 2);
    assert!(
        refused
            .complained
            .contains("wrong.toml:2:13: scheduler: unknown scheduler `FIFO`"),
        "{}",
        refused.complained
    );
    let empty = simulate(&[&file("empty-scenario.toml", "# Nothing.\n")]);
    assert_eq!(empty.code, 2);
    assert!(
        empty
            .complained
            .contains("missing key `scheduler`; the file is empty; "),
        "{}",
        empty.complained
    );
    for (arguments, expected) in [
        (&["nowhere.toml"][..], "cannot read nowhere.toml"),
        (&[FIGURE_6, "--scheduler", "FIFO"], "expected one of FP, TP, MIF"),
        (&[FIGURE_6, "--until", "soon"], "invalid time span"),
        (&[FIGURE_6, "--until", "0 s"], "a duration above 0"),
        (&[FIGURE_6, "--lanes", "x.toml"], "cannot be used with"),
        (&[FIGURE_6, "--trace", "/nowhere/x"], "does its folder exist?"),
        (&[FIGURE_6, "--json", "/nowhere/x"], "does its folder exist?"),
        (&[FIGURE_6, "--html", "/nowhere/x"], "does its folder exist?"),
    ] {
        let refused = simulate(arguments);
        assert_eq!(refused.code, 2, "{arguments:?}");
        assert!(
            refused.complained.contains(expected),
            "{arguments:?}: {}",
            refused.complained
        );
    }
    assert_eq!(run(["plan", FIGURE_6, "--seed", "1"]).code, 2);
}

#[test]
fn a_file_of_another_kind_names_its_command() {
    let operations = "../../services/scheduling/flight.toml";
    let schedule = "../../examples/02-lanes/lanes.toml";
    for (command, file, advice) in [
        (&["plan"][..], FIGURE_6, "`punctual plan --simulate "),
        (&["plan"], operations, "`punctual scheduler show "),
        (&["plan", "--simulate"], schedule, "`punctual plan .."),
        (&["scheduler", "show"], schedule, "`punctual plan .."),
        (&["scheduler", "show"], FIGURE_6, "`punctual plan --simulate "),
    ] {
        let refused = run(command.iter().chain(&[file]));
        assert_ne!(refused.code, 0, "{command:?} {file}");
        let text = refused.complained;
        assert!(text.contains(advice), "{command:?} {file}: {text}");
    }
}
