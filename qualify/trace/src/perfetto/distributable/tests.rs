//! Tracks, rows and arrows of made-up distributable threads.

use punctual_flight::Event;

use super::*;
use crate::distributable::distributable_threads;
use crate::inversion::Analysis;
use crate::perfetto::write_timeline;
use crate::session::Recorded;
use crate::test_events::{LANE, RADAR, carrier, named, noted};

fn timeline() -> Vec<Value> {
    let (thread, display) = (0xfeed_0000_0000_0001, 7);
    let radar = carrier(
        RADAR,
        "radar",
        [
            named(1_000, thread, "track"),
            noted(1_000, Event::DistributableThreadResumed, thread),
            noted(2_000, Event::SegmentUpdate, thread),
            noted(3_000, Event::DistributableThreadSpawned, display),
            noted(4_000, Event::DistributableThreadSuspended, thread),
            noted(4_000, Event::DistributableThreadSent, thread),
            noted(7_000, Event::DistributableThreadReturned, thread),
            noted(9_000, Event::SegmentEnd, thread),
        ],
    );
    let lane = carrier(
        LANE,
        "lane",
        [
            named(5_000, thread, "plot"),
            noted(6_000, Event::SegmentEnd, thread),
            named(6_500, display, "show"),
            noted(6_800, Event::SegmentEnd, display),
        ],
    );
    let threads = vec![radar, lane];
    let recorded = Recorded {
        kernel: Err("not requested".to_owned()),
        distributable: distributable_threads(&threads),
        requests: Vec::new(),
        threads,
    };
    let names = Names::new(recorded.names(), 0).processes(recorded.processes());
    let mut text = Vec::new();
    write_timeline(&recorded, &Analysis::default(), &names, &mut text).unwrap();
    let timeline: Value = serde_json::from_slice(&text).unwrap();
    timeline["traceEvents"].as_array().unwrap().clone()
}

fn place_of(event: &Value) -> (i64, i64, f64) {
    let whole = |name: &str| event[name].as_i64().unwrap();
    (whole("pid"), whole("tid"), event["ts"].as_f64().unwrap())
}

#[test]
fn each_thread_has_one_track_across_processes() {
    let events = timeline();
    let of_tracks = || events.iter().filter(|event| event["pid"] == DISTRIBUTABLE);
    let called: Vec<_> = of_tracks()
        .filter(|event| event["name"] == "thread_name")
        .map(|event| {
            let name = event["args"]["name"].as_str().unwrap();
            (event["tid"].as_i64().unwrap(), name)
        })
        .collect();
    assert_eq!(
        called,
        [(1, "track …feed000000000001"), (2, "show …0000000000000007")]
    );
    let slices: Vec<_> = of_tracks()
        .filter(|event| event["ph"] == "X" && event["tid"] == 1)
        .map(|event| {
            let number = |name: &str| event[name].as_f64().unwrap();
            (event["name"].as_str().unwrap(), number("ts"), number("dur"))
        })
        .collect();
    let expected = [
        ("track", 1.0, 8.0),
        ("runs at host-100 100: radar", 1.0, 3.0),
        ("calls", 4.0, 3.0),
        ("plot", 5.0, 1.0),
        ("at host-200 200: lane", 5.0, 1.0),
        ("waits at host-100 100", 7.0, 2.0),
    ];
    assert_eq!(slices, expected);
    let carriers: Vec<_> = of_tracks()
        .filter(|event| event["ph"] == "X" && event["args"]["kind"] != "call")
        .map(|event| event["args"]["carrier"].as_str().unwrap())
        .collect();
    assert_eq!(
        carriers,
        ["radar", "radar", "lane", "lane", "radar", "lane", "lane"]
    );
    let updates: Vec<_> = events
        .iter()
        .filter(|event| event["ph"] == "i")
        .map(place_of)
        .collect();
    assert_eq!(updates, [(DISTRIBUTABLE, 1, 2.0)]);
}

#[test]
fn activities_are_in_the_rows_of_os_threads() {
    let events = timeline();
    let rows: Vec<_> = events
        .iter()
        .filter(|event| event["ph"] == "X" && event["pid"] != DISTRIBUTABLE)
        .map(|event| (place_of(event), event["name"].as_str().unwrap()))
        .collect();
    let expected = [
        ((100, 101, 1.0), "track …feed000000000001"),
        ((200, 205, 5.0), "track …feed000000000001"),
        ((200, 205, 6.5), "show …0000000000000007"),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn arrows_start_and_end_on_slices() {
    let events = timeline();
    let ends = |phase: &str| {
        let ends = events.iter().filter(|event| event["ph"] == phase);
        let mut ends: Vec<_> = ends
            .map(|event| {
                (
                    event["id"].as_u64().unwrap(),
                    event["name"].clone(),
                    place_of(event),
                )
            })
            .collect();
        ends.sort_by_key(|(id, ..)| *id);
        ends
    };
    let (starts, ends) = (ends("s"), ends("f"));
    let pairs: Vec<_> = starts
        .iter()
        .zip(&ends)
        .map(|((id, name, from), (other, _, to))| {
            assert_eq!(id, other);
            (name.as_str().unwrap(), *from, *to)
        })
        .collect();
    let expected = [
        ("distributable thread", (DISTRIBUTABLE, 1, 4.0), (200, 205, 5.0)),
        ("distributable thread", (200, 205, 5.999), (DISTRIBUTABLE, 1, 7.0)),
        ("spawn", (DISTRIBUTABLE, 1, 3.0), (DISTRIBUTABLE, 2, 6.5)),
    ];
    assert_eq!(pairs, expected);
}

#[test]
fn of_very_many_threads_the_longest_are_drawn() {
    let one = |id: u64| {
        let span = Span {
            from_ns: 0,
            until_ns: id,
            location: Location::default(),
            what: Doing::Call,
        };
        DistributableThread {
            id,
            spans: vec![span],
            ..DistributableThread::default()
        }
    };
    let threads: Vec<_> = (0..2_000).map(one).collect();
    let drawn: Vec<u64> = drawn(&threads).iter().map(|thread| thread.id).collect();
    assert_eq!(drawn, (1_000..2_000).collect::<Vec<_>>());
}
