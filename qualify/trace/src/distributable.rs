//! Distributable threads, put together from what the threads that carried them recorded, in all processes.

use std::collections::{HashMap, HashSet};

use punctual_flight::{Event, ThreadRecords};

use crate::event::ThreadId;

mod history;

/// One distributable thread, as far as it was recorded. Times in nanoseconds of the monotonic clock.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DistributableThread {
    /// The lower half of its id.
    pub id: u64,
    /// What its first segment is called.
    pub name: String,
    /// Who spawned it, also by a oneway or an asynchronous call.
    pub spawned: Option<Spawned>,
    /// What it did. Spans that overlap lie in each other; the outer one comes first.
    pub spans: Vec<Span>,
    /// Where it went from one OS thread to another by a call, and back: out of the span before it, into the one after it.
    pub hops: Vec<Hop>,
}

/// One distributable thread has spawned another one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Spawned {
    /// The lower half of its id.
    pub by: u64,
    /// When.
    pub at_ns: u64,
}

/// Where a distributable thread is: the OS thread that carries it.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Place {
    /// The process: a host, where the hosts are of one machine.
    pub process: i32,
    /// The OS thread.
    pub thread: ThreadId,
}

/// What a distributable thread did for a while.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Span {
    /// From then.
    pub from_ns: u64,
    /// Until then; where that was not recorded, until the end of the recording.
    pub until_ns: u64,
    /// There.
    pub place: Place,
    /// What.
    pub what: Doing,
}

/// What a distributable thread does.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Doing {
    /// It is in a segment of that name. `arrives`: the first one since it came to this OS thread.
    Segment {
        /// The segment's name.
        name: String,
        /// Whether it is the outermost one of this stay.
        arrives: bool,
        /// When its parameters were updated.
        updated_ns: Vec<u64>,
    },
    /// A call has taken it elsewhere.
    Call,
    /// The scheduler lets it run.
    Running,
    /// The scheduler keeps it from running, or it waits.
    Suspended,
    /// It is there, and whether it runs is left to the kernel.
    Present,
}

/// From one OS thread to another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hop {
    /// It left there, then.
    pub from: (Place, u64),
    /// It arrived there, then.
    pub to: (Place, u64),
    /// Whether it returns from a call.
    pub returns: bool,
}

/// All distributable threads that were recorded, in the order in which they began. Segments that were open when recording began,
/// or whose records have been overwritten, are left out.
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
    /// When it began, or came into the recording.
    pub fn begin_ns(&self) -> u64 {
        self.spans.first().map_or(0, |span| span.from_ns)
    }

    /// When it ended, or the recording did.
    pub fn end_ns(&self) -> u64 {
        self.spans.iter().map(|span| span.until_ns).max().unwrap_or(0)
    }

    /// For how long it did that.
    pub fn total_ns(&self, doing: &Doing) -> u64 {
        let spans = self.spans.iter().filter(|span| span.what == *doing);
        spans.map(|span| span.until_ns - span.from_ns).sum()
    }
}

/// What became of one distributable thread on one OS thread.
#[derive(Clone, Debug)]
struct Moment {
    at_ns: u64,
    place: Place,
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
    let place = Place {
        process: thread.process,
        thread: thread.thread,
    };
    // Those in whose segments the OS thread is, the innermost last.
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
        add(id, Moment { at_ns, place, what });
    }
}

/// The processes in which a scheduler says who runs; in the others the kernel does.
fn scheduled(threads: &[ThreadRecords]) -> HashSet<i32> {
    let says = |thread: &&ThreadRecords| {
        let resumed = Event::DistributableThreadResumed;
        thread.records.iter().any(|record| record.event == resumed)
    };
    threads.iter().filter(says).map(|thread| thread.process).collect()
}

#[cfg(test)]
mod tests;
