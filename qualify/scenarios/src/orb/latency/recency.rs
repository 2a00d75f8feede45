//! Why the jitter of the high-priority client rises beside many others: its calls in classes by what may be
//! the cause, each with the share of the variance that its classes account for. The longer ago the processor
//! worked for others, the colder are the caches; and if others wait for the end of a call, their timers have
//! expired during it, or just before it, which the kernel handles at no priority of theirs.

use std::time::Duration;

use punctual_harness::{Hole, Outcome, Row, Span, statistics::mean};

use super::{super::mt_cubit::columns_of, Configuration, MOST_LOW, Point, high, low};
use crate::load::{Client, PhaseResult};

/// The smallest number of calls of a class by time, and the largest number of such classes.
const FEWEST: usize = 20;
const MOST_CLASSES: usize = 4;
/// A client that waits for the end of a call begins its own within this time: a few switches.
const AT_ONCE: Duration = Duration::from_micros(100);

/// A class of calls, and its name.
type Class = (String, Vec<Span>);

/// Adds a row for each class of the calls beside the most clients, each with its own lane, and one for each
/// possible cause.
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
        let calls = clients.iter().flat_map(|client| &client.report.calls);
        calls.copied().collect()
    };
    let mut others = calls(low(phase));
    others.sort_unstable_by_key(|call| call.start_ns);
    let high = calls(high(phase));
    for (cause, classes) in [
        ("time since the last call of another", by_recency(&high, &others)),
        ("another client waits for its end", by_waiting(&high, &others)),
    ] {
        for (class, calls) in &classes {
            let row = Row::new().with("kind", "recency").with("cause", cause);
            outcome.row(columns_of(row.with("class", class.as_str()), calls, holes));
        }
        let share = share_of_variance(&classes, holes);
        let row = Row::new().with("kind", "cause").with("cause", cause);
        outcome.row(row.with("variance_percent", share.map(|share| 100.0 * share)));
    }
}

/// Returns classes of equal size by the time since the others' last work, without the calls before it.
fn by_recency(high: &[Span], others: &[Span]) -> Vec<Class> {
    let mut calls: Vec<(Duration, Span)> = high
        .iter()
        .filter_map(|call| Some((since(*call, others)?, *call)))
        .collect();
    calls.sort_unstable();
    let classes = (calls.len() / FEWEST).clamp(1, MOST_CLASSES);
    let bound = |class: usize| calls.len() * class / classes;
    let all = (0..classes).map(|class| &calls[bound(class)..bound(class + 1)]);
    all.map(|calls| {
        let end =
            |call: Option<&(Duration, Span)>| call.map_or(f64::NAN, |(since, _)| since.as_secs_f64() * 1e3);
        let name = format!("{:.1} to {:.1} ms", end(calls.first()), end(calls.last()));
        (name, calls.iter().map(|(_, call)| *call).collect())
    })
    .collect()
}

fn by_waiting(high: &[Span], others: &[Span]) -> Vec<Class> {
    let (some, none) = high.iter().partition(|call| is_waited_for(**call, others));
    vec![("no".to_owned(), none), ("yes".to_owned(), some)]
}

/// Returns the time from the end of the others' work to the beginning of this call; zero if they were at work
/// then, and `None` if none of them has worked before. `others` are in the order of their beginnings.
fn since(call: Span, others: &[Span]) -> Option<Duration> {
    let earlier = others.partition_point(|other| other.start_ns < call.start_ns);
    // A call of low priority that others interrupt may end later than many that began after it.
    let ended = others[..earlier].iter().map(|other| other.end_ns).max()?;
    Some(Duration::from_nanos(call.start_ns.saturating_sub(ended)))
}

/// Returns whether another call begins during this one or right after it.
fn is_waited_for(call: Span, others: &[Span]) -> bool {
    let next = others.partition_point(|other| other.start_ns < call.start_ns);
    let until = call.end_ns + AT_ONCE.as_nanos() as u64;
    others.get(next).is_some_and(|other| other.start_ns < until)
}

/// Returns the share of the variance of the latencies outside holes that is between classes, from 0 to 1:
/// what the cause accounts for. `None` if all latencies are the same, or there are none.
fn share_of_variance(classes: &[Class], holes: &[Hole]) -> Option<f64> {
    let latencies = |(_, calls): &Class| -> Vec<f64> {
        let outside = calls
            .iter()
            .filter(|call| !holes.iter().any(|hole| hole.excuses(**call)));
        outside.map(|call| call.length().as_secs_f64()).collect()
    };
    let classes: Vec<Vec<f64>> = classes.iter().map(latencies).collect();
    let all = classes.concat();
    let mean_of_all = mean(&all)?;
    let total: f64 = all.iter().map(|one| (one - mean_of_all).powi(2)).sum();
    let of_class = |class: &Vec<f64>| Some(class.len() as f64 * (mean(class)? - mean_of_all).powi(2));
    let between: f64 = classes.iter().filter_map(of_class).sum();
    (total > 0.0).then(|| between / total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{length::Length, orb::latency};

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
        assert_eq!(since(500), Some(Duration::ZERO), "the first one is at work");
        assert_eq!(since(1_000), Some(Duration::from_micros(100)));
        assert_eq!(since(4_900), Some(Duration::from_millis(4)));
        assert_eq!(since(5_300), Some(Duration::from_micros(200)));
        assert_eq!(since(0), None, "no thread before it");
    }

    #[test]
    fn every_form_has_two_classes_of_twenty_calls_or_more() {
        for (length, expected) in [(Length::Quick, 2), (Length::Full, 4), (Length::Paper, 4)] {
            let calls = (f64::from(latency::HIGH_HZ) * latency::seconds(length)) as u64;
            // All calls but the first one find the others' burst at the same distance, as in a quick run.
            let high: Vec<Span> = (0..calls)
                .map(|call| span(50_000 * call, 50_000 * call + 100))
                .collect();
            let others: Vec<Span> = (0..calls)
                .map(|call| span(50_000 * call + 200, 50_000 * call + 900))
                .collect();
            let classes = by_recency(&high, &others);
            assert_eq!(classes.len(), expected, "{}", length.name());
            for (name, calls) in classes {
                assert!(calls.len() >= FEWEST, "{name}: {}", calls.len());
            }
        }
    }

    #[test]
    fn those_who_wait_for_a_call_begin_when_it_ends() {
        let others = [span(0, 10), span(1_150, 1_200), span(2_300, 2_400)];
        assert!(is_waited_for(span(1_000, 1_140), &others));
        assert!(is_waited_for(span(1_000, 1_160), &others), "or during it");
        assert!(!is_waited_for(span(1_000, 1_020), &others), "long after it");
        assert!(!is_waited_for(span(2_350, 2_500), &others), "nobody follows");
        let classes = by_waiting(&[span(1_000, 1_140), span(2_350, 2_500)], &others);
        let sizes: Vec<_> = classes
            .iter()
            .map(|(name, calls)| (name.as_str(), calls.len()))
            .collect();
        assert_eq!(sizes, [("no", 1), ("yes", 1)]);
    }

    #[test]
    fn a_cause_accounts_for_the_variance_between_its_classes() {
        let class = |latencies: &[u64]| {
            let calls = latencies.iter().map(|us| span(0, *us));
            (String::new(), calls.collect::<Vec<_>>())
        };
        let share = |classes: &[&[u64]]| {
            let classes: Vec<Class> = classes.iter().map(|latencies| class(latencies)).collect();
            share_of_variance(&classes, &[])
        };
        let close = |share: Option<f64>, expected: f64| (share.unwrap() - expected).abs() < 1e-9;
        assert!(close(share(&[&[100, 100], &[200, 200]]), 1.0), "all of it");
        assert!(close(share(&[&[100, 200], &[100, 200]]), 0.0), "none of it");
        assert!(close(share(&[&[90, 110], &[190, 210]]), 10_000.0 / 10_400.0));
        assert_eq!(share(&[&[100], &[]]), None);
    }
}
