//! Why the jitter of the high-priority client rises beside many others: its calls by the time since the
//! processor last worked for another client. The longer ago, the colder are the caches that a call finds.

use std::time::Duration;

use punctual_harness::{Hole, Outcome, Row, Span};

use super::{super::mt_cubit::columns_of, Configuration, MOST_LOW, Point, high, low};
use crate::load::{Client, PhaseResult};

/// Classes of that time: name, and lower end.
const CLASSES: [(&str, Duration); 4] = [
    ("during a call of another", Duration::ZERO),
    ("less than 1 ms", Duration::from_nanos(1)),
    ("1 to 5 ms", Duration::from_millis(1)),
    ("5 ms and more", Duration::from_millis(5)),
];

/// Adds a row for each class of the calls beside the most clients, each with its own lane.
pub(super) fn rows(phase: &PhaseResult<Point>, holes: &[Hole], outcome: &mut Outcome) {
    let wanted = Point::Curve {
        configuration: Configuration::Own,
        low: MOST_LOW,
        awake: false,
    };
    if phase.key != wanted {
        return;
    }
    let calls = |clients: &[Client]| -> Vec<Span> {
        clients
            .iter()
            .flat_map(|client| client.report.calls.clone())
            .collect()
    };
    let mut others = calls(low(phase));
    others.sort_unstable_by_key(|call| call.start_ns);
    let mut classes: [Vec<Span>; CLASSES.len()] = Default::default();
    for call in calls(high(phase)) {
        classes[class(since(call, &others))].push(call);
    }
    for ((name, _), calls) in CLASSES.iter().zip(classes) {
        let row = Row::new().with("kind", "recency").with("since", *name);
        outcome.row(columns_of(row, &calls, holes));
    }
}

/// Returns the time from the end of the others' work to the beginning of this call; zero if they were at work
/// then. `others` are in the order of their beginnings.
fn since(call: Span, others: &[Span]) -> Duration {
    let earlier = others.partition_point(|other| other.start_ns < call.start_ns);
    // A call of low priority that others interrupt may end later than many that began after it.
    let ended = others[..earlier].iter().map(|other| other.end_ns).max();
    let since = ended.map_or(u64::MAX, |ended| call.start_ns.saturating_sub(ended));
    Duration::from_nanos(since)
}

fn class(since: Duration) -> usize {
    let above = CLASSES.iter().rposition(|(_, lower)| *lower <= since);
    above.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start_us: u64, end_us: u64) -> Span {
        Span {
            start_ns: start_us * 1000,
            end_ns: end_us * 1000,
        }
    }

    #[test]
    fn the_last_work_of_others_counts_whoever_began_it() {
        let others = [span(0, 900), span(100, 200), span(5_000, 5_100)];
        let since = |start_us| since(span(start_us, start_us + 50), &others);
        assert_eq!(since(500), Duration::ZERO, "the first one is at work");
        assert_eq!(since(1_000), Duration::from_micros(100));
        assert_eq!(since(4_900), Duration::from_millis(4));
        assert_eq!(since(5_300), Duration::from_micros(200));
        assert_eq!(since(0), Duration::from_nanos(u64::MAX), "no thread before it");
        let classes = [500, 1_000, 4_900, 20_000].map(|start_us| class(since(start_us)));
        assert_eq!(classes, [0, 1, 2, 3]);
    }
}
