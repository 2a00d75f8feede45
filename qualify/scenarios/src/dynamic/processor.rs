//! A processor that records which thread runs, independently of any scheduler.
//!
//! Working threads read the clock in a loop and store their name with each reading. A thread that finds
//! another name knows that the other one ran until then, and was suspended unless it had ended. The record
//! does not depend on whether the kernel's priorities or a ready queue dispatch the threads.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use punctual_os::clock;

use super::schedule::Run;

/// The smallest gap in a thread's run, without other threads, that is attributed to the kernel or the host.
const HOLE_NS: u64 = 1_000_000;
/// The name that stands for no thread.
const NO_THREAD: u8 = u8::MAX;

/// One processor, shared by all threads on it. Recording does not allocate, lock or call the system.
pub(super) struct Processor {
    /// The last reading of the clock, and the name of its thread.
    last: AtomicU64,
    places: Box<[(AtomicU64, AtomicU64)]>,
    taken: AtomicUsize,
    /// Start of the record, by the monotonic clock.
    origin: AtomicU64,
}

/// The record of a processor.
#[derive(Clone, Debug, Default, serde::Deserialize, serde::Serialize)]
pub(super) struct Record {
    /// The runs of threads, in order.
    pub(super) runs: Vec<Run>,
    /// Holes, in which no thread ran although one had work: start and length, in nanoseconds.
    pub(super) holes: Vec<(u64, u64)>,
}

/// The time that counts as work.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Counted {
    /// The time in which the thread itself read the clock.
    OwnTime,
    /// Also holes, in which the kernel or the host let no thread run, but not the time of switches to this
    /// thread, nor idle time: what a dispatcher takes delays the schedule.
    AlsoHoles,
}

/// An event on the processor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mark {
    Begins,
    Resumes,
    IsSuspended,
    Ends,
    /// A hole of this length in milliseconds.
    Hole(u32),
}

impl Processor {
    /// Creates a processor with an empty record for this number of starts, suspensions, resumptions, ends and
    /// holes. All times are nanoseconds since [`begin`](Self::begin).
    pub(super) fn with_room_for(marks: usize) -> Self {
        // Written, so that the pages are mapped.
        let place = |_| (AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX));
        Self {
            last: AtomicU64::new(pack(NO_THREAD, 0)),
            places: (0..marks).map(place).collect(),
            taken: AtomicUsize::new(0),
            origin: AtomicU64::new(0),
        }
    }

    /// Sets the start of the record, in nanoseconds of the monotonic clock. Must be called before any work.
    pub(super) fn begin(&self, origin_ns: u64) {
        self.origin.store(origin_ns, Ordering::Release);
    }

    /// Returns the start of the record.
    pub(super) fn origin(&self) -> u64 {
        self.origin.load(Ordering::Acquire)
    }

    /// Sleeps until this time after the start.
    pub(super) fn sleep_until(&self, at_ns: u64) {
        let left = (self.origin() + at_ns).saturating_sub(clock::monotonic().as_nanos() as u64);
        clock::sleep_until(Instant::now() + Duration::from_nanos(left));
    }

    /// Works for this number of nanoseconds in the thread `name`; returns the end.
    pub(super) fn work(&self, name: u8, amount_ns: u64, counted: Counted) -> u64 {
        let mut done = 0;
        let mut begun = false;
        loop {
            let mut now = self.now();
            let (other, seen) = unpack(self.last.swap(pack(name, now), Ordering::Relaxed));
            let uninterrupted = begun && other == name;
            if !uninterrupted {
                // Another thread may have run since the clock was read.
                now = self.now();
                self.last.store(pack(name, now), Ordering::Relaxed);
                if other != name && other != NO_THREAD {
                    self.mark(other, Mark::IsSuspended, seen);
                }
                self.mark(name, if begun { Mark::Resumes } else { Mark::Begins }, now);
            }
            let gap = now.saturating_sub(seen);
            let is_hole = uninterrupted && gap >= HOLE_NS;
            if is_hole {
                self.mark(name, Mark::Hole((gap / 1_000_000) as u32), seen);
            }
            done += match counted {
                Counted::OwnTime if is_hole => 0,
                _ if uninterrupted => gap,
                _ => 0,
            };
            begun = true;
            if done >= amount_ns {
                let end = now.saturating_sub(done - amount_ns);
                self.last.store(pack(NO_THREAD, end), Ordering::Relaxed);
                self.mark(name, Mark::Ends, end);
                return end;
            }
        }
    }

    /// Returns the nanoseconds since the start; 0 before it.
    pub(super) fn now(&self) -> u64 {
        (clock::monotonic().as_nanos() as u64).saturating_sub(self.origin())
    }

    fn mark(&self, name: u8, mark: Mark, at_ns: u64) {
        if let Some((at, what)) = self.places.get(self.taken.fetch_add(1, Ordering::Relaxed)) {
            let (kind, more) = match mark {
                Mark::Begins => (0, 0),
                Mark::Resumes => (1, 0),
                Mark::IsSuspended => (2, 0),
                Mark::Ends => (3, 0),
                Mark::Hole(length_ms) => (4, length_ms),
            };
            at.store(at_ns, Ordering::Relaxed);
            what.store(
                u64::from(more) << 16 | u64::from(name) << 8 | kind,
                Ordering::Relaxed,
            );
        }
    }

    /// Returns the record of `host`; `None` if it was full. Call it after all work has ended.
    pub(super) fn record(&self, host: u8) -> Option<Record> {
        let taken = self.taken.load(Ordering::Relaxed);
        let places = self.places.get(..taken)?;
        let marks = places.iter().map(|(at, what)| {
            let what = what.load(Ordering::Relaxed);
            let name = (what >> 8) as u8;
            let mark = match what & 0xff {
                0 => Mark::Begins,
                1 => Mark::Resumes,
                2 => Mark::IsSuspended,
                3 => Mark::Ends,
                _ => Mark::Hole((what >> 16) as u32),
            };
            (at.load(Ordering::Relaxed), name, mark)
        });
        let mut marks: Vec<_> = marks.collect();
        // A thread may be preempted between an event and its record.
        marks.sort_by_key(|(at, _, _)| *at);
        Some(record(host, &marks))
    }
}

fn record(host: u8, marks: &[(u64, u8, Mark)]) -> Record {
    let mut record = Record::default();
    // The start of each thread's current run.
    let mut open: Vec<(u8, u64)> = Vec::new();
    for &(at, name, mark) in marks {
        match mark {
            Mark::Begins | Mark::Resumes => open.push((name, at)),
            Mark::IsSuspended | Mark::Ends => {
                let Some(place) = open.iter().position(|(running, _)| *running == name) else {
                    continue;
                };
                let (thread, from) = open.remove(place);
                record.runs.push(Run {
                    host,
                    thread,
                    from,
                    to: at,
                    ended: mark == Mark::Ends,
                });
            }
            Mark::Hole(length_ms) => record.holes.push((at, u64::from(length_ms) * 1_000_000)),
        }
    }
    record.runs.sort_by_key(|run| run.from);
    record
}

fn pack(name: u8, at_ns: u64) -> u64 {
    at_ns << 8 | u64::from(name)
}

fn unpack(packed: u64) -> (u8, u64) {
    ((packed & 0xff) as u8, packed >> 8)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use punctual_os::{CpuSet, ThreadSpec, affinity};

    use super::*;

    const MS: u64 = 1_000_000;

    fn processor() -> Processor {
        let processor = Processor::with_room_for(4096);
        processor.begin(clock::monotonic().as_nanos() as u64);
        processor
    }

    #[test]
    fn uninterrupted_work_is_one_run_of_its_length() {
        let processor = processor();
        let began = processor.now();
        let end = processor.work(1, 3 * MS, Counted::AlsoHoles);
        assert!(end >= began + 3 * MS && processor.now() >= end);
        let record = processor.record(2).unwrap();
        let [run] = record.runs[..] else {
            panic!("{record:?}")
        };
        assert_eq!((run.host, run.thread, run.ended, run.to), (2, 1, true, end));
    }

    #[test]
    fn idle_time_and_switches_are_not_work() {
        let processor = processor();
        for (name, counted) in [
            (1, Counted::OwnTime),
            (2, Counted::AlsoHoles),
            (3, Counted::AlsoHoles),
        ] {
            let idle_until = processor.now() + 2 * MS;
            while processor.now() < idle_until {}
            assert!(processor.work(name, MS, counted) >= idle_until + MS);
        }
    }

    #[test]
    fn a_thread_that_takes_over_records_the_suspension_of_the_other() {
        let cpu = affinity::current().iter().next().unwrap();
        let processor = Arc::new(processor());
        // Two threads of the default class on one CPU: the kernel alternates.
        let threads: Vec<_> = [1u8, 2]
            .map(|name| {
                let processor = Arc::clone(&processor);
                let spec = ThreadSpec::new(format!("works-{name}")).affinity(CpuSet::single(cpu));
                spec.spawn(move || processor.work(name, 60 * MS, Counted::OwnTime))
                    .unwrap()
            })
            .into();
        for thread in threads {
            thread.join().unwrap();
        }
        let record = processor.record(1).unwrap();
        for name in [1, 2] {
            let runs: Vec<_> = record.runs.iter().filter(|run| run.thread == name).collect();
            assert!(runs.len() > 1, "{record:?}");
            let (last, others) = runs.split_last().unwrap();
            assert!(last.ended && others.iter().all(|run| !run.ended), "{record:?}");
        }
        assert!(record.runs.is_sorted_by_key(|run| run.from));
    }

    #[test]
    fn a_hole_is_recorded_and_does_not_end_a_run() {
        let marks = [
            (10, 1, Mark::Begins),
            (20, 1, Mark::Hole(7)),
            (90, 1, Mark::IsSuspended),
            (95, 2, Mark::Begins),
            (99, 2, Mark::Ends),
            (101, 1, Mark::Resumes),
            (105, 1, Mark::Ends),
        ];
        let record = record(1, &marks);
        assert_eq!(record.holes, [(20, 7 * MS)]);
        let runs = record
            .runs
            .iter()
            .map(|run| (run.thread, run.from, run.to, run.ended));
        assert_eq!(
            runs.collect::<Vec<_>>(),
            [(1, 10, 90, false), (2, 95, 99, true), (1, 101, 105, true)]
        );
    }
}
