//! Help texts and the list of benchmarks.

use std::{process::Command, time::Duration};

use punctual_scenarios::{Length, benchmarks, qualify};

#[test]
fn help_names_every_command() {
    let (code, text) = punctual(&["--help"]);
    assert_eq!(code, 0);
    for command in [
        "new",
        "doctor",
        "demo",
        "bench",
        "qualify",
        "trace",
        "idl",
        "plan",
        "top",
        "call",
        "events",
        "naming",
        "explain",
        "completions",
        "man",
    ] {
        assert!(
            text.lines().any(|line| line.trim_start().starts_with(command)),
            "{text}"
        );
    }
}

#[test]
fn help_of_each_command_has_examples_and_exit_codes() {
    for command in [
        &["demo"][..],
        &["bench", "cubit"],
        &["bench", "inversion"],
        &["qualify"],
        &["trace"],
        &["idl", "check"],
        &["idl", "compile"],
        &["plan"],
        &["doctor"],
        &["top"],
        &["new"],
        &["events", "serve"],
        &["events", "tail"],
        &["events", "send"],
        &["events", "top"],
        &["naming", "serve"],
        &["naming", "list"],
        &["naming", "resolve"],
        &["naming", "bind"],
        &["naming", "unbind"],
        &["naming", "create"],
        &["naming", "destroy"],
        &["call"],
        &["explain"],
        &["completions", "bash"],
        &["man"],
    ] {
        let (code, text) = punctual(&[command, &["--help"]].concat());
        assert_eq!(code, 0, "{command:?}");
        assert!(
            text.contains("Examples:") && text.contains("Exit code:"),
            "{command:?}: {text}"
        );
    }
}

#[test]
fn version_is_that_of_the_package() {
    let (code, text) = punctual(&["--version"]);
    assert_eq!(
        (code, text.trim()),
        (0, concat!("punctual ", env!("CARGO_PKG_VERSION")))
    );
}

#[test]
fn unknown_benchmark_is_a_wrong_command_line() {
    assert_eq!(punctual(&["bench", "nothing"]).0, 2);
}

#[test]
fn invalid_arguments_are_errors_before_anything_is_measured() {
    for arguments in [
        &["qualify", "--quick", "--paper-lengths"][..],
        &["qualify", "--only", "nothing"],
        &["qualify", "--only", "cubit", "--json", "/nowhere/out.json"],
        &["qualify", "--only", "cubit", "--bounds", "/nowhere/bounds.toml"],
        &["bench", "cubit", "--html", "/nowhere/out.html"],
        &["bench", "orb.demultiplexing", "--controls=nothing"],
    ] {
        assert_eq!(punctual(arguments).0, 2, "{arguments:?}");
    }
}

#[test]
fn benchmarks_are_listed() {
    let (code, text) = punctual(&["bench", "list"]);
    assert_eq!(code, 0);
    for name in [
        "os.context-switch ",
        "cubit ",
        "orb.latency ",
        "rt.9-large-request ",
    ] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
    }
    assert!(text.contains("punctual bench NAME"), "{text}");
}

/// Exit code and standard output.
fn punctual(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args(arguments)
        .output()
        .unwrap();
    (
        output.status.code().expect("it ends by itself"),
        String::from_utf8(output.stdout).unwrap(),
    )
}

#[test]
fn usual_durations_are_stated_for_each_benchmark() {
    for arguments in [&["bench", "list"], &["bench", "--help"]] {
        let text = punctual(arguments).1;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for benchmark in benchmarks() {
            let stated = format!("({})", benchmark.durations());
            assert!(
                text.contains(&stated),
                "{}: {stated} is not in {text}",
                benchmark.name
            );
        }
    }
    let minutes = |length| {
        let mut all = benchmarks().filter(|benchmark| benchmark.name == "cubit");
        all.next()
            .map(|cubit| (cubit.expected)(length).as_secs_f64() / 60.0)
    };
    let help = punctual(&["bench", "--help"]).1;
    assert!(help.contains("bench cubit --quick --json cubit.json           about 35 s; in full 5 minutes"));
    for (length, promised) in [(Length::Quick, 35.0 / 60.0), (Length::Full, 5.0)] {
        let ratio = promised / minutes(length).expect("it is listed");
        assert!((0.8..=1.2).contains(&ratio), "{length:?}: {ratio}");
    }
}

#[test]
fn promised_durations_are_those_of_the_measurements() {
    let help = punctual(&["qualify", "--help"]).1;
    let documented = include_str!("../../../../docs/qualify.md");
    let mut broken: Vec<String> = Vec::new();
    for (length, command, most) in [
        (Length::Quick, "punctual qualify --quick --html", 480),
        (Length::Full, "punctual qualify --json now.json --html", 3_600),
    ] {
        let run = benchmarks().filter(|benchmark| qualify::is_of_papers(benchmark));
        let run: Vec<_> = run
            .map(|benchmark| (benchmark.name, (benchmark.expected)(length)))
            .collect();
        let expected: Duration = run.iter().map(|(_, expected)| *expected).sum();
        if expected > Duration::from_secs(most) {
            broken.push(format!("{command}: more than {most} s: {expected:?}: {run:#?}"));
        }
        for text in [help.as_str(), documented] {
            let promise = text
                .lines()
                .filter(|line| line.contains(command))
                .find_map(|line| line.split_once("about ")?.1.split_once(" minutes"));
            let promised: f64 = promise.expect(command).0.parse().expect(command);
            let ratio = promised * 60.0 / expected.as_secs_f64();
            if !(0.8..=1.2).contains(&ratio) {
                broken.push(format!("{command}: {promised} minutes, expected {expected:?}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}
