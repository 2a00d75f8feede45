//! Rows of distributable threads.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use punctual_harness::Row;

use super::Names;
use crate::distributable::{DistributableThread, Doing};

/// Returns one row per thread, longest first, at most `most`.
pub fn distributable_threads(threads: &[DistributableThread], names: &Names, most: usize) -> Vec<Row> {
    let mut threads: Vec<_> = threads.iter().collect();
    threads.sort_by_key(|thread| Reverse(thread.end_ns() - thread.begin_ns()));
    threads.truncate(most);
    threads.into_iter().map(|thread| row(thread, names)).collect()
}

fn row(thread: &DistributableThread, names: &Names) -> Row {
    let milliseconds = |ns: u64| ns as f64 / 1e6;
    let segment = |doing: &Doing| matches!(doing, Doing::Segment { .. });
    let spans = || thread.spans.iter();
    let processes: BTreeSet<i32> = spans().map(|span| span.location.process).collect();
    let is_scheduled = spans().any(|span| matches!(span.what, Doing::Running | Doing::Suspended));
    let scheduled = |doing: Doing| is_scheduled.then(|| milliseconds(thread.total_ns(&doing)));
    Row::new()
        .with("kind", "distributable thread")
        .with("id", format!("{:016x}", thread.id))
        .with("name", thread.name.as_str())
        .with("spawned_by", thread.spawned.map(|by| format!("{:016x}", by.by)))
        .with("start_s", names.seconds(thread.begin_ns()))
        .with("length_ms", milliseconds(thread.end_ns() - thread.begin_ns()))
        .with("processes", processes.len())
        .with("segments", spans().filter(|span| segment(&span.what)).count())
        .with("calls", spans().filter(|span| span.what == Doing::Call).count())
        .with("running_ms", scheduled(Doing::Running))
        .with("suspended_ms", scheduled(Doing::Suspended))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributable::{Location, Span, Spawned};

    #[test]
    fn the_longest_thread_comes_first_with_its_times() {
        let span = |from_ns, until_ns, process, what| Span {
            from_ns,
            until_ns,
            location: Location {
                process,
                thread: process,
            },
            what,
        };
        let name = "track".to_owned();
        let segment = Doing::Segment {
            name,
            arrives: true,
            updated_ns: Vec::new(),
        };
        let of_one = vec![
            span(1_000_000, 9_000_000, 1, segment.clone()),
            span(1_000_000, 3_000_000, 1, Doing::Running),
            span(3_000_000, 9_000_000, 1, Doing::Call),
            span(4_000_000, 8_000_000, 2, segment.clone()),
            span(4_000_000, 5_000_000, 2, Doing::Suspended),
            span(5_000_000, 8_000_000, 2, Doing::Running),
        ];
        let one = DistributableThread {
            id: 1,
            name: "track".to_owned(),
            spans: of_one,
            ..Default::default()
        };
        let other = DistributableThread {
            id: 0xabc,
            spans: vec![span(0, 500_000, 1, segment), span(0, 500_000, 1, Doing::Present)],
            spawned: Some(Spawned { by: 1, at_ns: 0 }),
            ..Default::default()
        };
        let threads = [other, one];
        let rows = distributable_threads(&threads, &Names::default(), 5);
        let number = |name: &str| rows[0].number(name).unwrap();
        assert_eq!(rows[0].get("name").unwrap(), "track");
        assert_eq!(
            [
                "length_ms",
                "processes",
                "segments",
                "calls",
                "running_ms",
                "suspended_ms"
            ]
            .map(number),
            [8.0, 2.0, 2.0, 1.0, 5.0, 1.0]
        );
        assert_eq!(rows[1].get("spawned_by").unwrap(), "0000000000000001");
        assert_eq!(
            rows[1].number("running_ms"),
            None,
            "the kernel's choice, which is not known"
        );
        assert_eq!(distributable_threads(&threads, &Names::default(), 1).len(), 1);
    }
}
