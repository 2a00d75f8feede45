//! What a call allocates, after warm-up: a bounded number of times, and nothing that grows.

use std::task::Waker;

use punctual_conformance::server::Server;
use punctual_os::alloc_counter::count_allocations;

use super::{Client, block_on, poll_with};

const CALLS: u64 = 100;

fn allocations(mut call: impl FnMut()) -> u64 {
    (0..10).for_each(|_| call());
    let ((), count) = count_allocations(|| (0..CALLS).for_each(|_| call()));
    count
}

#[test]
fn a_call_allocates_itself_and_its_arguments() {
    let (server, client) = (Server::start(), Client::start());
    let probe = server.reference_for(&client.orb);
    let with_arguments = allocations(|| assert_eq!(probe.twice_async(21).wait(), Ok(42)));
    assert_eq!(with_arguments, 2 * CALLS);
    let without = allocations(|| assert_eq!(probe.noted_async().wait(), Ok(0)));
    assert_eq!(without, CALLS);
    // The waker of `block_on`, in addition.
    let awaited = allocations(|| assert_eq!(block_on(probe.twice_async(21)), Ok(42)));
    assert_eq!(awaited, 3 * CALLS);
    let polled = allocations(|| {
        let mut call = probe.twice_async(21);
        while poll_with(&mut call, Waker::noop()).is_pending() {
            std::thread::yield_now();
        }
    });
    assert_eq!(polled, 2 * CALLS);
    let dropped = allocations(|| drop(probe.noted_async()));
    assert_eq!(dropped, CALLS);
    assert_eq!(
        allocations(|| assert_eq!(server.probe.twice_async(1).wait(), Ok(2))),
        0,
        "of the same ORB"
    );
}
