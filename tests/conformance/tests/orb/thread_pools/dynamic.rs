//! Dynamic threads: made when the last one that waits goes into an upcall, up to the bound, and not before.

use std::{thread, time::Duration};

use punctual::ThreadLifetime;
use punctual_fixtures::{
    eventually,
    server::{Server, client},
};

use super::{Shape, prefix, threads_of, wait_at_gate};

const BURST: Duration = Duration::from_millis(50);

#[test]
fn threads_are_made_one_at_a_time_up_to_the_bound() {
    let server = Server::with_pool(|pool| pool.threads(1).dynamic_threads(2));
    let client = client();
    let probe = server.reference_for(&client);
    let pool = prefix(&server);
    // The first request has left no thread waiting.
    assert_eq!(
        (server.seen(0).threads.present, server.seen(0).threads.dynamic),
        (2, 1)
    );
    thread::scope(|scope| {
        for (calls, threads) in [(1, 2), (2, 3), (3, 3)] {
            wait_at_gate(scope, &client, &probe, None, calls);
            server.hooks.await_at_gate(calls as usize);
            let now = server.seen(0);
            assert_eq!(
                (now.threads.present, now.threads.busy),
                (threads, calls as usize),
                "{calls} calls"
            );
        }
        // The bound is reached: these wait in the kernel.
        let late: Vec<_> = (4..7)
            .map(|value| wait_at_gate(scope, &client, &probe, None, value))
            .collect();
        thread::sleep(BURST);
        assert_eq!(server.hooks.arrived_at_gate(), 3);
        assert!(!late.iter().any(|call| call.is_finished()));
        assert_eq!(threads_of(&pool), [0, 1, 2].map(|n| format!("{pool}0.{n}")));
        server.hooks.open_gate();
    });
    let after = server.seen(0);
    assert_eq!(
        (
            after.threads.present,
            after.threads.dynamic,
            after.threads.failures
        ),
        (3, 2, 0)
    );
    assert_eq!(server.hooks.arrived_at_gate(), 6, "nothing is lost");
}

#[test]
fn without_dynamic_threads_there_are_the_static_ones() {
    let server = Server::with_pool(|pool| pool.threads(2));
    let client = client();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        (1..5).for_each(|value| drop(wait_at_gate(scope, &client, &probe, None, value)));
        server.hooks.await_at_gate(2);
        thread::sleep(BURST);
        assert_eq!(server.hooks.arrived_at_gate(), 2);
        server.hooks.open_gate();
    });
    assert_eq!(
        (server.seen(0).threads.present, server.seen(0).threads.dynamic),
        (2, 0)
    );
}

/// A limited lifetime: the static thread stays, the dynamic ones end, and are started again when they are
/// needed.
fn ends_and_comes_again(pool: Shape) {
    let server = Server::with_pool(pool);
    let client = client();
    let probe = server.reference_for(&client);
    let prefix = prefix(&server);
    eventually("the dynamic thread has ended", || {
        server.seen(0).threads.present == 1
    });
    eventually("and is gone", || threads_of(&prefix).len() == 1);
    let made = server.seen(0).threads.dynamic;
    assert_eq!(probe.twice(1), Ok(2), "the static one serves");
    eventually("another one was needed", || {
        server.seen(0).threads.dynamic == made + 1
    });
    eventually("and has ended", || server.seen(0).threads.present == 1);
    thread::scope(|scope| {
        for calls in 1..=3 {
            wait_at_gate(scope, &client, &probe, None, calls);
            server.hooks.await_at_gate(calls as usize);
        }
        // Long beyond their lives: who serves, and who is the only one that waits, stays.
        thread::sleep(BURST);
        assert_eq!(server.seen(0).threads.busy, 3);
        server.hooks.open_gate();
    });
    eventually("all dynamic ones have ended", || {
        server.seen(0).threads.present == 1
    });
}

#[test]
fn idle_threads_end() {
    ends_and_comes_again(|pool| {
        pool.dynamic_threads(3)
            .dynamic_lifetime(ThreadLifetime::IdleTimeout(Duration::from_millis(20)))
    });
}

#[test]
fn threads_end_after_their_time() {
    ends_and_comes_again(|pool| {
        pool.dynamic_threads(3)
            .dynamic_lifetime(ThreadLifetime::RunTime(Duration::from_millis(20)))
    });
}
