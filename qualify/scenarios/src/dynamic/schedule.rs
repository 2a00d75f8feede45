//! The schedule of distributable threads on hosts, and differences between two schedules.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// An interval in which one thread ran on one host.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Run {
    /// Number of the host, from 1.
    pub(super) host: u8,
    /// Number of the thread, from 1.
    pub(super) thread: u8,
    /// Start in nanoseconds.
    pub(super) from: u64,
    /// End in nanoseconds.
    pub(super) to: u64,
    /// The thread completed its work on this host; otherwise it was suspended.
    pub(super) ended: bool,
}

/// The runs on all hosts.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Schedule {
    runs: Vec<Run>,
}

/// The start or the end of a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Event {
    pub(super) host: u8,
    pub(super) thread: u8,
    pub(super) what: What,
    /// Time in nanoseconds.
    pub(super) at: u64,
    /// Number of earlier events of the thread.
    number: usize,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum What {
    /// The thread starts work on the host.
    Begins,
    /// The thread is suspended for another one.
    IsSuspended,
    Resumes,
    /// The thread completes its work on the host.
    Ends,
}

impl What {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Begins => "begins",
            Self::IsSuspended => "is suspended",
            Self::Resumes => "resumes",
            Self::Ends => "ends",
        }
    }
}

impl Schedule {
    /// Creates a schedule from runs in any order. Consecutive runs of a thread on a host are joined.
    pub(super) fn of(mut runs: Vec<Run>) -> Self {
        runs.retain(|run| run.to > run.from);
        runs.sort_by_key(|run| (run.host, run.from));
        let mut joined: Vec<Run> = Vec::with_capacity(runs.len());
        for run in runs {
            match joined.last_mut() {
                Some(last) if (last.host, last.thread, last.ended) == (run.host, run.thread, false) => {
                    (last.to, last.ended) = (run.to, run.ended);
                }
                _ => joined.push(run),
            }
        }
        joined.sort_by_key(|run| (run.from, run.host));
        Self { runs: joined }
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns every start, suspension, resumption and end, by time; at the same time, ends are first.
    pub(super) fn events(&self) -> Vec<Event> {
        let mut events = self.events_where(|_| true);
        let starts = |event: &Event| matches!(event.what, What::Begins | What::Resumes);
        events.sort_by_key(|event| (event.at, starts(event)));
        events
    }

    /// Returns the time of the same event in this schedule: the event of the thread with the same number, if
    /// host and kind are equal.
    pub(super) fn time_of(&self, event: &Event) -> Option<u64> {
        let events = self.events_where(|run| run.thread == event.thread);
        let same = events.get(event.number)?;
        ((same.host, same.what) == (event.host, event.what)).then_some(same.at)
    }

    /// Returns the events of the selected runs, in order.
    fn events_where(&self, belongs: impl Fn(&Run) -> bool) -> Vec<Event> {
        let mut suspended = BTreeSet::new();
        let mut numbers = BTreeMap::new();
        let mut events = Vec::new();
        for run in &self.runs {
            let (host, thread) = (run.host, run.thread);
            let number = numbers.entry(thread).or_insert(0);
            *number += 2;
            if !belongs(run) {
                continue;
            }
            let event = |what, at, number| Event {
                host,
                thread,
                what,
                at,
                number,
            };
            let begins = match suspended.remove(&(host, thread)) {
                true => What::Resumes,
                false => What::Begins,
            };
            let ends = if run.ended { What::Ends } else { What::IsSuspended };
            if !run.ended {
                suspended.insert((host, thread));
            }
            events.push(event(begins, run.from, *number - 2));
            events.push(event(ends, run.to, *number - 1));
        }
        events
    }

    /// Describes the differences of the order of events from `other`, on each host and of each thread.
    /// Unrelated events on different hosts have no order.
    pub(super) fn differences(&self, other: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        for host in &self.hosts() | &other.hosts() {
            differences.extend(first_difference(
                &format!("host {host}"),
                &self.events_where(|run| run.host == host),
                &other.events_where(|run| run.host == host),
            ));
        }
        for thread in &self.threads() | &other.threads() {
            differences.extend(first_difference(
                &format!("DT{thread}"),
                &self.events_where(|run| run.thread == thread),
                &other.events_where(|run| run.thread == thread),
            ));
        }
        differences
    }

    pub(super) fn hosts(&self) -> BTreeSet<u8> {
        self.runs.iter().map(|run| run.host).collect()
    }

    pub(super) fn threads(&self) -> BTreeSet<u8> {
        self.runs.iter().map(|run| run.thread).collect()
    }
}

/// Describes the first difference between two sequences.
fn first_difference(of: &str, one: &[Event], other: &[Event]) -> Option<String> {
    let describe = |event: Option<&Event>| match event {
        Some(Event {
            host, thread, what, ..
        }) => format!("DT{thread} {} on host {host}", what.name()),
        None => "no event".to_owned(),
    };
    let key = |event: &Event| (event.host, event.thread, event.what);
    let place = (0..one.len().max(other.len()))
        .find(|&place| one.get(place).map(key) != other.get(place).map(key))?;
    Some(format!(
        "{of}: event {} is `{}`, not `{}`",
        place + 1,
        describe(one.get(place)),
        describe(other.get(place)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(host: u8, thread: u8, from: u64, to: u64, ended: bool) -> Run {
        Run {
            host,
            thread,
            from,
            to,
            ended,
        }
    }

    fn schedule() -> Schedule {
        Schedule::of(vec![
            run(1, 1, 0, 3, true),
            run(1, 2, 3, 6, false),
            run(2, 1, 3, 6, true),
            run(1, 1, 6, 9, true),
            run(1, 2, 9, 12, true),
        ])
    }

    #[test]
    fn a_suspended_thread_resumes_and_an_arriving_one_begins() {
        let events: Vec<_> = schedule()
            .events_where(|run| run.host == 1)
            .iter()
            .map(|event| (event.thread, event.what.name()))
            .collect();
        assert_eq!(
            events,
            [
                (1, "begins"),
                (1, "ends"),
                (2, "begins"),
                (2, "is suspended"),
                (1, "begins"),
                (1, "ends"),
                (2, "resumes"),
                (2, "ends"),
            ]
        );
    }

    #[test]
    fn times_and_interrupted_runs_do_not_matter() {
        let mut runs = schedule().runs.clone();
        runs.iter_mut()
            .for_each(|run| (run.from, run.to) = (run.from * 10 + 2, run.to * 10 + 1));
        let first = runs[0];
        runs[0] = Run {
            to: 10,
            ended: false,
            ..first
        };
        runs.push(Run { from: 12, ..first });
        assert_eq!(Schedule::of(runs).differences(&schedule()), [""; 0]);
    }

    #[test]
    fn a_different_order_is_reported_for_host_and_thread() {
        let mut runs = schedule().runs.clone();
        runs.retain(|run| run.host == 1);
        let differences = Schedule::of(runs).differences(&schedule());
        assert_eq!(differences.len(), 2, "{differences:?}");
        assert!(differences[0].starts_with("host 2"), "{differences:?}");
        assert_eq!(
            differences[1],
            "DT1: event 3 is `DT1 begins on host 1`, not `DT1 begins on host 2`"
        );
    }
}
