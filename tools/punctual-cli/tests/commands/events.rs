//! `punctual events`: a channel, and its clients, in processes of their own.

pub mod gateway;
mod schedules;
mod zenoh;

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use punctual::{Orb, Priority};
use punctual_events::EventChannel;
use punctual_fixtures::{Folder, client_propagated, programs::interruptible};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::command::{Run, run};

#[test]
fn what_is_sent_is_shown_and_counted() {
    let channel = Channel::start(&["--lane", "0", "--overflow", "block:1000"]);
    let filtered = Tail::start(
        &channel,
        &["--type", "17", "--source", "7", "--count", "2", "--json"],
    );
    let all = Tail::start(&channel, &["--count", "5"]);
    assert_eq!(
        channel
            .send(&["--type", "16", "--source", "7", "--hex", "1b5b"])
            .code,
        0
    );
    let sent = channel.send(&[
        "--type", "17", "--source", "7", "--text", "hot", "--count", "3", "--rate", "200",
    ]);
    assert!(
        sent.code == 0 && sent.said.starts_with("Sent 3 events of 3 octets"),
        "{}",
        sent.said
    );
    assert_eq!(
        channel
            .send(&["--type", "17", "--source", "8", "--file", "/dev/null"])
            .code,
        0
    );

    let (code, shown) = all.wait();
    assert_eq!((code, shown.lines().count()), (0, 5), "{shown}");
    assert!(
        shown.contains("1b5b") && shown.contains("\"hot\"") && !shown.contains('\x1b'),
        "{shown}"
    );
    let (code, shown) = filtered.wait();
    assert_eq!(code, 0);
    for line in shown.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!(
            (&event["type"], &event["source"], &event["text"]),
            (&17.into(), &7.into(), &"hot".into())
        );
        assert!(event["sent_us"].as_u64() >= event["received_us"].as_u64());
        assert!(event["received_us"].as_u64() >= event["created_us"].as_u64());
    }
    assert_eq!(shown.lines().count(), 2);
    let object = channel.top_json();
    assert_eq!(
        (&object["received"], &object["unmatched"]),
        (&5.into(), &0.into())
    );
    let suppliers = object["suppliers"].as_array().unwrap();
    assert!(
        suppliers.iter().all(|one| one["is_connected"] == false),
        "{suppliers:?}"
    );
    let pushed = suppliers.iter().map(|one| one["pushed"].as_u64().unwrap());
    assert_eq!(pushed.sum::<u64>(), 5);
    assert_eq!(channel.end(), 0);
}

#[test]
fn top_shows_each_consumer_with_its_queue_and_losses() {
    let channel = Channel::start(&[
        "--queue", "4", "--name", "Plant", "--lane", "0", "--lane", "20000",
    ]);
    let tail = Tail::start(&channel, &["--priority", "20000"]);
    let sent = channel.send(&["--type", "16", "--count", "8", "--name", "sensor"]);
    assert_eq!(sent.code, 0, "{}", sent.complained);
    let shown = run(["events", "top", &channel.address, "--once", "--interval", "0.1"]);
    assert_eq!(shown.code, 0, "{}", shown.complained);
    assert!(shown.said.starts_with("Channel Plant, up 0:0"), "{}", shown.said);
    assert!(shown.said.contains("Received 8 events"), "{}", shown.said);
    let supplier = "Supplier 1 sensor at localhost, gone: 8 pushed (0 per second), 0 unmatched, 0 refused, ";
    assert!(shown.said.contains(supplier), "{}", shown.said);
    let object = channel.top_json();
    let consumer = &object["consumers"][0];
    assert_eq!(
        (&consumer["priority"], &consumer["capacity"]),
        (&20_000.into(), &4.into())
    );
    assert_eq!(tail.interrupt(), 0);
    let refused = run(["events", "top", "IOR:00"]);
    assert_eq!(refused.code, 2);
    assert!(refused.complained.contains("corbaloc:"), "{}", refused.complained);
}

#[test]
fn payloads_are_decoded_by_types_from_idl() {
    let folder = Folder::new("payloads");
    let idl = folder.join("radar.idl");
    std::fs::write(
        &idl,
        "module Radar { struct Track { long number; double altitude; }; struct Alarm { string text; }; };",
    )
    .unwrap();
    let idl = idl.to_str().unwrap();
    let channel = Channel::start(&["--overflow", "block:1000"]);
    let decoding = |extra: &[&str]| {
        let arguments = [
            "--idl",
            idl,
            "--payload",
            "16=Radar::Track",
            "--payload",
            "17=Alarm",
        ];
        Tail::start(&channel, &[&arguments[..], &["--count", "3"], extra].concat())
    };
    let (lines, objects) = (decoding(&[]), decoding(&["--json"]));
    // Byte order, padding, 3, 2.5; a text of 4 octets; a string that is longer than the payload.
    let track = "01000000030000000000000000000440";
    for (number, payload) in [
        ("16", track),
        ("17", "0100000004000000686f7400"),
        ("17", "01000000ff000000"),
    ] {
        assert_eq!(channel.send(&["--type", number, "--hex", payload]).code, 0);
    }
    let (code, shown) = lines.wait();
    let values: Vec<_> = shown
        .lines()
        .map(|line| line.split("octets  ").nth(1).unwrap())
        .collect();
    assert_eq!(code, 0);
    assert_eq!(
        values[..2],
        ["{\"number\": 3, \"altitude\": 2.5}", "{\"text\": \"hot\"}"]
    );
    assert!(values[2].starts_with("01000000ff000000: "), "{}", values[2]);
    let (_, shown) = objects.wait();
    let values: Vec<Value> = shown
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["value"].clone())
        .collect();
    assert_eq!(values[0], json!({"number": 3, "altitude": 2.5}));
    assert_eq!(values[1..], [json!({"text": "hot"}), Value::Null]);

    for (arguments, expected) in [
        (&["--idl", idl, "--payload", "Trakc"][..], "did you mean `Track`?"),
        (
            &["--idl", idl, "--payload", "Radar::Trakc"],
            "did you mean `Radar::Track`?",
        ),
        (
            &["--idl", idl, "--payload", "Weather"],
            "it has Radar::Track, Radar::Alarm",
        ),
        (&["--payload", "Radar::Track"], "--idl"),
        (&["--idl", idl], "without --payload"),
    ] {
        let refused = run([&["events", "tail", &channel.address][..], arguments].concat());
        assert_eq!(refused.code, 2, "{arguments:?}");
        let complained = refused.complained.replace('\n', " ");
        assert!(complained.contains(expected), "{complained}");
    }
}

/// A channel of a program that has no lanes for it, and publishes no counters.
#[test]
fn channels_of_other_programs_are_explained() {
    let orb = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
    let channel = EventChannel::builder().build().unwrap();
    let served = channel.serve(&orb, &orb.root_poa()).unwrap();
    let address = orb.publish("Plain", served.reference()).unwrap();
    let runs = orb.clone();
    let runs = std::thread::spawn(move || runs.run());
    let sent = run(["events", "send", &address, "--type", "16", "--priority", "1234"]);
    assert_eq!(sent.code, 0, "{}", sent.complained);
    assert!(
        sent.complained.contains("--priority has no effect"),
        "{}",
        sent.complained
    );
    let sent = run(["events", "send", &address, "--type", "16"]);
    assert!(!sent.complained.contains("note:"), "{}", sent.complained);
    let top = run(["events", "top", &address, "--once"]);
    assert_eq!(top.code, 2);
    assert!(top.complained.contains("serve_inspection"), "{}", top.complained);
    let missing = run(["events", "top", &address.replace("Plain", "Other"), "--once"]);
    assert!(
        missing.complained.contains("has no channel of this name"),
        "{}",
        missing.complained
    );
    orb.shutdown();
    runs.join().unwrap();
}

/// The object has lanes, none of them for priority 0: the interface is queried at the adapter's priority.
#[test]
fn an_object_that_is_no_channel_is_named_as_such() {
    let orb = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
    let pool = orb.threadpool().lane(Priority::MAX, 1).build().unwrap();
    let model = client_propagated(Priority::MAX);
    let poa = orb
        .root_poa()
        .child("other")
        .threadpool(&pool)
        .priority_model(model);
    let poa = poa.build().unwrap();
    let channel = EventChannel::builder().build().unwrap();
    let other = channel.serve_inspection(&poa).unwrap();
    let address = orb.publish("Other", &other).unwrap();
    let runs = orb.clone();
    let runs = std::thread::spawn(move || runs.run());
    for command in [&["tail", &address][..], &["send", &address, "--type", "16"]] {
        let refused = run([&["events"], command].concat());
        assert_eq!(refused.code, 2, "{}", refused.complained);
        let complained = refused.complained.replace('\n', " ");
        let expected =
            "is not an event channel: it does not support IDL:RtecEventChannelAdmin/EventChannel:1.0";
        assert!(complained.contains(expected), "{complained}");
    }
    orb.shutdown();
    runs.join().unwrap();
}

#[test]
fn clients_end_with_1_when_the_channel_does() {
    let channel = Channel::start(&[]);
    let tail = Tail::start(&channel, &[]);
    let fewer = run(["events", "tail", &channel.address, "--count", "1", "--for", "0.2"]);
    assert_eq!(fewer.code, 1);
    assert!(
        fewer.complained.contains("only 0 of 1 events came"),
        "{}",
        fewer.complained
    );
    let silent = run(["events", "tail", &channel.address, "--for", "0.2"]);
    assert_eq!((silent.code, &*silent.said), (0, ""));
    let sender = command(&[
        "send",
        &channel.address,
        "--type",
        "16",
        "--count",
        "0",
        "--rate",
        "50",
    ])
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    let supplied = || channel.top_json()["received"].as_u64() > Some(0);
    punctual_fixtures::eventually("events", supplied);
    assert_eq!(channel.end(), 0);
    assert_eq!(tail.wait().0, 1);
    let sent = sender.wait_with_output().unwrap();
    assert_eq!(sent.status.code(), Some(1));
    let complaint = String::from_utf8_lossy(&sent.stderr);
    assert!(complaint.contains("is gone"), "{complaint}");
}

#[test]
fn a_schedule_that_changes_while_events_are_under_way_loses_none() {
    let folder = Folder::new("schedule");
    let file = folder.join("operations.toml");
    let write = |periods: [u32; 2]| {
        let operation = |(name, period): (&str, u32)| {
            format!(
                "[[operation]]\nname = \"{name}\"\nrates = [{{ period = \"{period} ms\", wcet = \"1 ms\" }}]\n"
            )
        };
        let operations: String = ["radar", "display"]
            .into_iter()
            .zip(periods)
            .map(operation)
            .collect();
        std::fs::write(&file, format!("strategy = \"RMS\"\n{operations}")).unwrap();
    };
    write([10, 100]);
    let path = file.to_str().unwrap();
    let mut channel = Channel::start(&[
        "--overflow",
        "block:10000",
        "--schedule",
        path,
        "--lane",
        "0",
        "--lane",
        "20000",
    ]);
    let priorities = |channel: &Channel| {
        let object = channel.top_json();
        ["radar", "display"].map(|name| {
            let consumers = object["consumers"].as_array().unwrap();
            let found = consumers.iter().find(|one| one["name"] == name);
            found.map(|one| one["priority"].as_i64().unwrap())
        })
    };
    let tails = ["radar", "display"].map(|name| {
        let tail = Tail::start(&channel, &["--name", name, "--count", "2401"]);
        std::thread::spawn(|| tail.wait())
    });
    punctual_fixtures::eventually("both have their names", || {
        priorities(&channel) == [Some(20_000), Some(19_999)]
    });
    for round in 0..6 {
        let (periods, expected) = match round % 2 {
            0 => ([100, 10], [Some(19_999), Some(20_000)]),
            _ => ([10, 100], [Some(20_000), Some(19_999)]),
        };
        let address = channel.address.clone();
        let sender = std::thread::spawn(move || {
            run([
                "events", "send", &address, "--type", "16", "--count", "400", "--rate", "1000",
            ])
        });
        write(periods);
        channel.signal(Signal::HUP);
        punctual_fixtures::eventually("the new priorities", || priorities(&channel) == expected);
        assert_eq!(sender.join().unwrap().code, 0);
    }
    std::fs::write(&file, "strategy = \"RMS").unwrap();
    channel.signal(Signal::HUP);
    let complaint = channel.complaint();
    assert!(complaint.contains("operations.toml"), "{complaint}");
    assert_eq!(priorities(&channel), [Some(20_000), Some(19_999)]);
    assert_eq!(channel.send(&["--type", "16"]).code, 0);
    for tail in tails {
        let (code, shown) = tail.join().unwrap();
        assert_eq!((code, shown.lines().count()), (0, 2_401));
    }
    assert_eq!(channel.top_json()["lost"], 0);
    assert_eq!(channel.end(), 0);
}

/// Cycles, more than the processor has and contradictions at SIGHUP, as both viewers show them.
#[test]
fn refused_schedules_of_a_served_channel_are_shown() {
    let folder = Folder::new("refused");
    let file = folder.join("operations.toml");
    // Socket paths have at most 107 octets.
    let socket = std::env::temp_dir().join(format!("punctual-events-{}.inspect", std::process::id()));
    let socket = socket.to_str().unwrap();
    let critical = |name: &str, rest: &str| {
        format!("[[operation]]\nname = \"{name}\"\ncriticality = \"very-high\"\n{rest}\n")
    };
    let rate = |wcet| format!("rates = [{{ period = \"10 ms\", wcet = \"{wcet} ms\" }}]");
    let follows = |other| format!("wcet = \"1 ms\"\nfollows = [{{ operation = \"{other}\" }}]");
    let write = |operations: &[String]| {
        std::fs::write(&file, format!("strategy = \"MUF\"\n{}", operations.concat())).unwrap();
    };
    write(&[critical("radar", &rate(1))]);
    let path = file.to_str().unwrap();
    let mut channel = Channel::start(&["--schedule", path, "--inspection", socket]);
    for (operations, counter) in [
        (
            vec![critical("a", &follows("b")), critical("b", &follows("a"))],
            "cycles",
        ),
        (
            vec![critical("a", &rate(6)), critical("b", &rate(6))],
            "not_admitted",
        ),
        (vec![critical("radar", &rate(60))], "contradictions"),
    ] {
        write(&operations);
        channel.signal(Signal::HUP);
        assert!(channel.complaint().starts_with("error: "), "{counter}");
        assert!(channel.complaint().contains("in force stays"), "{counter}");
        let shown = channel.top_json()["schedulers"][0].take();
        assert_eq!(shown[counter], 1, "{counter}: {shown}");
    }
    let shown = channel.top_json()["schedulers"].take();
    let watched = run(["top", socket, "--json", "--interval", "0.1"]);
    let watched: Value = serde_json::from_str(&watched.said).unwrap();
    assert_eq!(watched["schedulers"], shown);
    let expected = [
        ("scheduler", serde_json::json!("Events")),
        ("strategy", "MUF".into()),
        ("running", 1.into()),
        ("computations", 4.into()),
        ("refused", 3.into()),
    ];
    for (name, value) in expected {
        assert_eq!(shown[0][name], value, "{name}");
    }
    let table = run(["events", "top", &channel.address, "--once", "--interval", "0.1"]);
    let line =
        "Scheduler Events (MUF): 1 of 1 operations run, 10.0% of the processor; 4 computations, 3 refused";
    assert!(table.said.contains(line), "{}", table.said);
    // What cannot be read is refused, too.
    std::fs::write(&file, "strategy = \"MUF").unwrap();
    channel.signal(Signal::HUP);
    assert!(channel.complaint().contains("operations.toml"));
    punctual_fixtures::eventually("counted", || channel.top_json()["schedulers"][0]["refused"] == 4);
    assert_eq!(channel.end(), 0);
}

#[test]
fn a_killed_consumer_is_removed_and_the_others_get_everything() {
    let channel = Channel::start(&["--overflow", "block:1000"]);
    let mut killed = Tail::start(&channel, &[]);
    let sound = Tail::start(&channel, &["--count", "500"]);
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    assert_eq!(channel.send(&["--type", "16", "--count", "500"]).code, 0);
    let (code, shown) = sound.wait();
    assert_eq!((code, shown.lines().count()), (0, 500));
    punctual_fixtures::eventually("disconnected", || channel.top_json()["disconnected"] == 1);
}

#[test]
fn without_a_channel_clients_end_with_3_and_with_wrong_settings_with_2() {
    // Port 1 is reserved, and no process listens there.
    const NOBODY: &str = "corbaloc::127.0.0.1:1/Events";
    for arguments in [
        &["tail", NOBODY][..],
        &["send", NOBODY, "--type", "16"],
        &["top", NOBODY, "--once"],
    ] {
        let ended = run([&["events"], arguments].concat());
        assert_eq!(ended.code, 3, "{arguments:?}");
        assert!(ended.complained.contains("events serve"), "{}", ended.complained);
    }
    for wrong in [
        &["tail", "nonsense"][..],
        &["tail", "--for", "0"],
        &["tail", "--count", "0"],
        &["send"],
        &["send", "--type", "4"],
        &["send", "--type", "16", "--hex", "0"],
        &["send", "--type", "16", "--text", "a", "--hex", "00"],
        &["send", "--type", "16", "--file", "/nowhere"],
        &["serve", "--lane", "0:0"],
        &["serve", "--lane", "5", "--lane", "5"],
        &["serve", "--queue", "0"],
        &["serve", "--overflow", "sometimes"],
        &["serve", "--listen", "iiop://192.0.2.1:1"],
    ] {
        assert_eq!(run([&["events"], wrong].concat()).code, 2, "{wrong:?}");
    }
    let channel = Channel::start(&[]);
    let other = format!("{}s", channel.address);
    let below = [
        "events",
        "send",
        &channel.address,
        "--type",
        "16",
        "--priority",
        "5",
    ];
    for (arguments, said) in [
        (
            &["events", "send", &other, "--type", "16"][..],
            "no channel of this name",
        ),
        (&below, "does not serve this priority"),
    ] {
        let ended = run(arguments.iter().copied());
        assert_eq!(ended.code, 3, "{arguments:?}");
        assert!(ended.complained.contains(said), "{}", ended.complained);
        assert!(
            !ended.complained.contains("is `punctual events serve` running"),
            "{}",
            ended.complained
        );
    }
    let large = Path::new(env!("CARGO_TARGET_TMPDIR")).join("large-payload");
    std::fs::write(&large, vec![0; 2 << 20]).unwrap();
    let ended = channel.send(&["--type", "16", "--count", "2", "--file", large.to_str().unwrap()]);
    assert_eq!(ended.code, 1, "{}", ended.said);
    assert!(
        ended.complained.contains("refused 2 of 2 events"),
        "{}",
        ended.complained
    );
    let port = channel.address.split(['@', '/']).nth(1).unwrap();
    let taken = run(["events", "serve", "--listen", &format!("iiop://{port}")]);
    assert_eq!(taken.code, 2, "{}", taken.said);
}

fn command(arguments: &[&str]) -> Command {
    let mut command = interruptible(env!("CARGO_BIN_EXE_punctual"));
    command.arg("events").args(arguments).stdin(Stdio::null());
    command
}

/// A served channel; it is killed with the test.
pub struct Channel {
    child: Child,
    pub address: String,
    said: BufReader<ChildStdout>,
}

impl Channel {
    fn start(arguments: &[&str]) -> Self {
        Self::at("127.0.0.1:0", arguments)
    }

    fn at(host: &str, arguments: &[&str]) -> Self {
        Self::listening(&format!("iiop://{host}"), arguments)
    }

    pub fn listening(endpoint: &str, arguments: &[&str]) -> Self {
        let mut child = command(&[&["serve", "--listen", endpoint], arguments].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut address = String::new();
        said.read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        assert!(address.starts_with("corbaloc:"), "{address}");
        Self { child, address, said }
    }

    pub fn send(&self, arguments: &[&str]) -> Run {
        run([&["events", "send", &self.address], arguments].concat())
    }

    fn top_json(&self) -> Value {
        let shown = run(["events", "top", &self.address, "--json", "--interval", "0.1"]);
        assert_eq!(shown.code, 0, "{}", shown.complained);
        serde_json::from_str(&shown.said).unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// The next line of its standard error.
    fn complaint(&mut self) -> String {
        let mut line = String::new();
        BufReader::with_capacity(1, self.child.stderr.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        line
    }

    /// Ctrl-C; returns the exit code.
    fn end(mut self) -> i32 {
        self.signal(Signal::INT);
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("Ended. Received"), "{rest}");
        self.child.wait().unwrap().code().expect("it ends by itself")
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A subscribed `tail`.
pub struct Tail {
    child: Child,
}

impl Tail {
    pub fn start(channel: &Channel, arguments: &[&str]) -> Self {
        let mut child = command(&[&["tail", &channel.address], arguments].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::with_capacity(1, child.stderr.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert!(line.starts_with("Subscribed at"), "{line}");
        Self { child }
    }

    /// Ctrl-C; returns the exit code.
    fn interrupt(self) -> i32 {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        self.wait().0
    }

    pub fn wait(mut self) -> (i32, String) {
        let mut shown = String::new();
        self.child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut shown)
            .unwrap();
        let code = self.child.wait().unwrap().code().expect("it ends by itself");
        (code, shown)
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
