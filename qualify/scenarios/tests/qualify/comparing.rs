//! Comparison of results with earlier ones and with limits.

use std::fs;

use crate::{
    Test,
    process::{Ended, claims, file, json, qualify},
};

pub const TESTS: &[Test] = &[
    (
        "comparing::a_run_is_compared_with_an_earlier_one",
        a_run_is_compared_with_an_earlier_one,
    ),
    (
        "comparing::limits_decide_the_exit_code",
        limits_decide_the_exit_code,
    ),
    (
        "comparing::a_limit_of_an_unknown_claim_is_an_error",
        a_limit_of_an_unknown_claim_is_an_error,
    ),
];

fn good(arguments: &[&str]) -> Ended {
    qualify(&[&["--leave-system-alone", "--only", "t.good"], arguments].concat())
}

fn a_run_is_compared_with_an_earlier_one() {
    let [old, html] = ["old.json", "compared.html"].map(file);
    let output = good(&["--json", old.to_str().unwrap()]).output();
    let mut before = json(&old, &output);
    before["rows"][1]["p99_us"] = 9.5.into();
    before["claims"][0]["state"] = "does not hold".into();
    before["machine"]["kernel"] = "2.0.36".into();
    fs::write(&old, before.to_string()).unwrap();
    let ended = good(&[
        "--baseline",
        old.to_str().unwrap(),
        "--html",
        html.to_str().unwrap(),
    ]);
    let output = ended.output();
    for text in [
        "2.0.36",
        "t.good.p50",
        "✗ does not hold",
        "✓ holds",
        "threads=128",
        "p99_us",
        "-73.68",
    ] {
        assert!(ended.stdout.contains(text), "{text} is missing: {output}");
    }
    let page = fs::read_to_string(&html).unwrap();
    assert!(
        page.contains("What changed since") && page.contains("threads=128"),
        "{output}"
    );
    assert!(
        good(&["--baseline", "/nowhere/old.json"])
            .stderr
            .contains("/nowhere/old.json cannot be read")
    );
}

fn limits_decide_the_exit_code() {
    let [bounds, out] = ["bounds.toml", "bounds.json"].map(file);
    let limit = |at_most: &str| {
        let text =
            "[[limit]]\nbenchmark = \"t.good\"\nwhere = { threads = 2 }\ncolumn = \"p99_us\"\nat_most = ";
        fs::write(&bounds, format!("{text}{at_most}\n")).unwrap();
        good(&[
            "--bounds",
            bounds.to_str().unwrap(),
            "--json",
            out.to_str().unwrap(),
        ])
    };
    let (held, broken) = (limit("3"), limit("2"));
    assert!(
        [(0, 1), (3, 3)].contains(&(held.code, broken.code)),
        "{}\n{}",
        held.output(),
        broken.output()
    );
    let outcome = json(&out, &broken.output());
    assert_eq!(claims(&outcome)[1], "bounds.t.good[threads=2].p99_us.at-most");
    assert_eq!(outcome["claims"][1]["holds"], false);
}

fn a_limit_of_an_unknown_claim_is_an_error() {
    let bounds = file("wrong.toml");
    fs::write(&bounds, "\n[[limit]]\nclaim = \"t.good.p05\"\nat_most = 1\n").unwrap();
    let ended = good(&["--bounds", bounds.to_str().unwrap()]);
    assert_eq!(ended.code, 2, "{}", ended.output());
    let expected = ":2: limit[1].claim: unknown claim `t.good.p05`; did you mean `t.good.p50`?";
    assert!(ended.stderr.contains(expected), "{}", ended.output());
}
