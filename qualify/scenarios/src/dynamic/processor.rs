//! A processor as the work on it sees it: who runs, told by the work itself and not by any scheduler.
//!
//! Work reads the clock in a loop and leaves its name with each reading. Whoever finds another name there
//! knows that the other one ran until then, and was suspended unless it had ended. So the same record is made
//! whether a kernel's priorities or a ready queue let a thread run.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use punctual_os::clock;

use super::schedule::Run;

/// Gaps in a thread's running from here on, with nobody else running meanwhile, are the kernel's or the
/// host's.
const HOLE_NS: u64 = 1_000_000;
/// The name of nobody.
const NOBODY: u8 = u8::MAX;
/// One processor, shared by all that work on it. Nothing allocates, locks or calls the system while it is
/// worked on.
pub(super) struct Processor {
    /// The name of the one that read the clock last, and the reading.
    last: AtomicU64,
    places: Box<[(AtomicU64, AtomicU64)]>,
    taken: AtomicUsize,
    /// Readings are relative to it, by the monotonic clock.
    origin: AtomicU64,
}

/// What happened on a processor.
#[derive(Clone, Debug, Default, serde::Deserialize, serde::Serialize)]
pub(super) struct Record {
    /// Who ran, in order.
    pub(super) runs: Vec<Run>,
    /// Where nobody ran though somebody was at work: beginning and length, in nanoseconds.
    pub(super) holes: Vec<(u64, u64)>,
}

/// Which time counts as work done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Counted {
    /// That in which the thread itself read the clock.
    OwnTime,
    /// Also what it takes to let this thread run after another one, what the kernel or the host take, and the
    /// time in which nobody ran since it could have been at work, which is given: what an ideal processor
    /// would have done. So a schedule stays where it should be on the clock.
    AllSince(u64),
}

/// What a piece of work leaves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mark {
    Begins,
    Resumes,
    IsSuspended,
    Ends,
    /// With its length in milliseconds.
    Hole(u32),
}

impl Processor {
    /// Where nothing has happened yet, with room for so many beginnings, suspensions, resumptions, ends and
    /// holes. All its times are nanoseconds since [`begin`](Self::begin).
    pub(super) fn with_room_for(marks: usize) -> Self {
        // Written, not only reserved, so that the pages are there.
        let place = |_| (AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX));
        Self {
            last: AtomicU64::new(pack(NOBODY, 0)),
            places: (0..marks).map(place).collect(),
            taken: AtomicUsize::new(0),
            origin: AtomicU64::new(0),
        }
    }

    /// Counts time from here on, in nanoseconds of the monotonic clock. To be called before there is work.
    pub(super) fn begin(&self, origin_ns: u64) {
        self.origin.store(origin_ns, Ordering::Release);
    }

    /// Since when time counts.
    pub(super) fn origin(&self) -> u64 {
        self.origin.load(Ordering::Acquire)
    }

    /// Sleeps until so long after the beginning.
    pub(super) fn sleep_until(&self, at_ns: u64) {
        let left = (self.origin() + at_ns).saturating_sub(clock::monotonic().as_nanos() as u64);
        clock::sleep_until(Instant::now() + Duration::from_nanos(left));
    }

    /// Has `name` do a piece of work of so many nanoseconds of this processor; returns when its end was due.
    pub(super) fn work(&self, name: u8, amount_ns: u64, counted: Counted) -> u64 {
        let mut done = 0;
        let mut begun = false;
        loop {
            let mut now = self.now();
            let (other, seen) = unpack(self.last.swap(pack(name, now), Ordering::Relaxed));
            let goes_on = begun && other == name;
            if !goes_on {
                // Another one may have run since the clock was read.
                now = self.now();
                self.last.store(pack(name, now), Ordering::Relaxed);
                if other != name && other != NOBODY {
                    self.mark(other, Mark::IsSuspended, seen);
                }
                self.mark(name, if begun { Mark::Resumes } else { Mark::Begins }, now);
            }
            let gap = now.saturating_sub(seen);
            let is_hole = goes_on && gap >= HOLE_NS;
            if is_hole {
                self.mark(name, Mark::Hole((gap / 1_000_000) as u32), seen);
            }
            done += match counted {
                Counted::OwnTime if goes_on && !is_hole => gap,
                Counted::OwnTime => 0,
                Counted::AllSince(ready) if !begun => now.saturating_sub(seen.max(ready)),
                Counted::AllSince(_) => gap,
            };
            begun = true;
            if done >= amount_ns {
                let end = now.saturating_sub(done - amount_ns);
                self.last.store(pack(NOBODY, end), Ordering::Relaxed);
                self.mark(name, Mark::Ends, end);
                return end;
            }
        }
    }

    /// Nanoseconds since the beginning; 0 before it.
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

    /// What happened on `host`. For when nobody works any more; `None` where it was more than there was room
    /// for.
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
        // A thread may be held between seeing what happened and noting it.
        marks.sort_by_key(|(at, _, _)| *at);
        Some(record(host, &marks))
    }
}

fn record(host: u8, marks: &[(u64, u8, Mark)]) -> Record {
    let mut record = Record::default();
    // Where each thread's run began.
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
    fn work_alone_is_one_run_and_takes_its_time() {
        let processor = processor();
        let began = processor.now();
        let end = processor.work(1, 3 * MS, Counted::AllSince(began));
        assert!(end >= began + 3 * MS && processor.now() >= end);
        let record = processor.record(2).unwrap();
        let [run] = record.runs[..] else {
            panic!("{record:?}")
        };
        assert_eq!((run.host, run.thread, run.ended, run.to), (2, 1, true, end));
    }

    #[test]
    fn time_that_it_could_have_worked_counts_but_not_that_before() {
        let processor = processor();
        processor.work(1, MS, Counted::OwnTime);
        // Ready 2 ms before it began: these are done.
        let ready = processor.now();
        while processor.now() < ready + 2 * MS {}
        assert_eq!(
            processor.work(2, 2 * MS, Counted::AllSince(ready)),
            ready + 2 * MS
        );
        let ready = processor.now();
        assert!(processor.work(3, MS, Counted::AllSince(ready)) >= ready + MS);
    }

    #[test]
    fn whoever_takes_over_notes_that_the_other_one_is_suspended() {
        let cpu = affinity::current().iter().next().unwrap();
        let processor = Arc::new(processor());
        // Two ordinary threads on one CPU: the kernel takes turns.
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
    fn a_hole_is_told_and_counts_as_work() {
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
