//! Results as rows of the JSON format.

mod distributable;
mod slow_calls;

use std::collections::{BTreeMap, HashMap};

use punctual_harness::Row;

use crate::event::{Level, ThreadId};
use crate::inversion::{Analysis, Inversion, Waiting, Who};
use crate::request::Request;
pub use distributable::distributable_threads;
pub use slow_calls::{blame, slow_calls};

/// Names of threads, processes and operations.
#[derive(Clone, Debug, Default)]
pub struct Names {
    threads: HashMap<ThreadId, String>,
    processes: HashMap<i32, String>,
    operations: HashMap<u64, String>,
    begin_ns: u64,
}

impl Names {
    /// Creates it with the names of threads; times are shown relative to `begin_ns`.
    pub fn new(threads: HashMap<ThreadId, String>, begin_ns: u64) -> Self {
        Self {
            threads,
            processes: HashMap::new(),
            operations: HashMap::new(),
            begin_ns,
        }
    }

    /// Adds the names of processes.
    #[must_use]
    pub fn processes(mut self, names: HashMap<i32, String>) -> Self {
        self.processes = names;
        self
    }

    /// Adds names of operations by their hashes; others are shown as numbers.
    #[must_use]
    pub fn operations(mut self, names: HashMap<u64, String>) -> Self {
        self.operations = names;
        self
    }

    /// Returns the name of a thread.
    pub fn thread(&self, thread: ThreadId) -> &str {
        self.threads.get(&thread).map_or("?", String::as_str)
    }

    /// Returns the name and id of a process, because several may have the same name.
    pub fn process(&self, process: i32) -> String {
        match self.processes.get(&process) {
            Some(name) => format!("{name} {process}"),
            None => format!("process {process}"),
        }
    }

    /// Returns the name of an operation, or its number.
    pub fn operation(&self, operation: u64) -> String {
        let name = self.operations.get(&operation).cloned();
        name.unwrap_or_else(|| format!("operation {operation:016x}"))
    }

    /// Returns the name of a thread or an interrupt.
    pub fn who(&self, who: Who) -> String {
        match who {
            Who::Thread { thread, .. } => self.thread(thread).to_owned(),
            Who::Interrupt(interrupt) => interrupt.to_string(),
        }
    }
}

/// Returns one row per kind of wait: waiter, main culprit, number and duration. Longest first.
pub fn summary(analysis: &Analysis, names: &Names, over_ns: u64) -> Vec<Row> {
    #[derive(Default)]
    struct Group {
        count: u64,
        over: u64,
        total_ns: u64,
        longest_ns: u64,
        longest_at_ns: u64,
    }
    /// Waits that are summed: the same kind of wait of one kind of waiter for one kind of culprit.
    #[derive(Eq, Ord, PartialEq, PartialOrd)]
    struct Key {
        state: Waiting,
        waiter: String,
        level: Option<u8>,
        culprit: String,
        culprit_level: Option<u8>,
    }
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    for inversion in &analysis.inversions {
        let waiter = inversion.waiter;
        let who = inversion.culprits[0].who;
        let number = |level: Option<Level>| level.map(|level| level.0);
        let culprit_level = match who {
            Who::Thread { level, .. } => level,
            Who::Interrupt(_) => None,
        };
        let key = Key {
            state: waiter.state,
            waiter: kind_of(names.thread(waiter.thread)),
            level: number(waiter.level),
            culprit: kind_of(&names.who(who)),
            culprit_level: number(culprit_level),
        };
        let group = groups.entry(key).or_default();
        group.count += 1;
        group.over += u64::from(inversion.length_ns > over_ns);
        group.total_ns += inversion.length_ns;
        if inversion.length_ns > group.longest_ns {
            (group.longest_ns, group.longest_at_ns) = (inversion.length_ns, inversion.start_ns);
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.longest_ns));
    let row = |(key, group): (Key, Group)| {
        Row::new()
            .with("kind", "summary")
            .with("waited", key.waiter)
            .with("level", key.level)
            .with("as", key.state.name())
            .with("for", key.culprit)
            .with("for_level", key.culprit_level)
            .with("count", group.count)
            .with("over_limit", group.over)
            .with("total_ms", group.total_ns as f64 / 1e6)
            .with("longest_us", group.longest_ns as f64 / 1e3)
            .with("longest_at_s", names.seconds(group.longest_at_ns))
    };
    groups.into_iter().map(row).collect()
}

/// Returns one row per inversion longer than `over_ns`, longest first, at most `most`.
pub fn intervals(
    analysis: &Analysis,
    requests: &[Request],
    names: &Names,
    over_ns: u64,
    most: usize,
) -> Vec<Row> {
    let over = analysis
        .inversions
        .iter()
        .filter(|inversion| inversion.length_ns > over_ns);
    let mut over: Vec<&Inversion> = over.collect();
    over.sort_by_key(|inversion| std::cmp::Reverse(inversion.length_ns));
    over.truncate(most);
    let row = |inversion: &Inversion| {
        let waiter = inversion.waiter;
        let request = waiter.request.and_then(|place| requests.get(place));
        Row::new()
            .with("kind", "interval")
            .with("start_s", names.seconds(inversion.start_ns))
            .with("length_us", inversion.length_ns as f64 / 1e3)
            .with("cpu", inversion.cpu)
            .with("waited", names.thread(waiter.thread))
            .with("thread", waiter.thread)
            .with("level", waiter.level.map(|level| level.0))
            .with("as", waiter.state.name())
            .with("request", request.map(|request| request.id))
            .with(
                "operation",
                request.map(|request| names.operation(request.operation)),
            )
            .with("client_port", request.map(|request| request.link.local_port()))
            .with("corba_priority", request.and_then(|request| request.priority))
            .with("for", names.describe(inversion))
    };
    over.into_iter().map(row).collect()
}

/// Returns one row per hole, longest first.
pub fn holes(analysis: &Analysis, names: &Names) -> Vec<Row> {
    let mut holes = analysis.holes.clone();
    holes.sort_by_key(|hole| std::cmp::Reverse(hole.length_ns));
    let row = |hole: &crate::inversion::CpuHole| {
        Row::new()
            .with("kind", "hole")
            .with("start_s", names.seconds(hole.start_ns))
            .with("length_us", hole.length_ns as f64 / 1e3)
            .with("cpu", hole.cpu)
            .with("source", hole_source(hole.source))
    };
    holes.iter().map(row).collect()
}

fn hole_source(source: crate::inversion::HoleSource) -> &'static str {
    use crate::inversion::HoleSource::{Idle, OtherTasks, Throttling, Unaccounted};
    match source {
        Throttling => "idle: real-time throttling",
        Idle => "idle",
        OtherTasks => "ordinary tasks: the kernel's fair server",
        Unaccounted => "silent: the host, or interrupts off",
    }
}

impl Names {
    fn seconds(&self, time_ns: u64) -> f64 {
        time_ns.saturating_sub(self.begin_ns) as f64 / 1e9
    }

    /// Returns what ran, and for how long, longest first.
    fn describe(&self, inversion: &Inversion) -> String {
        const NAMED: usize = 3;
        // The work of a thread for different requests is summed here.
        let mut by_name: Vec<(String, u64)> = Vec::new();
        for culprit in &inversion.culprits {
            let name = match culprit.who {
                Who::Thread { thread, level, .. } => {
                    let level = level.map_or(String::new(), |level| format!(", {level}"));
                    format!("{} ({thread}{level})", self.thread(thread))
                }
                Who::Interrupt(interrupt) => interrupt.to_string(),
            };
            match by_name.iter_mut().find(|(other, _)| *other == name) {
                Some((_, ran)) => *ran += culprit.ran_ns,
                None => by_name.push((name, culprit.ran_ns)),
            }
        }
        by_name.sort_by_key(|(_, ran)| std::cmp::Reverse(*ran));
        let others = by_name.split_off(by_name.len().min(NAMED));
        if !others.is_empty() {
            let ran = others.iter().map(|(_, ran)| ran).sum();
            by_name.push((format!("{} others", others.len()), ran));
        }
        let texts = by_name
            .iter()
            .map(|(name, ran)| format!("{name} {:.1} µs", *ran as f64 / 1e3));
        texts.collect::<Vec<_>>().join(", ")
    }
}

/// Returns the name without its last number: threads that differ only in that are of one kind.
fn kind_of(name: &str) -> String {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    match stem.chars().next_back() {
        Some('.' | '-' | '_' | '/' | ':' | '#') if stem.len() < name.len() => format!("{stem}*"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use punctual_flight::operation_id;

    use super::*;
    use crate::inversion::{CpuHole, Culprit, HoleSource, Waiter};

    fn inversion(start_ns: u64, length_ns: u64, thread: ThreadId) -> Inversion {
        let who = Who::Thread {
            thread,
            level: Some(Level(10)),
            request: None,
        };
        Inversion {
            waiter: Waiter {
                thread: 50,
                level: Some(Level(50)),
                request: None,
                state: Waiting::Ready,
            },
            cpu: 1,
            start_ns,
            length_ns,
            culprits: vec![Culprit {
                who,
                ran_ns: length_ns,
            }],
        }
    }

    fn names() -> Names {
        let threads = [(50, "high"), (10, "low"), (11, "other")];
        let threads = threads.map(|(id, name)| (id, name.to_owned()));
        Names::new(threads.into(), 1_000).operations([(operation_id("method"), "method".to_owned())].into())
    }

    #[test]
    fn waits_of_one_kind_are_one_row() {
        let analysis = Analysis {
            inversions: vec![
                inversion(1_000, 5_000, 10),
                inversion(9_000, 300_000, 10),
                inversion(400_000, 1_000, 11),
            ],
            holes: vec![CpuHole {
                cpu: 1,
                start_ns: 2_000,
                length_ns: 50_000_000,
                source: HoleSource::OtherTasks,
            }],
        };
        let rows = summary(&analysis, &names(), 200_000);
        assert_eq!(rows.len(), 2);
        let text = |column: &str| rows[0].get(column).unwrap().as_str().unwrap();
        assert_eq!(
            (text("waited"), text("for"), text("as")),
            ("high", "low", "ready thread")
        );
        let number = |column: &str| rows[0].number(column).unwrap();
        assert_eq!((number("count"), number("over_limit")), (2.0, 1.0));
        assert_eq!((number("longest_us"), number("total_ms")), (300.0, 0.305));
        assert_eq!(number("longest_at_s"), 8e-6);
        let rows = intervals(&analysis, &[], &names(), 2_000, 1);
        assert_eq!(rows.len(), 1, "the longer one of two");
        assert_eq!(rows[0].get("for").unwrap(), "low (10, rt 10) 300.0 µs");
        let rows = holes(&analysis, &names());
        assert_eq!(rows[0].number("length_us"), Some(50_000.0));
    }

    #[test]
    fn threads_of_one_kind_have_one_name() {
        let kinds = [
            "p1-10922.3",
            "kworker/1:0",
            "best-effort-12",
            "radar",
            "rcu_preempt",
            "x1",
            "7",
        ];
        let expected = [
            "p1-10922.*",
            "kworker/1:*",
            "best-effort-*",
            "radar",
            "rcu_preempt",
            "x1",
            "7",
        ];
        assert_eq!(kinds.map(kind_of), expected);
    }

    #[test]
    fn known_operations_have_names() {
        assert_eq!(names().operation(operation_id("method")), "method");
        assert!(names().operation(7).ends_with("0007"));
    }
}
