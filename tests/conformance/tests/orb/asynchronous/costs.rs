//! Cost of a call after warm-up: a bounded number of allocations, and system calls of its caller.

use std::task::Waker;

use punctual::Priority;
use punctual_fixtures::{eventually, server::Server, skip_error};
use punctual_os::{TaskId, alloc_counter::count_allocations};
use punctual_system::perf::Counter;

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

/// Taking the reply, once it is there, costs none.
#[test]
fn the_caller_makes_one_system_call() {
    const AT_A_TIME: usize = 50;
    let (server, client) = (Server::start(), Client::start());
    let probe = server.reference_for(&client.orb);
    // Without one, each call asks the kernel for the thread's: one system call more.
    client.orb.current().set_priority(Priority::MIN).unwrap();
    let mut calls = Vec::with_capacity(AT_A_TIME);
    let mut count = |counter: &Counter| {
        let before = client.seen().replies;
        counter.enable().unwrap();
        calls.extend((0..).map(|value| probe.twice_async(value)).take(AT_A_TIME));
        counter.disable().unwrap();
        let started = counter.read().unwrap();
        eventually("all replies are there", || {
            client.seen().replies == before + AT_A_TIME as u64
        });
        counter.reset().unwrap();
        counter.enable().unwrap();
        for (value, call) in (0..).zip(calls.drain(..)) {
            assert_eq!(call.wait(), Ok(2 * value));
        }
        counter.disable().unwrap();
        let taken = counter.read().unwrap();
        counter.reset().unwrap();
        // Without the calls that pause the counter.
        (started - 1, taken - 1)
    };
    match Counter::syscalls(TaskId::current_thread(), false) {
        Ok(counter) => {
            count(&counter);
            let (started, taken) = count(&counter);
            // A few more where both threads want the table's lock at the same time.
            let slack = AT_A_TIME as u64 / 10;
            let each = AT_A_TIME as u64;
            assert!((each..=each + slack).contains(&started), "{started}");
            assert!(taken <= slack, "{taken}");
        }
        Err(error) => skip_error(&error),
    }
}
