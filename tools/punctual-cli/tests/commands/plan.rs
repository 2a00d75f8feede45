//! `punctual plan` from the command line: output, files and exit codes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::command::{Run, file, row, run};
use serde_json::Value;

const COMPLETE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../services/scheduling/radar.toml"
);

/// The Burns and Wellings set that misses a deadline by 2: periods 50, 40, 30 and times 12, 10, 10.
const LATE: &str = r#"
[[activity]]
name = "a"
priority = 1000
period = "50 ms"
step = [{ host = "localhost", wcet = "12 ms" }]
[[activity]]
name = "b"
priority = 10000
period = "40 ms"
step = [{ host = "localhost", wcet = "10 ms" }]
[[activity]]
name = "c"
priority = 20000
period = "30 ms"
step = [{ host = "localhost", wcet = "10 ms" }]
"#;

/// A slow activity with the higher priority.
const REVERSED: &str = r#"
hosts = ["client", "server"]
[[pool]]
name = "work"
host = "server"
lanes = [{ priority = 100, threads = 1 }, { priority = 30000, threads = 1 }]
[[activity]]
name = "urgent"
priority = 100
period = "10 ms"
step = [{ host = "client", wcet = "1 ms" }, { pool = "work", wcet = "2 ms" }]
[[activity]]
name = "slow"
priority = 30000
period = "100 ms"
step = [{ host = "client", wcet = "1 ms" }, { pool = "work", wcet = "20 ms" }]
"#;

fn plan(arguments: &[&Path]) -> Run {
    run([Path::new("plan")].iter().chain(arguments))
}

#[test]
fn a_feasible_schedule_shows_its_margins() {
    let run = plan(&[Path::new(COMPLETE)]);
    assert_eq!(run.code, 0, "{}{}", run.said, run.complained);
    // 0.1 jitter + 0.5 + 0.2 + 0.05 + 1.5 + 0.2 + 0.3, and 0.1 for the siren, which has the same priority.
    assert_eq!(
        row(&run.said, "track"),
        ["track", "32767", "99", "10", "8", "2.95", "5.05", "in", "time"]
    );
    assert_eq!(row(&run.said, "console")[..2], ["console", "28"]);
    assert!(
        run.said
            .contains("Not included (no period): `maintenance`; its priority 0 is below those of all others"),
        "{}",
        run.said
    );
    assert!(
        run.said
            .ends_with("Feasible: every deadline of an activity with a period is met.\n"),
        "{}",
        run.said
    );
}

#[test]
fn an_activity_without_a_period_above_others_qualifies_the_verdict() {
    let text = fs::read_to_string(COMPLETE).unwrap();
    let above = text.replace(
        "name = \"maintenance\"\npriority = 0",
        "name = \"maintenance\"\npriority = 20000",
    );
    assert_ne!(above, text);
    let run = plan(&[&file("above.toml", &above)]);
    assert_eq!(run.code, 0, "{}", run.complained);
    assert!(
        run.said.contains("it may delay them without bound"),
        "{}",
        run.said
    );
    assert!(
        run.said.contains("provided that these do not run: `maintenance`"),
        "{}",
        run.said
    );
    let without = file("only.toml", &LATE.replace("\"12 ms\"", "\"2 ms\""));
    let run = plan(&[&without]);
    assert!(
        run.said.ends_with("Feasible: every deadline is met.\n"),
        "{}",
        run.said
    );
}

#[test]
fn an_infeasible_schedule_names_the_late_activity_and_ends_with_1() {
    let input = file("late.toml", LATE);
    let output = file("late-lanes.toml", "");
    fs::remove_file(&output).unwrap();
    let run = plan(&[&input, Path::new("--lanes"), &output]);
    assert_eq!(run.code, 1, "{}", run.complained);
    assert_eq!(
        row(&run.said, "a"),
        ["a", "1000", "3", "50", "50", "52", "-2", "late"][..].to_vec()
    );
    assert!(
        run.said.contains("Not feasible: `a` can be 2 ms late."),
        "{}",
        run.said
    );
    assert!(
        run.said.contains("No lanes and priorities were found"),
        "{}",
        run.said
    );
    // The bounds apply: 0.82 is above the one for three, and its product above 2.
    assert_eq!(
        row(&run.said, "localhost"),
        ["localhost", "82.33", "77.98", "2.067"]
    );
    assert!(
        !output.exists() && run.complained.contains("was not written"),
        "{}",
        run.complained
    );
}

#[test]
fn the_proposed_schedule_is_written_and_feasible() {
    let commented = REVERSED
        .replace(
            "period = \"10 ms\"",
            "# As the sensor delivers.\nperiod = \"10 ms\" # measured",
        )
        .replace("name = \"work\"", "name = \"work\" # of the server");
    let input = file("reversed.toml", &commented);
    let (lanes, json) = (file("reversed-lanes.toml", ""), file("reversed.json", ""));
    let run = plan(&[&input, Path::new("--lanes"), &lanes, Path::new("--json"), &json]);
    assert_eq!(
        run.code, 1,
        "the file given is not: {}{}",
        run.said, run.complained
    );
    assert!(
        run.said.contains("These changes make it feasible:\n  - "),
        "{}",
        run.said
    );
    let written = fs::read_to_string(&lanes).unwrap();
    assert!(written.contains("# Changed: "), "{written}");
    for comment in [
        "# As the sensor delivers.\n",
        "\"10 ms\" # measured\n",
        "\"work\" # of the server\n",
    ] {
        assert!(written.contains(comment), "{written}");
    }
    let again = plan(&[&lanes]);
    assert_eq!(again.code, 0, "{}{}", again.said, again.complained);
    let itself = plan(&[&input, Path::new("--lanes"), &input]);
    assert_eq!(itself.code, 2, "{}{}", itself.said, itself.complained);
    assert!(
        itself
            .complained
            .contains("it is the file that is read; give another one"),
        "{}",
        itself.complained
    );
    assert_eq!(fs::read_to_string(&input).unwrap(), commented);

    let json: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(
        (json["schema"].as_u64(), json["benchmark"].as_str()),
        (Some(1), Some("plan"))
    );
    let rows = json["rows"].as_array().unwrap();
    let of_kind = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).count();
    assert_eq!((of_kind("activity"), of_kind("step"), of_kind("host")), (2, 4, 2));
    assert!(of_kind("change") >= 1);
    let claim = |id: &str| {
        let claims = json["claims"].as_array().unwrap();
        claims
            .iter()
            .find(|claim| claim["id"] == id)
            .unwrap_or_else(|| panic!("no claim {id}"))["holds"]
            .clone()
    };
    assert_eq!(claim("deadline.urgent"), false);
    assert_eq!(claim("deadline.slow"), true);
    assert_eq!(claim("refusals"), true);
}

#[test]
fn an_overloaded_host_is_named() {
    let input = file("overloaded.toml", &LATE.replace("\"12 ms\"", "\"40 ms\""));
    let run = plan(&[&input]);
    assert_eq!(run.code, 1);
    assert!(
        run.said.contains("host `localhost` needs 138 % of its CPU"),
        "{}",
        run.said
    );
    assert!(run.said.contains("`a` can be late without bound"), "{}", run.said);
}

#[test]
fn the_first_of_many_reasons_are_shown() {
    let activity = |number: u32| {
        format!(
            "[[activity]]\nname = \"a{number}\"\npriority = 5\nperiod = \"10 ms\"\n\
             step = [{{ host = \"localhost\", wcet = \"9 ms\" }}]\n"
        )
    };
    let text: String = (0..10).map(activity).collect();
    let run = plan(&[&file("many.toml", &text)]);
    assert_eq!(run.code, 1);
    // The host and ten activities.
    assert!(run.said.contains("; and 6 more."), "{}", run.said);
}

#[test]
fn a_call_without_a_lane_is_named() {
    let input = file(
        "no-lane.toml",
        &REVERSED.replace("{ priority = 100, threads = 1 }, ", ""),
    );
    let run = plan(&[&input]);
    assert_eq!(run.code, 1);
    assert!(
        run.said
            .contains("`urgent` calls pool `work` at priority 100, and no lane"),
        "{}",
        run.said
    );
    assert_eq!(row(&run.said, "urgent").last(), Some(&"refused"));
    assert_eq!(row(&run.said, "slow")[6..], ["79", "in", "time"]);
}

#[test]
fn summary_and_table_have_one_unit() {
    let input = file("late-unit.toml", &LATE.replace("\"12 ms\"", "\"12.75 ms\""));
    let run = plan(&[&input]);
    assert!(run.said.contains("`a` can be 2.75 ms late"), "{}", run.said);
    assert!(!run.said.contains(" us"), "{}", run.said);
}

#[test]
fn a_dash_and_its_reason_stand_for_bounds_that_do_not_apply() {
    let run = plan(&[&file("no-bounds.toml", REVERSED)]);
    assert_eq!(row(&run.said, "client")[2..], ["–", "–"], "{}", run.said);
    assert!(
        run.said.contains(
            "– These bounds do not apply. `client`: `urgent` has several steps; `server`: `urgent` has several \
             steps.\n"
        ),
        "{}",
        run.said
    );
    for (change, reason) in [
        (
            "period = \"50 ms\"\ndeadline = \"40 ms\"",
            "`a` has a deadline other than its period",
        ),
        ("period = \"50 ms\"\njitter = \"1 ms\"", "`a` has jitter or delay"),
        ("period = \"5 ms\"", "priorities do not follow the periods"),
    ] {
        let run = plan(&[&file(
            "no-bound.toml",
            &LATE.replace("period = \"50 ms\"", change),
        )]);
        assert!(
            run.said.contains(&format!("`localhost`: {reason}.")),
            "{reason}: {}",
            run.said
        );
    }
    let run = plan(&[&file("bounds.toml", LATE)]);
    assert!(!run.said.contains('–'), "{}", run.said);
}

#[test]
fn an_invalid_file_ends_with_2_and_names_the_line() {
    let broken = file("broken.toml", &LATE.replace("\"40 ms\"", "\"40\""));
    for (input, says) in [
        (
            broken,
            "broken.toml:10:10: activity[2].period: invalid time span `40`",
        ),
        (PathBuf::from("nowhere.toml"), "cannot read nowhere.toml"),
        (file("empty.toml", ""), "nothing to plan"),
    ] {
        let run = plan(&[&input]);
        assert_eq!(run.code, 2, "{}", run.said);
        assert!(
            run.complained.starts_with("error: ") && run.complained.contains(says),
            "{}",
            run.complained
        );
    }
    let input = file("late2.toml", LATE);
    let nowhere = Path::new("no/such/folder/x.json");
    assert_eq!(plan(&[&input, Path::new("--json"), nowhere]).code, 2);
}

#[test]
fn settings_of_a_server_alone_are_checked() {
    let server = file(
        "server.toml",
        "[[orb]]\nlisten = ['iiop://localhost']\n[[pool]]\nname = 'p'\n",
    );
    let run = plan(&[&server]);
    assert_eq!(run.code, 0, "{}", run.complained);
    assert!(
        run.said
            .contains("server.toml is valid: 1 ORB, 1 pool, 0 adapters"),
        "{}",
        run.said
    );
    let run = plan(&[&server, Path::new("--explain"), Path::new("all")]);
    assert_eq!(run.code, 2);
    assert!(run.complained.contains("nothing to plan"), "{}", run.complained);
}

/// Runs the examples of docs/planning.md: files, commands, and lines of their output.
#[test]
fn the_guide_says_what_the_command_does() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/planning.md");
    let guide = fs::read_to_string(guide).unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let normal = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut said, mut compared) = (String::new(), 0);
    for block in guide.split("\n```").skip(1).step_by(2) {
        let (kind, text) = block.split_once('\n').unwrap();
        match kind {
            "toml" => {
                let name = text.lines().next().unwrap().trim_start_matches("# ");
                fs::write(folder.join(name), text).unwrap();
            }
            "sh" => {
                said.clear();
                for line in text.lines() {
                    let words = line.split_whitespace().skip(1).map(|word| {
                        let is_file = Path::new(word).extension().is_some();
                        if is_file {
                            folder.join(word).into_os_string()
                        } else {
                            word.into()
                        }
                    });
                    let run = run(words);
                    assert!(run.code < 2, "{line}: {}", run.complained);
                    said += &run.said;
                }
            }
            "text" => {
                let said: Vec<String> = said
                    .replace(&format!("{}/", folder.display()), "")
                    .lines()
                    .map(normal)
                    .collect();
                for line in text.lines() {
                    assert!(said.contains(&normal(line)), "`{line}` is not in {said:#?}");
                    compared += 1;
                }
            }
            _ => panic!("unexpected block `{kind}`"),
        }
    }
    assert!(compared >= 12, "{compared} lines");
}

#[test]
fn everything_is_explained_to_machines() {
    let output = file("late.json", "");
    let run = plan(&[&file("late-explained.toml", LATE), Path::new("--json"), &output]);
    assert_eq!(run.code, 1, "{}", run.complained);
    let json: Value = serde_json::from_str(&fs::read_to_string(&output).unwrap()).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let of = |kind: &'static str| {
        rows.iter()
            .filter(move |row| row["kind"] == kind && row["activity"] == "a")
    };
    let times: f64 = of("cause").map(|row| row["time_ms"].as_f64().unwrap()).sum();
    assert_eq!(times, 52.0, "{rows:?}");
    let growth = of("growth").next().unwrap();
    assert!(growth["may_grow_percent"].as_f64().unwrap() < 0.0, "{growth}");
}

/// The execution time of an hour would have to shrink to less than 0.1 %: the search ends at 0.
#[test]
fn execution_times_that_cannot_fit_are_described() {
    let lanes = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/02-lanes/lanes.toml");
    let system = fs::read_to_string(lanes).unwrap();
    let system = system.replace("wcet = \"1 s\"", "wcet = \"3600 s\"");
    let run = plan(&[&file("hour.toml", &system)]);
    assert_eq!(run.code, 1, "{}", run.complained);
    let text = run.said.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "all less than 0.1 % of the stated ones";
    assert!(text.contains(expected), "{text}");
    assert!(!text.contains("-100.0 %"), "{text}");
}

#[test]
fn a_dash_is_standard_output() {
    for option in ["--json", "--export"] {
        let run = plan(&[Path::new(COMPLETE), Path::new(option), Path::new("-")]);
        assert_eq!(run.code, 0, "{}", run.complained);
        let is_whole = match option {
            "--json" => serde_json::from_str::<Value>(&run.said).is_ok(),
            _ => run.said.contains("[[task]]") && !run.said.contains("response (ms)"),
        };
        assert!(is_whole, "{option}: {}", run.said);
        assert!(run.complained.contains("response (ms)"), "{}", run.complained);
    }
    assert!(!Path::new("-").exists());
}

#[test]
fn files_are_checked_before_the_plan() {
    for option in ["--json", "--lanes", "--export"] {
        let run = plan(&[Path::new(COMPLETE), Path::new(option), Path::new("/nowhere/x")]);
        assert_eq!(run.code, 2);
        assert_eq!(run.said, "", "{option}");
        assert!(
            run.complained.starts_with("error: cannot write /nowhere/x: "),
            "{}",
            run.complained
        );
    }
}
