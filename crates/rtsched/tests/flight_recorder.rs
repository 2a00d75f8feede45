//! What the flight recorder notes of a distributable thread, on both hosts, so that one track can be drawn of it; and that this
//! allocates nothing.
//!
//! One test: the recorder is on or off for the whole process.

#[path = "threads/hosts.rs"]
#[allow(dead_code)]
mod hosts;

use std::{io::Write, path::PathBuf};

use punctual_flight::{Event, Record, Settings};
use punctual_os::{CountingAllocator, TaskId, alloc_counter::count_allocations};
use punctual_rtsched::SchedulingError;

use crate::hosts::{Host, eventually, importance};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_distributable_thread_leaves_its_records_wherever_it_is() {
    let folder = Folder(format!("/dev/shm/punctual-test-threads-{}", std::process::id()).into());
    let started =
        std::fs::create_dir(&folder.0).and_then(|()| punctual_flight::start(&Settings::new(&folder.0)));
    if let Err(error) = started {
        let _ = writeln!(std::io::stderr(), "skipped: {error}");
        return;
    }
    let (client, server) = (Host::new(), Host::new());
    let worker = server.serve_with(1, |_| Ok(TaskId::current_thread().get()));
    let worker = client.resolve(&worker);
    let current = client.scheduling.current();
    let call = || {
        let result = current.segment("track", importance(5), |_| {
            Ok::<_, SchedulingError>((current.id()?, worker.work(0)?))
        });
        result.unwrap()
    };
    let mut last = call();
    (0..20).for_each(|_| last = call());
    let ((), allocations) = count_allocations(|| (0..50).for_each(|_| last = call()));
    assert_eq!(allocations, 0);
    let (id, lane) = last;
    eventually("it has left", || server.scheduling.threads() == 0);

    let threads = punctual_flight::read_folder(&folder.0).unwrap();
    let of = |thread: i32| -> Vec<Event> {
        let found = threads.iter().find(|found| found.thread == thread).unwrap();
        let own = |record: &&Record| record.detail == id.0 as u64;
        found
            .records
            .iter()
            .filter(own)
            .map(|record| record.event)
            .collect()
    };
    use Event::*;
    assert_eq!(
        of(TaskId::current_thread().get()),
        [
            SegmentBegin,
            DistributableThreadResumed,
            DistributableThreadSuspended,
            DistributableThreadSent,
            DistributableThreadReceived,
            DistributableThreadResumed,
            SegmentEnd,
            DistributableThreadSuspended,
        ]
    );
    assert_eq!(
        of(lane),
        [
            DistributableThreadReceived,
            DistributableThreadResumed,
            SegmentEnd,
            DistributableThreadSuspended,
        ]
    );
}
