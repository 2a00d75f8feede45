//! `punctual trace` from end to end, with the rights that the user has.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use punctual_fixtures::{Missing, skip_error, skip_part};
use punctual_system::tracefs::Tracefs;
use serde_json::Value;

fn trace(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_punctual"))
        .arg("trace")
        .args(arguments)
        .output()
        .unwrap()
}

pub fn what_is_written_agrees_with_the_exit_code() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (json, timeline) = (folder.join("trace.json"), folder.join("trace-timeline.json"));
    for file in [&json, &timeline] {
        let _ = fs::remove_file(file);
    }
    let (json_text, timeline_text) = (json.to_str().unwrap(), timeline.to_str().unwrap());
    let output = trace(&[
        "--json",
        json_text,
        "--perfetto",
        timeline_text,
        "--",
        "sleep",
        "0.1",
    ]);
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let outcome: Value = serde_json::from_str(&fs::read_to_string(&json).expect(&said)).unwrap();
    assert_eq!(
        (&outcome["schema"], &outcome["benchmark"]),
        (&1.into(), &"trace".into())
    );
    assert_eq!(outcome["parameters"]["ended"], "exit status: 0");
    let recorded = &outcome["rows"][0];
    assert_eq!(recorded["kind"], "recorded");
    let without_kernel = said.contains("only the flight recorder is used");
    assert_eq!(recorded["kernel_events"] == 0, without_kernel, "{said}");
    let longest = &outcome["claims"][0];
    // `sleep` makes no calls: without the kernel's events, there is nothing to judge.
    assert_eq!(longest.is_null(), without_kernel, "{said}");
    let code = output.status.code().unwrap();
    match code {
        0 | 1 => assert_eq!(longest["holds"], code == 0, "{said}"),
        2 if without_kernel => assert!(said.contains("NOT JUDGED: no claim was tested"), "{said}"),
        2 => assert!(said.contains("were lost"), "{said}"),
        3 => assert!(said.contains("NOT REAL-TIME"), "{said}"),
        other => panic!("exit code {other}: {said}"),
    }
    let timeline: Value = serde_json::from_str(&fs::read_to_string(&timeline).unwrap()).unwrap();
    assert!(timeline["traceEvents"].is_array());
}

pub fn a_command_that_fails_is_named() {
    let output = trace(&["--", "false"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("trace: COULD NOT RUN: `false` has failed (exit status: 1)"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(2), "{said}");
}

pub fn calls_of_an_orb_are_recorded_on_both_sides() {
    let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace-demo.json");
    let _ = fs::remove_file(&json);
    let demo = [
        env!("CARGO_BIN_EXE_punctual"),
        "demo",
        "--quick",
        "--seconds",
        "3",
        "--leave-system-alone",
        "--html",
    ];
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace-demo.html");
    let until = Instant::now() + Duration::from_secs(180);
    loop {
        let arguments = [
            &["--explain-over", "1", "--json", json.to_str().unwrap(), "--"][..],
            &demo,
            &[page.to_str().unwrap()],
        ]
        .concat();
        let output = trace(&arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // Two measurements would disturb each other, so that the second one refuses.
        if said.contains("another measurement") && Instant::now() < until {
            thread::sleep(Duration::from_secs(2));
            continue;
        }
        let outcome: Value = serde_json::from_str(&fs::read_to_string(&json).expect(&said)).unwrap();
        let recorded = &outcome["rows"][0];
        let number = |name: &str| recorded[name].as_u64().unwrap();
        assert!(number("calls") > 0, "{recorded}");
        assert!(
            number("calls_with_both_sides") * 100 >= number("calls") * 99,
            "{recorded}"
        );
        let rows = outcome["rows"].as_array().unwrap();
        let of_kind = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).collect::<Vec<_>>();
        let calls = of_kind("slow call");
        assert!(!calls.is_empty(), "{outcome}");
        for call in calls {
            assert_eq!(call["operation"], "method", "operations have names: {call}");
        }
        // Waits of the command only, not of the rest of the machine.
        for wait in of_kind("interval") {
            let waiter = wait["waited"].as_str().unwrap();
            assert!(
                !waiter.starts_with("kworker") && !waiter.starts_with("ksoftirqd"),
                "{wait}"
            );
        }
        return;
    }
}

pub fn a_server_that_is_not_recorded_is_named() {
    let program = env!("CARGO_BIN_EXE_punctual");
    let mut server = Command::new(program)
        .args(["naming", "serve", "--listen", "iiop://localhost:0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    let mut lines = BufReader::new(server.stdout.take().unwrap());
    lines.read_line(&mut address).unwrap();
    let output = trace(&["--", program, "naming", "list", "--at", address.trim()]);
    server.kill().unwrap();
    server.wait().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("Not measured: servers' sides of calls: ")
            && said.contains("start client and server by one"),
        "{said}"
    );
}

pub fn wrong_command_lines_say_what_is_missing() {
    for (arguments, expected) in [
        (&[][..], "a time to trace"),
        (&["--", "/no/such/program"], "/no/such/program"),
        (&["--seconds", "0"], "--seconds"),
        (&["--seconds", "1", "--cpu", "4096"], "has no such CPU"),
        // Above the largest id of a process.
        (
            &["--seconds", "1", "--pid", "4194305"],
            "there is no process 4194305",
        ),
        (
            &["--seconds", "1", "--json", "x", "--perfetto", "x"],
            "it is given twice",
        ),
    ] {
        let output = trace(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

pub fn a_killed_trace_leaves_neither_instance_nor_command() {
    let tracefs = match Tracefs::open() {
        Ok(tracefs) => tracefs,
        Err(error) => return skip_error(&error),
    };
    let mut process = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args([
            "trace",
            "--seconds",
            "60",
            "--",
            "sh",
            "-c",
            "echo $$; exec sleep 60",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut command = String::new();
    BufReader::new(process.stdout.take().unwrap())
        .read_line(&mut command)
        .unwrap();
    let instance = tracefs
        .root()
        .join(format!("instances/punctual-{}", process.id()));
    let traced = instance.exists();
    process.kill().unwrap();
    process.wait().unwrap();
    if !traced {
        return skip_part(Missing::Right, "the kernel is not traced");
    }
    let until = Instant::now() + Duration::from_secs(10);
    let command = format!("/proc/{}", command.trim());
    while instance.exists() || Path::new(&command).exists() {
        assert!(
            Instant::now() < until,
            "the instance or the command is still there"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

/// Also those whose parents have ended, and those that ignore SIGTERM.
pub fn processes_of_the_command_end_with_the_time() {
    let [first, second, third] = [61, 62, 63].map(sleep);
    // Their outputs are not ours, which would end only with the last of them.
    let shell = format!("exec > /dev/null 2>&1; {first} & ({second} &) & trap '' TERM; {third}");
    let output = trace(&["--seconds", "1", "--", "sh", "-c", &shell]);
    let said = String::from_utf8_lossy(&output.stderr);
    for command in [first, second, third] {
        assert!(!runs(&command), "{command} still runs\n{said}");
    }
}

/// A command that no other run of these tests starts.
fn sleep(seconds: u32) -> String {
    format!("sleep {seconds}.{}", std::process::id())
}

fn runs(command: &str) -> bool {
    let expected = format!("{}\0", command.replace(' ', "\0"));
    let processes = fs::read_dir("/proc").unwrap();
    processes
        .flatten()
        .any(|process| fs::read_to_string(process.path().join("cmdline")).is_ok_and(|line| line == expected))
}

pub fn processes_that_the_command_leaves_behind_are_ended() {
    let command = sleep(64);
    let shell = format!("exec > /dev/null 2>&1; {command} & true");
    let output = trace(&["--seconds", "60", "--json", "-", "--", "sh", "-c", &shell]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        printed.contains("1 processes that it left behind were ended"),
        "{printed}"
    );
    assert!(!runs(&command), "{printed}");
}
