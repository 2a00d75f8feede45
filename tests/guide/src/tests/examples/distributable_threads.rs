//! Commands of the fourth example's README, and what `punctual trace` records of it.

use std::{
    fs,
    path::Path,
    process::Output,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::readme::{ROOT, Readme, Server, assert_answers, assert_fails_without_server, command};

#[test]
fn commands_print_what_the_readme_shows() {
    let readme = Readme::of("04-distributable-threads");
    let commands = readme.blocks("sh");
    let [server, client, trace] = commands[..] else {
        panic!("three commands expected: {commands:?}");
    };
    let shown = readme.blocks("text");
    let [tracking_at, printed] = shown[..] else {
        panic!("two outputs expected: {shown:?}");
    };

    assert_fails_without_server(client);
    {
        let server = Server::start(server);
        assert_eq!(server.first_line, tracking_at);
        // The second run does not depend on the first.
        for _ in 0..2 {
            assert_answers(client, printed);
        }
    }
    // This starts a server on the same port.
    tracks_cross_processes(trace);
}

/// Checks what `punctual trace` writes about the distributable threads.
fn tracks_cross_processes(trace: &str) {
    fs::create_dir_all(Path::new(ROOT).join("target")).unwrap();
    let deadline = Instant::now() + Duration::from_secs(180);
    let output = loop {
        let output = all(&command(trace).output().unwrap());
        // A second measurement on the machine is refused.
        if !output.contains("another measurement") || Instant::now() > deadline {
            break output;
        }
        thread::sleep(Duration::from_secs(2));
    };
    assert!(output.contains("watch ends: ThreadCancelled"), "{output}");
    let recorded = json_after(trace, "--json");
    let row = |name: &str| {
        let rows = recorded["rows"].as_array().expect("rows");
        let of_it = |row: &&Value| row["kind"] == "distributable thread" && row["name"] == name;
        rows.iter()
            .find(of_it)
            .unwrap_or_else(|| panic!("{name}: {output}"))
            .clone()
    };
    let (sweep, alert, watch) = (row("sweep"), row("alert"), row("watch"));
    // Three plots, the confirmation, and the queries for the alert.
    assert_eq!(sweep["processes"], 2, "{sweep}");
    assert!(sweep["calls"].as_u64() >= Some(6), "{sweep}");
    assert_eq!(
        (&alert["processes"], &alert["spawned_by"]),
        (&1.into(), &sweep["id"])
    );
    assert_eq!((&watch["processes"], &watch["calls"]), (&2.into(), &1.into()));

    let timeline = json_after(trace, "--perfetto");
    let events = timeline["traceEvents"].as_array().expect("events");
    let called = format!("sweep …{}", sweep["id"].as_str().expect("hexadecimal"));
    let track = events
        .iter()
        .find(|event| event["name"] == "thread_name" && event["args"]["name"] == called.as_str())
        .unwrap_or_else(|| panic!("no track {called}: {output}"));
    let is_its = |event: &&Value| (&event["pid"], &event["tid"]) == (&track["pid"], &track["tid"]);
    let its = || events.iter().filter(is_its);
    let segments: Vec<_> = its()
        .filter(|event| event["args"]["kind"] == "segment")
        .map(|event| event["name"].as_str().expect("a name"))
        .filter(|name| *name != "take_alert")
        .collect();
    assert_eq!(
        segments,
        ["sweep", "plot", "correlate", "plot", "plot", "confirm", "noted"]
    );
    let arrows = its().filter(|event| event["name"] == "distributable thread");
    assert!(arrows.count() >= 12, "each call there and back");
    assert_nested(its().filter(|event| event["ph"] == "X"));
}

/// Checks that slices of a track are nested, as the format requires.
fn assert_nested<'e>(slices: impl Iterator<Item = &'e Value>) {
    let number = |event: &Value, name: &str| (event[name].as_f64().expect("a number") * 1e3).round() as u64;
    let mut open: Vec<u64> = Vec::new();
    for slice in slices {
        let from = number(slice, "ts");
        let until = from + number(slice, "dur");
        while open.last().is_some_and(|end| *end <= from) {
            open.pop();
        }
        assert!(open.last().is_none_or(|end| until <= *end), "{slice}");
        open.push(until);
    }
}

/// Reads the file that an option of the command names.
fn json_after(line: &str, option: &str) -> Value {
    let file = line.split_whitespace().skip_while(|word| *word != option).nth(1);
    let text = fs::read_to_string(Path::new(ROOT).join(file.expect("the option"))).expect("the file");
    serde_json::from_str(&text).expect("JSON")
}

fn all(output: &Output) -> String {
    [&output.stdout, &output.stderr]
        .map(|octets| String::from_utf8_lossy(octets).into_owned())
        .concat()
}
