//! Differences, tables and screens from made-up snapshots.

use ratatui::{Terminal, backend::TestBackend};
use serde_json::json;

use super::{
    change::{Change, LaneChange, Times},
    columns::COLUMNS,
    interval, print,
    screen::draw,
    snapshot::Snapshot,
};
use crate::columns::columns_within;

/// Snapshot of an ORB with its default lane and one more.
fn snapshot(uptime_ns: u64, requests: u64, buckets: &[(u64, u64)], max_ns: u64) -> Snapshot {
    let lane = |name: &str, priority: Option<i16>, class: Option<&str>| {
        json!({
            "pool": 1, "lane": name, "priority": priority, "class": class,
            "native_priority": class.map(|_| 99),
            "realtime": true, "threads": 3, "busy_threads": 1, "connections": 4,
            "stack_used_bytes": class.map(|_| 40_000), "stack_bytes": class.map(|_| 2 << 20),
            "queued_requests": class.map(|_| 2), "queue_limit_requests": class.map(|_| 256),
            "requests": requests,
            "connections_by_band": [{"band": "none", "open": 1}, {"band": "0..100", "open": 3}],
            "queue_refused": 1, "expired": 2, "late": 3, "refused_priorities": 10, "refused_connections": 100,
            "protocol_errors": 1000, "deadlocks": 10_000, "borrowed": 77,
            "service": {"sum_ns": 0, "max_ns": max_ns, "buckets_below_ns": buckets},
        })
    };
    let text = json!({
        "schema": 1, "pid": 4711, "program": "radar", "uptime_ns": uptime_ns,
        "lanes": [lane("default", None, None), lane("p1-32767", Some(32_767), Some("fifo"))],
        "client": {
            "connections_by_band": [{"band": "none", "open": 2}, {"band": "0..100", "open": 5}],
            "late_replies": 6,
        },
        "schedulers": [{
            "scheduler": "flight", "strategy": "MUF_FAIR", "utilization": 0.975, "last_duration_ns": 7,
            "operations": 70, "running": 69, "levels": 5, "computations": 41, "refused": 12, "cycles": 13,
            "unresolved": 14, "contradictions": 15, "not_admitted": 16, "lower_rates": 17,
        }],
        "contracts": [{
            "contract": "image", "region": "coarse", "transitions": 3, "evaluations": 9,
            "conditions": [
                {"condition": "latency_ms", "value": 70.25}, {"condition": "misses", "value": null},
            ],
        }],
    });
    Snapshot::parse(&text.to_string()).unwrap()
}

fn two() -> (Snapshot, Change) {
    let before = snapshot(1_000_000_000, 100, &[(1_024, 50), (20_480, 50)], 20_000);
    // 2 s later: 998 of about 2 µs, two longer ones.
    let now = snapshot(
        3_000_000_000,
        1_100,
        &[(1_024, 50), (2_048, 998), (20_480, 51), (81_920, 1)],
        80_000,
    );
    let change = Change::between(&before, &now);
    (now, change)
}

#[test]
fn rates_and_times_are_those_of_the_interval() {
    let (_, change) = two();
    assert_eq!(change.span.as_secs(), 2);
    let times = Times {
        p50: 2.048,
        p999: 20.48,
        max: 80.0,
    };
    let expected = LaneChange {
        calls_per_s: 500.0,
        times: Some(times),
    };
    assert_eq!(change.lanes, [expected.clone(), expected]);
}

#[test]
fn without_calls_there_are_no_times() {
    let now = snapshot(1_000_000_000, 5, &[(1_024, 5)], 1_000);
    let change = Change::between(&now, &now);
    assert_eq!(change.lanes[0], LaneChange::default());
}

#[test]
fn refusals_and_missed_deadlines_are_summed() {
    let (now, _) = two();
    assert_eq!(
        (now.lanes[1].rejections.total(), now.lanes[1].deadline_misses()),
        (11_111, 5)
    );
}

#[test]
fn the_table_has_all_columns_of_a_lane() {
    let (now, change) = two();
    let text = print::table(&now, &change);
    assert!(text.starts_with("radar, process 4711, up 0:00:03\n"), "{text}");
    let line = text.lines().find(|line| line.contains("p1-32767")).unwrap();
    let cells: Vec<_> = line.split_whitespace().collect();
    let expected = [
        "p1-32767", "32767", "fifo", "99", "1/3", "2/256", "40/2048K", "4", "500", "2", "20", "80", "80",
        "77", "5", "11111",
    ];
    assert_eq!(cells, expected);
    assert!(
        text.contains("2 without band, 5 in 0..100. Replies after their timeout: 6."),
        "{text}"
    );
}

#[test]
fn a_denied_class_is_marked_and_explained() {
    let (mut now, change) = two();
    assert!(!print::table(&now, &change).contains("denied"));
    now.lanes[1].realtime = false;
    let text = print::table(&now, &change);
    assert!(text.contains("fifo 99!"), "{text}");
    assert!(text.contains("\n!: this scheduling class was denied"), "{text}");
}

#[test]
fn contracts_have_a_table_with_their_conditions() {
    let (now, change) = two();
    let text = print::table(&now, &change);
    let line = text.lines().find(|line| line.contains("image")).unwrap();
    let cells: Vec<_> = line.split_whitespace().collect();
    assert_eq!(
        cells,
        ["image", "coarse", "3", "latency_ms", "70.2500,", "misses", "?"]
    );
    let without = Snapshot {
        contracts: Vec::new(),
        ..now
    };
    assert!(!print::table(&without, &change).contains("region"));
}

#[test]
fn schedulers_have_a_table_with_what_was_wrong() {
    let (now, change) = two();
    let text = print::table(&now, &change);
    let line = text.lines().find(|line| line.contains("flight")).unwrap();
    let cells: Vec<_> = line.split_whitespace().collect();
    let expected = [
        "flight", "MUF_FAIR", "97.5%", "69/70", "41", "12", "13", "14", "15", "16", "17",
    ];
    assert_eq!(cells, expected);
    let without = Snapshot {
        schedulers: Vec::new(),
        ..now
    };
    assert!(!print::table(&without, &change).contains("no room"));
}

#[test]
fn json_has_the_counters_and_the_span() {
    let (now, change) = two();
    let object = print::json(&now, &change);
    assert_eq!(object["contracts"][0]["region"], "coarse");
    let lane = &object["lanes"][1];
    assert_eq!(
        (&object["span_s"], &lane["requests"]),
        (&json!(2.0), &json!(1_100))
    );
    assert_eq!(
        (&lane["calls_per_s"], &lane["max_us"]),
        (&json!(500.0), &json!(80.0))
    );
    assert_eq!(
        (&lane["rejections"], &lane["deadline_misses"]),
        (&json!(11_111), &json!(5))
    );
}

#[test]
fn the_screen_shows_lanes_whatever_its_size() {
    let (now, change) = two();
    for (width, height) in [
        (120, 20),
        (80, 24),
        (40, 24),
        (40, 6),
        (20, 4),
        (1, 1),
        (300, 100),
    ] {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let interval = std::time::Duration::from_secs(1);
        terminal
            .draw(|frame| draw(frame, &now, &change, interval))
            .unwrap();
        let shown = terminal.backend().to_string();
        if height >= 20 {
            assert!(shown.contains("radar, process 4711"), "{shown}");
            let lane = shown.lines().find(|line| line.contains("p1-32767")).unwrap();
            assert!(lane.contains("1/3") && lane.contains("500"), "{shown}");
            assert_eq!(lane.contains("fifo 99"), width >= 120, "{shown}");
            let scheduler = shown.lines().find(|line| line.contains("69/70")).unwrap();
            assert!(
                scheduler.contains("flight") && scheduler.contains("12") && scheduler.contains("16"),
                "{shown}"
            );
            let contract = shown.lines().find(|line| line.contains("image")).unwrap();
            assert!(
                contract.contains("coarse") && contract.contains("latency_ms 70"),
                "{shown}"
            );
            // No heading is cut, and no line of text.
            for heading in ["schedule", "refused", "cycles", "no room", "region", "conditions"] {
                assert!(shown.contains(heading), "{heading}: {shown}");
            }
            let words: Vec<_> = shown
                .split(['"', '\n', ' '])
                .filter(|word| !word.is_empty())
                .collect();
            let words = words.join(" ");
            for text in [
                "p1-32767: 1 without band, 3 in 0..100;",
                "their timeout: 6.",
                "q quits",
            ] {
                assert!(words.contains(text), "{text}: {shown}");
            }
        }
    }
}

#[test]
fn narrow_screens_lose_the_less_important_columns_first() {
    let headings = |width| {
        columns_within(COLUMNS, width)
            .iter()
            .map(|column| column.heading)
            .collect::<Vec<_>>()
    };
    assert_eq!(headings(200).len(), 15);
    assert_eq!(headings(40), ["lane", "priority", "busy", "calls/s"]);
    assert_eq!(headings(0), ["lane"]);
}

#[test]
fn invalid_snapshots_are_errors() {
    for (line, problem) in [
        ("GIOP", "not JSON"),
        (r#"{"error":"the ORB has ended"}"#, "has ended"),
        (r#"{"schema":2}"#, "use the `punctual` of the ORB's release"),
        (r#"{"schema":1}"#, "not a snapshot"),
    ] {
        let error = Snapshot::parse(line).unwrap_err();
        assert!(error.contains(problem), "{line}: {error}");
    }
}

#[test]
fn an_interval_has_bounds() {
    assert_eq!(interval("0.5").map(|span| span.as_millis()), Ok(500));
    for wrong in ["0", "-1", "61", "NaN", "inf", "fast"] {
        assert!(interval(wrong).is_err(), "{wrong}");
    }
}
