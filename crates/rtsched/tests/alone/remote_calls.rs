//! Allocations of a call that takes a distributable thread to another host.

use punctual_os::alloc_counter;
use punctual_rtsched::SchedulingError;

use crate::{
    host::{Host, IMPORTANCE},
    tracker::{COUNT, Tracker, TrackerRef},
};

pub fn a_call_with_a_thread_allocates_nothing_at_either_host() {
    assert!(alloc_counter::installed());
    let (first, second) = (Host::new(), Host::new());
    // One thread, so that all calls are served by the same one.
    let pool = second.orb.threadpool().threads(1).build().unwrap();
    let adapter = second
        .orb
        .root_poa()
        .child("counting")
        .threadpool(&pool)
        .build()
        .unwrap();
    let tracker: TrackerRef = adapter.activate(Tracker::new(&second.scheduling)).unwrap();
    let by: TrackerRef = first
        .orb
        .resolve(&punctual_stub::Interface::as_object(&tracker).to_ior())
        .unwrap();
    let round = || {
        first
            .scheduling
            .current()
            .segment_with_implicit("track", IMPORTANCE, IMPORTANCE, |segment| {
                segment.update(IMPORTANCE)?;
                Ok::<_, SchedulingError>(by.track(COUNT)?)
            })
    };
    for _ in 0..50 {
        round().unwrap();
    }
    let ((before, after), here) = alloc_counter::count_allocations(|| {
        let before = round().unwrap();
        for _ in 0..200 {
            round().unwrap();
        }
        (before, round().unwrap())
    });
    assert_eq!((here, after - before), (0, 0));
}
