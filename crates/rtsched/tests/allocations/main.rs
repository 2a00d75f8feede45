//! Allocations of distributable threads after warm-up, and the limit on keys: tests that need the process to
//! themselves.

#[path = "../rtsched/remote/host.rs"]
#[allow(dead_code, reason = "a part of it is for other tests")]
mod host;
#[path = "../rtsched/threads/hosts.rs"]
#[allow(dead_code, reason = "a part of it is for other tests")]
mod hosts;
mod keys;
mod remote_calls;
mod resources;
mod storage;
mod threads;
#[path = "../rtsched/remote/tracker.rs"]
#[allow(dead_code, reason = "a part of it is for other tests")]
mod tracker;

use punctual_os::{
    CountingAllocator, PiMutex,
    alloc_counter::{count_allocations, installed},
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Held by each test: the pool of thread storage and the keys belong to the process.
static ALONE: PiMutex<()> = punctual_os::lock::mutex(());

const ROUNDS: usize = 2_000;

/// Returns the number of allocations of many rounds after a few.
fn after_warm_up(mut round: impl FnMut()) -> u64 {
    assert!(installed());
    (0..20).for_each(|_| round());
    count_allocations(|| (0..ROUNDS).for_each(|_| round())).1
}
