//! `--explain-over` from end to end: what delays a call is named.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use punctual_fixtures::{Missing, skip, skip_part};
use punctual_harness::watchdog::above_all;
use punctual_os::{CpuSet, Granted, ThreadSpec, affinity};
use serde_json::{Value, json};

/// CPU of the traced process.
const ON_CPU: &str = "PUNCTUAL_TEST_ON_CPU";
const NO_RIGHTS: &str = "no real-time rights";

/// How long the hog keeps the CPU, how often, and what is slow: more than calls take by themselves, less than
/// that.
const BURST: Duration = Duration::from_millis(4);
const BURSTS: u32 = 8;
const OVER_US: f64 = 2000.0;

pub fn a_thread_that_keeps_the_cpu_from_a_call_is_named_with_its_priority() {
    let json = Path::new(env!("CARGO_TARGET_TMPDIR")).join("explain.json");
    let _ = fs::remove_file(&json);
    // What reads the trace stays away from that CPU, or below everything on it where there is no other.
    let cpu = affinity::current().iter().last().unwrap().to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args([
            "trace",
            "--seconds",
            "30",
            "--cpu",
            &cpu,
            "--buffer",
            "16384",
            "--records",
            "524288",
            "--explain-over",
        ])
        .arg(OVER_US.to_string())
        .arg("--json")
        .arg(&json)
        .arg("--")
        .arg(std::env::current_exe().unwrap())
        .args(["explain::what_is_traced", "--exact", "--nocapture"])
        .env(ON_CPU, cpu)
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if said.contains(NO_RIGHTS) {
        return skip(Missing::Right, NO_RIGHTS);
    }
    let outcome: Value = serde_json::from_str(&fs::read_to_string(&json).expect(&said)).unwrap();
    assert_eq!(outcome["parameters"]["ended"], "exit status: 0", "{said}");
    let rows: Vec<&Value> = outcome["rows"].as_array().unwrap().iter().collect();
    let of_kind = |kind: &str| {
        rows.iter()
            .copied()
            .filter(|row| row["kind"] == kind)
            .collect::<Vec<_>>()
    };
    let number = |row: &Value, name: &str| row[name].as_f64().unwrap();
    let head = of_kind("slow calls")[0];
    assert!(number(head, "traced_calls") > 100.0, "{head}");
    let calls = of_kind("slow call");
    assert!(
        calls.len() >= BURSTS as usize / 2,
        "the hog stood in the way of {BURSTS}: {said}"
    );
    // Where each call's time went is all of its time.
    for call in &calls {
        let spans = of_kind("span");
        let spans: Vec<_> = spans.iter().filter(|span| span["call"] == call["call"]).collect();
        let sum: f64 = spans.iter().map(|span| number(span, "length_us")).sum();
        assert!(
            (sum - number(call, "latency_us")).abs() < 0.01,
            "{call}: {spans:?}"
        );
        assert!(number(call, "latency_us") > OVER_US, "{call}");
        for span in spans {
            let kinds = [
                "work",
                "important",
                "inversion",
                "kernel",
                "sleep",
                "hole",
                "unknown",
            ];
            let parts: f64 = kinds.iter().map(|kind| number(span, &format!("{kind}_us"))).sum();
            assert!((parts - number(span, "length_us")).abs() < 0.01, "{span}");
        }
    }
    if head["kernel_traced"] == false {
        assert!(said.contains("only the flight recorder is used"), "{said}");
        return skip_part(Missing::Right, "the kernel is not traced");
    }
    let is_hog = |text: &Value| {
        text.as_str()
            .is_some_and(|text| text.contains("hog") && text.contains("rt 80"))
    };
    let delayed = calls.iter().filter(|call| is_hog(&call["mostly"])).count();
    assert!(delayed >= BURSTS as usize / 2, "{said}");
    let blamed = of_kind("blame")
        .into_iter()
        .find(|row| row["what"] == "hog had the CPU")
        .expect(&said);
    assert_eq!(
        (&blamed["lowest_level"], &blamed["highest_level"]),
        (&80.into(), &80.into())
    );
    assert_eq!(blamed["cause"], "behind equal or higher priority");
    for expected in [
        "Causes over all calls",
        "hog (thread ",
        "reply: decode",
        "were traced",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

pub fn benchmarks_without_single_latencies_refuse_at_once() {
    for (arguments, expected) in [
        (
            &["bench", "inversion", "--explain-over", "100"][..],
            "works with cubit and orb.latency",
        ),
        (
            &["bench", "cubit", "--explain-over", "soon"],
            "a number of microseconds",
        ),
        (
            &["trace", "--explain-over=-3", "--seconds", "1"],
            "a number of microseconds",
        ),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_punctual"))
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

/// A server, its client and a hog on one CPU, where the first test has it traced.
pub fn what_is_traced() {
    let Ok(cpu) = std::env::var(ON_CPU) else { return };
    let cpu = cpu.parse().unwrap();
    affinity::set_current(&CpuSet::single(cpu)).unwrap();
    let mut server = Role::start("__cubit-server");
    let ready = server.request(&json!({ "transport": "Tcp", "lane_wait": "Polled" }));
    let mut client = Role::start("__cubit-client");
    client.request(&json!({ "ior": ready["ior"], "raw_addresses": ready["raw"] }));
    // Above client and server, which have 50.
    let mut scheduling = above_all();
    scheduling.priority.0 = 80;
    let hog = ThreadSpec::new("hog").scheduling(scheduling).spawn(|| {
        for _ in 0..BURSTS {
            thread::sleep(Duration::from_millis(50));
            let until = Instant::now() + BURST;
            while Instant::now() < until {}
        }
    });
    let hog = hog.unwrap();
    if hog.granted() != Granted::RealTime {
        return println!("{NO_RIGHTS}");
    }
    let block =
        json!({ "operation": "Long", "kind": "Ours", "length": { "Seconds": 1 }, "with_latencies": false });
    client.request(&json!(["block", block]));
    hog.join().unwrap();
}

/// A process of ours in one of its roles.
struct Role {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Role {
    fn start(name: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_punctual"))
            .arg(name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self {
            process,
            input,
            output,
        }
    }

    /// Sends the setup or a request, and waits for the answer.
    fn request(&mut self, request: &Value) -> Value {
        writeln!(self.input, "{request}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let (word, value) = line.trim().split_once(' ').unwrap_or((line.trim(), "null"));
        assert!(["READY", "OK"].contains(&word), "{line}");
        serde_json::from_str(value).unwrap()
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
