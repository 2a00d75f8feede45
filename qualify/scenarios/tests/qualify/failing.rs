//! Benchmarks that fail, and files that cannot be written.

use std::fs;

use crate::{
    Test,
    process::{claims, file, json, qualify, reason},
};

pub const TESTS: &[Test] = &[
    (
        "failing::other_benchmarks_run_after_a_failure",
        other_benchmarks_run_after_a_failure,
    ),
    (
        "failing::unwritable_files_are_reported_before_anything_is_measured",
        unwritable_files_are_reported_before_anything_is_measured,
    ),
    (
        "failing::standard_output_is_the_json_alone",
        standard_output_is_the_json_alone,
    ),
    (
        "failing::unknown_names_are_reported_before_anything_is_measured",
        unknown_names_are_reported_before_anything_is_measured,
    ),
];

fn other_benchmarks_run_after_a_failure() {
    let [to_json, to_html, to_junit] = ["failing.json", "failing.html", "failing.xml"].map(file);
    let ended = qualify(&[
        "--quick",
        "--leave-system-alone",
        "--only",
        "t.server-dies,t.panics,t.good,t.impossible",
        "--json",
        to_json.to_str().unwrap(),
        "--html",
        to_html.to_str().unwrap(),
        "--junit",
        to_junit.to_str().unwrap(),
    ]);
    let output = ended.output();
    assert_eq!(ended.code, 2, "{output}");
    assert!(
        ended.stdout.contains("qualify: COULD NOT RUN: t.server-dies: "),
        "{output}"
    );

    let outcome = json(&to_json, &output);
    assert_eq!(claims(&outcome), ["t.good.p50"]);
    let dead = reason(&outcome, "verdict of t.server-dies");
    assert!(
        dead.contains("ended unexpectedly (exit status: 7)") && dead.contains("out of memory for one more"),
        "{dead}"
    );
    assert!(reason(&outcome, "verdict of t.panics").contains("a table without legs"));
    assert_eq!(reason(&outcome, "the remote part"), "no second machine");
    assert_eq!(outcome["parameters"]["length"], "quick");
    assert_eq!(outcome["rows"][0]["benchmark"], "t.good");

    let page = fs::read_to_string(&to_html).unwrap();
    for text in [
        "out of memory for one more",
        "a table without legs",
        "t.good: A good one",
        "<td class=\"good\">✓</td><td>t.good.p50</td>",
        "two points instead of four",
        "punctual bench t.good --quick --leave-system-alone",
        "no second machine",
        "<dt>preemption model</dt>",
        "<td></td><td>t.impossible</td>",
        "nothing was measured: the machine has no wings",
        "the figure `Height` has no points",
        "id=\"data-1\"",
    ] {
        assert!(page.contains(text), "{text:?} is missing");
    }
    assert!(
        !page.contains("src=") && !page.contains("url("),
        "the page refers to no other file"
    );

    let junit = fs::read_to_string(&to_junit).unwrap();
    for suite in [
        "name=\"qualify\" tests=\"2\" failures=\"0\" errors=\"2\" skipped=\"0\"",
        "name=\"t.good\" tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\"",
        "<testcase classname=\"pyarali-2002\" name=\"solaris\"><skipped message=\"cannot tell here: ",
    ] {
        assert!(junit.contains(suite), "{suite} is missing in {junit}");
    }
}

fn unwritable_files_are_reported_before_anything_is_measured() {
    for flag in ["--json", "--html", "--junit"] {
        let ended = qualify(&[
            "--leave-system-alone",
            "--only",
            "t.long",
            flag,
            "/nowhere/report",
        ]);
        assert_eq!(ended.code, 2);
        assert_eq!(
            ended.stderr,
            "error: qualify could not run: cannot write /nowhere/report: No such file or directory (os error \
             2); does \
             its folder exist?\n"
        );
    }
}

fn standard_output_is_the_json_alone() {
    let ended = qualify(&[
        "--quick",
        "--leave-system-alone",
        "--only",
        "t.good",
        "--json",
        "-",
    ]);
    let said = ended.output();
    let outcome: serde_json::Value = serde_json::from_str(&ended.stdout).expect(&said);
    assert_eq!(claims(&outcome), ["t.good.p50"]);
    assert!(ended.stderr.contains("1 of 1 claim holds"), "{}", ended.output());
}

fn unknown_names_are_reported_before_anything_is_measured() {
    let ended = qualify(&["--leave-system-alone", "--only", "t.goood"]);
    assert_eq!(ended.code, 2);
    assert!(
        ended
            .stderr
            .contains("unknown benchmark `t.goood`; did you mean `t.good`"),
        "{}",
        ended.output()
    );
}
