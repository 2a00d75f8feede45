//! Distributable threads over several hosts: each test host is an ORB with a scheduling of its own; some are processes of their own.

mod cancellation;
mod contexts;
mod dead_hosts;
mod host;
mod steady_state;
mod tracker;

use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: punctual_os::CountingAllocator = punctual_os::CountingAllocator;

/// More than any of these tests needs on a machine that is not stuck.
const LONG: Duration = Duration::from_secs(30);

/// Waits until it is so.
fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < until, "it never came to this: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
