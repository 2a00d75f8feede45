//! Reconstruction of distributable threads from the flight records of their OS threads in all processes.

use std::collections::{HashMap, HashSet};

use punctual_flight::{Event, ThreadRecords};

use crate::event::ThreadId;

mod history;

/// Distributable thread, as far as recorded. Times are in nanoseconds of the monotonic clock.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DistributableThread {
    /// Lower half of its id.
    pub id: u64,
    /// Name of its first segment.
    pub name: String,
    /// Thread that spawned it, by a spawn, a oneway call or an asynchronous call.
    pub spawned: Option<Spawned>,
    /// Its activities. Overlapping spans are nested; the outer one comes first.
    pub spans: Vec<Span>,
    /// Its moves between OS threads by calls and replies, from the preceding span to the following one.
    pub hops: Vec<Hop>,
}

/// Spawning of a distributable thread by another one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Spawned {
    /// Lower half of its id.
    pub by: u64,
    /// Time.
    pub at_ns: u64,
}

/// Location of a distributable thread: the OS thread that carries it.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Location {
    /// Process: a host, if the hosts are on one machine.
    pub process: i32,
    /// OS thread.
    pub thread: ThreadId,
}

/// Activity of a distributable thread in an interval.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Span {
    /// Start.
    pub from_ns: u64,
    /// End; the end of the recording if not recorded.
    pub until_ns: u64,
    /// Location.
    pub location: Location,
    /// Activity.
    pub what: Doing,
}

/// Activity of a distributable thread.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Doing {
    /// It is in a segment. `arrives`: the first one since it came to this OS thread.
    Segment {
        /// Name of the segment.
        name: String,
        /// Whether it is the outermost one at this location.
        arrives: bool,
        /// Times at which its parameters were updated.
        updated_ns: Vec<u64>,
    },
    /// A call has moved it elsewhere.
    Call,
    /// It runs, by the scheduler's decision.
    Running,
    /// It is suspended by the scheduler, or waits.
    Suspended,
    /// It is present; the kernel decides whether it runs.
    Present,
}

/// Move from one OS thread to another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hop {
    /// Location and time of departure.
    pub from: (Location, u64),
    /// Location and time of arrival.
    pub to: (Location, u64),
    /// Whether it is a return from a call.
    pub returns: bool,
}

/// Returns all recorded distributable threads in the order of their start. Segments that were open when
/// recording started, or whose records have been overwritten, are omitted.
pub fn distributable_threads(threads: &[ThreadRecords]) -> Vec<DistributableThread> {
    let mut moments: HashMap<u64, Vec<Moment>> = HashMap::new();
    let mut spawned = HashMap::new();
    for thread in threads {
        moments_of(thread, |id, moment| match moment.what {
            What::Spawns(child) => {
                let at_ns = moment.at_ns;
                spawned.insert(child, Spawned { by: id, at_ns });
            }
            _ => moments.entry(id).or_default().push(moment),
        });
    }
    let end_ns = threads.iter().filter_map(|thread| thread.records.last());
    let end_ns = end_ns.map(|record| record.time_ns).max().unwrap_or(0);
    let scheduled = scheduled(threads);
    let mut found: Vec<_> = moments
        .into_iter()
        .filter_map(|(id, mut moments)| {
            moments.sort_by_key(|moment| moment.at_ns);
            let mut thread = history::history(&moments, &scheduled, end_ns)?;
            thread.id = id;
            thread.spawned = spawned.get(&id).copied();
            Some(thread)
        })
        .collect();
    found.sort_by_key(|thread| (thread.begin_ns(), thread.id));
    found
}

impl DistributableThread {
    /// Returns its start, or the time of its first record.
    pub fn begin_ns(&self) -> u64 {
        self.spans.first().map_or(0, |span| span.from_ns)
    }

    /// Returns its end, or that of the recording.
    pub fn end_ns(&self) -> u64 {
        self.spans.iter().map(|span| span.until_ns).max().unwrap_or(0)
    }

    /// Returns the total time in which it had an activity.
    pub fn total_ns(&self, doing: &Doing) -> u64 {
        let spans = self.spans.iter().filter(|span| span.what == *doing);
        spans.map(|span| span.until_ns - span.from_ns).sum()
    }
}

/// Record of one distributable thread on one OS thread.
#[derive(Clone, Debug)]
struct Moment {
    at_ns: u64,
    location: Location,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Begins(String),
    Updates,
    Ends,
    Leaves,
    Returns,
    Resumed,
    Suspended,
    Spawns(u64),
}

fn moments_of(thread: &ThreadRecords, mut add: impl FnMut(u64, Moment)) {
    let location = Location {
        process: thread.process,
        thread: thread.thread,
    };
    // Distributable threads in whose segments the OS thread is, innermost last.
    let mut open: Vec<u64> = Vec::new();
    let mut records = thread.records.iter().peekable();
    while let Some(record) = records.next() {
        let (mut id, at_ns) = (record.detail, record.time_ns);
        let what = match record.event {
            Event::SegmentBegin => {
                open.push(id);
                let name = records.next_if(|next| next.event == Event::SegmentName);
                What::Begins(name.map_or_else(|| "segment".to_owned(), |name| name.text()))
            }
            Event::SegmentEnd => {
                open.pop();
                What::Ends
            }
            Event::SegmentUpdate => What::Updates,
            Event::DistributableThreadSent => What::Leaves,
            Event::DistributableThreadReturned => What::Returns,
            Event::DistributableThreadResumed => What::Resumed,
            Event::DistributableThreadSuspended => What::Suspended,
            Event::DistributableThreadSpawned => {
                let Some(parent) = open.last() else { continue };
                What::Spawns(std::mem::replace(&mut id, *parent))
            }
            _ => continue,
        };
        add(
            id,
            Moment {
                at_ns,
                location,
                what,
            },
        );
    }
}

/// Returns the processes in which a scheduler decides what runs; in the others the kernel does.
fn scheduled(threads: &[ThreadRecords]) -> HashSet<i32> {
    let decides = |thread: &&ThreadRecords| {
        let resumed = Event::DistributableThreadResumed;
        thread.records.iter().any(|record| record.event == resumed)
    };
    threads
        .iter()
        .filter(decides)
        .map(|thread| thread.process)
        .collect()
}

#[cfg(test)]
mod tests;
