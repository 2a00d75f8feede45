//! Kernel events and records of distributable threads for tests.

use punctual_flight::{Event, Record, ThreadRecords};

use crate::distributable::Location;
use crate::event::{KernelEvent, Level, Task, ThreadId, What};

/// Tracking thread at one host.
pub(crate) const RADAR: Location = Location {
    process: 100,
    thread: 101,
};

/// Thread that it calls, at another host.
pub(crate) const LANE: Location = Location {
    process: 200,
    thread: 205,
};

pub(crate) fn task(thread: ThreadId, level: u8) -> Task {
    Task {
        thread,
        level: Level(level),
    }
}

/// Idle thread.
pub(crate) fn idle() -> Task {
    task(0, 0)
}

pub(crate) fn event(time_ns: u64, cpu: u32, what: What) -> KernelEvent {
    KernelEvent { time_ns, cpu, what }
}

/// Returns a switch of the CPU from a thread, runnable or not, to another one.
pub(crate) fn switch(
    time_ns: u64,
    cpu: u32,
    previous: Task,
    still_runnable: bool,
    next: Task,
) -> KernelEvent {
    event(
        time_ns,
        cpu,
        What::Switch {
            previous,
            still_runnable,
            next,
        },
    )
}

pub(crate) fn blocks(time_ns: u64, cpu: u32, previous: Task, next: Task) -> KernelEvent {
    switch(time_ns, cpu, previous, false, next)
}

pub(crate) fn preempts(time_ns: u64, cpu: u32, previous: Task, next: Task) -> KernelEvent {
    switch(time_ns, cpu, previous, true, next)
}

pub(crate) fn waking(time_ns: u64, at: u32, task: Task, cpu: u32) -> KernelEvent {
    event(time_ns, at, What::Waking { task, cpu })
}

pub(crate) fn woken(time_ns: u64, at: u32, task: Task, cpu: u32) -> KernelEvent {
    event(time_ns, at, What::Woken { task, cpu })
}

/// Returns the records of an OS thread that carries distributable threads.
pub(crate) fn carrier<const N: usize>(
    location: Location,
    name: &str,
    records: [Vec<Record>; N],
) -> ThreadRecords {
    ThreadRecords {
        process: location.process,
        process_name: format!("host-{}", location.process),
        thread: location.thread,
        name: name.to_owned(),
        records: records.concat(),
        overwritten: 0,
        operations: Vec::new(),
    }
}

/// Returns a record of the distributable thread with that id.
pub(crate) fn noted(time_ns: u64, event: Event, id: u64) -> Vec<Record> {
    let record = Record::new(event).detail(id);
    vec![Record { time_ns, ..record }]
}

/// Returns the start of a segment.
pub(crate) fn named(time_ns: u64, id: u64, name: &str) -> Vec<Record> {
    let text = Record::of_text(Event::SegmentName, name);
    [
        noted(time_ns, Event::SegmentBegin, id),
        vec![Record { time_ns, ..text }],
    ]
    .concat()
}
