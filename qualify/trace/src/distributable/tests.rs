//! Histories of distributable threads from made-up records.

use super::*;
use crate::test_events::{LANE, RADAR, carrier, named, noted};

const ID: u64 = 0xfeed_0000_0000_0001;
const OTHER: u64 = 2;

/// Returns `track` at the radar's host; in it `correlate`, and in that a call to the tracker's host.
fn travels() -> Vec<ThreadRecords> {
    let radar = carrier(
        RADAR,
        "radar",
        [
            named(10, ID, "track"),
            noted(12, Event::DistributableThreadResumed, ID),
            named(30, ID, "correlate"),
            noted(34, Event::SegmentUpdate, ID),
            noted(38, Event::DistributableThreadSuspended, ID),
            noted(40, Event::DistributableThreadSent, ID),
            noted(70, Event::DistributableThreadReturned, ID),
            noted(72, Event::DistributableThreadResumed, ID),
            noted(80, Event::SegmentEnd, ID),
            noted(88, Event::DistributableThreadSuspended, ID),
            noted(90, Event::SegmentEnd, ID),
        ],
    );
    let lane = carrier(
        LANE,
        "lane",
        [
            noted(44, Event::DistributableThreadReceived, ID),
            named(45, ID, "plot"),
            noted(60, Event::SegmentEnd, ID),
        ],
    );
    // Another thread of the tracker's host decides.
    let decides = Location { thread: 206, ..LANE };
    let decides = carrier(
        decides,
        "other lane",
        [
            noted(50, Event::DistributableThreadResumed, ID),
            noted(58, Event::DistributableThreadSuspended, ID),
        ],
    );
    vec![lane, decides, radar]
}

fn brief(thread: &DistributableThread) -> Vec<(u64, u64, i32, String)> {
    let what = |doing: &Doing| match doing {
        Doing::Segment { name, .. } => name.clone(),
        other => format!("{other:?}"),
    };
    let spans = thread.spans.iter();
    spans
        .map(|span| {
            (
                span.from_ns,
                span.until_ns,
                span.location.process,
                what(&span.what),
            )
        })
        .collect()
}

fn spans(expected: &[(u64, u64, i32, &str)]) -> Vec<(u64, u64, i32, String)> {
    let owned = |&(from, until, process, what): &(_, _, _, &str)| (from, until, process, what.to_owned());
    expected.iter().map(owned).collect()
}

#[test]
fn a_thread_has_one_history_across_hosts() {
    let found = distributable_threads(&travels());
    let [thread] = &found[..] else {
        panic!("one was recorded: {found:#?}");
    };
    assert_eq!(
        (thread.id, thread.name.as_str(), thread.spawned),
        (ID, "track", None)
    );
    let expected = [
        (10, 90, 100, "track"),
        (10, 12, 100, "Suspended"),
        (12, 30, 100, "Running"),
        (30, 80, 100, "correlate"),
        (30, 38, 100, "Running"),
        (38, 40, 100, "Suspended"),
        (40, 70, 100, "Call"),
        (45, 60, 200, "plot"),
        (45, 50, 200, "Suspended"),
        (50, 58, 200, "Running"),
        (58, 60, 200, "Suspended"),
        (70, 72, 100, "Suspended"),
        (72, 80, 100, "Running"),
        (80, 88, 100, "Running"),
        (88, 90, 100, "Suspended"),
    ];
    assert_eq!(brief(thread), spans(&expected));
    let hop = |from, to, returns| Hop { from, to, returns };
    let there = hop((RADAR, 40), (LANE, 45), false);
    let back = hop((LANE, 60), (RADAR, 70), true);
    assert_eq!(thread.hops, [there, back]);
    assert_eq!(thread.total_ns(&Doing::Running), 18 + 8 + 8 + 8 + 8);
    let segments: Vec<_> = thread
        .spans
        .iter()
        .filter_map(|span| match &span.what {
            Doing::Segment {
                arrives, updated_ns, ..
            } => Some((*arrives, updated_ns.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(segments, [(true, vec![]), (false, vec![34]), (true, vec![])]);
}

#[test]
fn spans_are_nested_even_if_a_caller_times_out() {
    // The caller times out at 50; the servant continues until 65 without noticing that it has lost the
    // thread.
    let radar = carrier(
        RADAR,
        "radar",
        [
            named(10, ID, "track"),
            noted(40, Event::DistributableThreadSent, ID),
            noted(50, Event::DistributableThreadReturned, ID),
            noted(60, Event::SegmentEnd, ID),
        ],
    );
    let lane = carrier(
        LANE,
        "lane",
        [named(45, ID, "plot"), noted(65, Event::SegmentEnd, ID)],
    );
    let found = distributable_threads(&[radar, lane]);
    let expected = [
        (10, 60, 100, "track"),
        (10, 40, 100, "Present"),
        (40, 50, 100, "Call"),
        (45, 50, 200, "plot"),
        (45, 50, 200, "Present"),
        (50, 60, 100, "Present"),
    ];
    assert_eq!(brief(&found[0]), spans(&expected));
    assert_eq!(found[0].hops.len(), 1, "it did not return from there");
}

#[test]
fn a_call_back_can_be_served_by_the_waiting_os_thread() {
    let radar = carrier(
        RADAR,
        "radar",
        [
            named(10, ID, "track"),
            noted(20, Event::DistributableThreadSent, ID),
            // The waiting OS thread serves the callback.
            noted(40, Event::DistributableThreadReceived, ID),
            named(41, ID, "confirm"),
            noted(50, Event::SegmentEnd, ID),
            noted(80, Event::DistributableThreadReturned, ID),
            noted(90, Event::SegmentEnd, ID),
        ],
    );
    let lane = carrier(
        LANE,
        "lane",
        [
            named(25, ID, "plot"),
            noted(30, Event::DistributableThreadSent, ID),
            noted(60, Event::DistributableThreadReturned, ID),
            noted(70, Event::SegmentEnd, ID),
        ],
    );
    let found = distributable_threads(&[radar, lane]);
    let calls_and_segments: Vec<_> = brief(&found[0])
        .into_iter()
        .filter(|(_, _, _, what)| what != "Present")
        .collect();
    let expected = [
        (10, 90, 100, "track"),
        (20, 80, 100, "Call"),
        (25, 70, 200, "plot"),
        (30, 60, 200, "Call"),
        (41, 50, 100, "confirm"),
    ];
    assert_eq!(calls_and_segments, spans(&expected));
    let times = found[0].hops.iter().map(|hop| (hop.from.1, hop.to.1));
    assert_eq!(
        times.collect::<Vec<_>>(),
        [(20, 25), (30, 41), (50, 60), (70, 80)]
    );
}

#[test]
fn spawned_threads_name_their_parents() {
    let radar = carrier(
        RADAR,
        "radar",
        [
            named(10, ID, "track"),
            noted(20, Event::DistributableThreadSpawned, OTHER),
            noted(90, Event::SegmentEnd, ID),
        ],
    );
    let lane = carrier(
        LANE,
        "lane",
        [
            noted(24, Event::DistributableThreadReceived, OTHER),
            named(25, OTHER, "display"),
        ],
    );
    let found = distributable_threads(&[lane, radar]);
    let ids: Vec<_> = found.iter().map(|thread| (thread.id, thread.spawned)).collect();
    assert_eq!(ids, [(ID, None), (OTHER, Some(Spawned { by: ID, at_ns: 20 }))]);
    assert_eq!(found[1].end_ns(), 90, "still open when recording ended");
}

#[test]
fn segments_from_before_the_recording_are_omitted() {
    let radar = carrier(
        RADAR,
        "radar",
        [
            noted(5, Event::DistributableThreadSpawned, OTHER),
            noted(10, Event::DistributableThreadReturned, ID),
            noted(12, Event::DistributableThreadResumed, ID),
            noted(20, Event::SegmentEnd, ID),
            noted(30, Event::DistributableThreadSent, ID),
        ],
    );
    assert_eq!(distributable_threads(&[radar]), []);
    let without_name = carrier(RADAR, "radar", [noted(3, Event::SegmentBegin, ID)]);
    assert_eq!(distributable_threads(&[without_name])[0].name, "segment");
}
