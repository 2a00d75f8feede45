//! The main job from end to end, short: what is written is what the contract for machine reading says.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use crate::measurement::measure;
use serde_json::Value;

pub fn demo_runs_and_writes_what_other_tools_read() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (json, html) = (folder.join("demo.json"), folder.join("demo.html"));
    // Of an earlier run.
    for file in [&json, &html] {
        let _ = fs::remove_file(file);
    }
    let figures = folder.join("demo-figures");
    let _ = fs::remove_dir_all(&figures);
    let arguments = ["demo", "--seconds", "3", "--figures", figures.to_str().unwrap()];
    let output = measure(&arguments, &json, &html);
    let said = String::from_utf8_lossy(&output.stdout);
    let said = format!("{said}{}", String::from_utf8_lossy(&output.stderr));
    let code = output.status.code().expect("it ends by itself");
    // At the beginning, and beside the verdict.
    let warnings = if cfg!(debug_assertions) { 2 } else { 0 };
    assert_eq!(
        said.matches("built without optimisation").count(),
        warnings,
        "{said}"
    );

    let outcome: Value = serde_json::from_str(&fs::read_to_string(&json).expect(&said)).unwrap();
    assert_eq!(outcome["schema"], 1);
    assert_eq!(outcome["benchmark"], "demo");
    check_rows(outcome["rows"].as_array().unwrap());
    check_exit_code(&outcome, code, &said);

    let page = fs::read_to_string(&html).unwrap();
    assert!(page.contains("<svg"), "the page shows no figure");
    let files: Vec<_> = fs::read_dir(&figures)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert_eq!(files.len(), page.matches("<svg").count());
    for file in files {
        assert!(fs::read_to_string(&file).unwrap().starts_with("<svg"), "{file:?}");
    }
    for outside in ["<script src", "<link", "<img", "@import", "url(http"] {
        assert!(
            !page.contains(outside),
            "the page needs more than itself: {outside}"
        );
    }
}

/// Both pools, each work, each client; how well they did is not judged here, for so short a run says nothing
/// of it.
fn check_rows(rows: &[Value]) {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let combinations: BTreeSet<_> = rows
        .iter()
        .map(|row| {
            (
                text(row, "pool"),
                row["work"].as_u64().unwrap(),
                text(row, "priority"),
            )
        })
        .collect();
    let mut expected = BTreeSet::new();
    for pool in ["pool without lanes", "lanes"] {
        for work in [30, 50, 55] {
            for priority in ["high", "medium", "low"] {
                expected.insert((pool.to_owned(), work, priority.to_owned()));
            }
        }
    }
    assert_eq!(combinations, expected);
    assert_eq!(rows.len(), expected.len());
    for row in rows {
        let made = row["deadlines_made_percent"].as_f64().unwrap();
        assert!((0.0..=100.0).contains(&made), "{row}");
        for number in ["asked_hz", "achieved_hz", "deadlines_lost_to_kernel_percent"] {
            assert!(row[number].as_f64().is_some_and(|value| value >= 0.0), "{row}");
        }
    }
}

/// 2 goes with a reason, 3 with missing rights, 1 with a claim that does not hold.
fn check_exit_code(outcome: &Value, code: i32, said: &str) {
    let claims = outcome["claims"].as_array().unwrap();
    for claim in claims {
        for field in ["id", "text", "source", "measured", "limit", "holds"] {
            assert!(!claim[field].is_null(), "{field} is missing in {claim}");
        }
    }
    let all_hold = claims.iter().all(|claim| claim["holds"] == true);
    match code {
        0 => assert!(all_hold && !claims.is_empty(), "{said}"),
        1 => assert!(!all_hold, "{said}"),
        2 => assert!(!outcome["skipped"].as_array().unwrap().is_empty(), "{said}"),
        3 => assert!(said.contains("real-time"), "{said}"),
        other => panic!("exit code {other}: {said}"),
    }
}

pub fn impossible_length_is_a_wrong_command_line() {
    let output = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args(["demo", "--seconds", "0"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}
