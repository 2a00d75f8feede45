//! Schedules of served channels: their lanes, and schedulers of other processes.

use std::io::{BufRead, BufReader};

use punctual::Orb;
use punctual_fixtures::{Folder, eventually, programs::interruptible};
use punctual_scheduling::rtec::idl::rtec_scheduler::{CriticalityT, ImportanceT, InfoTypeT, SchedulerRef};
use rustix::process::{Pid, Signal, kill_process};

use super::{Channel, Tail};
use crate::command::run;

fn priorities(channel: &Channel) -> [Option<i64>; 2] {
    let object = channel.top_json();
    ["radar", "display"].map(|name| {
        let consumers = object["consumers"].as_array().unwrap();
        let found = consumers.iter().find(|one| one["name"] == name);
        found.map(|one| one["priority"].as_i64().unwrap())
    })
}

/// The channel's own lanes may be lower than the levels of the schedule need.
#[test]
fn a_schedule_has_room_above_the_lanes_of_a_served_channel() {
    let folder = Folder::new("room");
    let file = folder.join("operations.toml");
    let operation = |name: &str, period: u32| {
        format!(
            "[[operation]]\nname = \"{name}\"\nrates = [{{ period = \"{period} ms\", wcet = \"1 ms\" }}]\n"
        )
    };
    let operations = [operation("radar", 10), operation("display", 100)].concat();
    std::fs::write(&file, format!("strategy = \"RMS\"\n{operations}")).unwrap();
    for (lanes, expected) in [
        (&["--lane", "0"][..], [Some(2), Some(1)]),
        (&["--lane", "0", "--lane", "3"], [Some(3), Some(2)]),
        (&[], [Some(32_767), Some(32_766)]),
    ] {
        let schedule = ["--schedule", file.to_str().unwrap(), "--overflow", "block:10000"];
        let channel = Channel::start(&[&schedule, lanes].concat());
        let tails = ["radar", "display", "other"]
            .map(|name| Tail::start(&channel, &["--name", name, "--count", "3"]));
        eventually("their places", || priorities(&channel) == expected);
        assert_eq!(channel.send(&["--type", "16", "--count", "3"]).code, 0);
        for tail in tails {
            assert_eq!(tail.wait().1.lines().count(), 3, "{lanes:?}");
        }
        assert_eq!(channel.end(), 0);
    }
}

#[test]
fn a_served_channel_follows_a_served_scheduler() {
    let mut serving = interruptible(env!("CARGO_BIN_EXE_punctual"))
        .args([
            "scheduler",
            "serve",
            "--listen",
            "iiop://127.0.0.1:0",
            "--strategy",
            "RMS",
        ])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(serving.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let url = line.trim().rsplit(' ').next().unwrap();
    let client = Orb::builder().listen("iiop://127.0.0.1").build().unwrap();
    let scheduler: SchedulerRef = client.resolve(url).unwrap();
    let handles = ["radar", "display"].map(|name| scheduler.create(name).unwrap());
    let compute = |periods: [i32; 2]| {
        let (low, importance) = (CriticalityT::LowCriticality, ImportanceT::MediumImportance);
        for (handle, period) in handles.into_iter().zip(periods) {
            let (period, kind) = (period * 10_000, InfoTypeT::Operation);
            let reset = scheduler.reset(handle, low, 10_000, 0, 0, period, importance, 0, 0, kind);
            reset.unwrap();
        }
        scheduler.recompute_scheduling(1, 50).unwrap();
    };
    let mut channel = Channel::start(&["--scheduler", url, "--lane", "0", "--overflow", "block:10000"]);
    let tails = ["radar", "display"].map(|name| Tail::start(&channel, &["--name", name, "--count", "600"]));
    let address = channel.address.clone();
    let sender = std::thread::spawn(move || {
        run([
            "events", "send", &address, "--type", "16", "--count", "600", "--rate", "500",
        ])
    });
    for round in 0..4 {
        let (periods, expected) = match round % 2 {
            0 => ([10, 100], [Some(2), Some(1)]),
            _ => ([100, 10], [Some(1), Some(2)]),
        };
        compute(periods);
        eventually("the new priorities", || priorities(&channel) == expected);
    }
    assert_eq!(sender.join().unwrap().code, 0);
    for tail in tails {
        let (code, shown) = tail.wait();
        assert_eq!((code, shown.lines().count()), (0, 600));
    }
    let shown = channel.top_json();
    assert_eq!(
        (&shown["lost"], &shown["schedulers"][0]["computations"]),
        (&0.into(), &4.into())
    );
    // The schedule in force stays when the scheduler has gone, which is reported once.
    kill_process(Pid::from_child(&serving), Signal::INT).unwrap();
    serving.wait().unwrap();
    assert!(channel.complaint().contains("the scheduler does not answer"));
    assert!(channel.complaint().contains("in force stays"));
    assert_eq!(channel.end(), 0);
}

#[test]
fn a_wrong_address_of_a_scheduler_is_refused() {
    for wrong in ["nonsense", "corbaloc:rir:/Scheduler"] {
        let ended = run([
            "events",
            "serve",
            "--listen",
            "iiop://127.0.0.1:0",
            "--scheduler",
            wrong,
        ]);
        assert!(
            ended.code == 2 && ended.complained.contains(wrong),
            "{}",
            ended.complained
        );
    }
}
