//! Calls whose results are delivered to handlers, and calls that are polled.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use punctual::{
    CallbackQueue, Callbacks, LaneWait, Limits, Minor, OrbError, Priority, QueueLimits, SystemException,
    SystemExceptionKind as Kind, ThreadPool,
};
use punctual_fixtures::{LONG, eventually, priority, server::Server};

use super::{Client, answer, requests};

const SOON: Duration = Duration::from_millis(20);

type Results = Arc<Mutex<Vec<Result<i32, SystemException>>>>;

fn note(results: &Results) -> impl FnOnce(Result<i32, SystemException>) + Send + 'static {
    let results = Arc::clone(results);
    move |result| results.lock().unwrap().push(result)
}

/// A pool that reads the replies of calls of any priority.
fn reads_all(client: &Client) -> ThreadPool {
    let pool = client.orb.threadpool().lane(Priority::MAX, 1).build().unwrap();
    client.orb.set_reply_threadpool(&pool).unwrap();
    pool
}

fn take(results: &Results) -> Vec<Result<i32, SystemException>> {
    std::mem::take(&mut *results.lock().unwrap())
}

/// Three calls at different priorities end before any handler runs.
#[test]
fn the_highest_priority_runs_first_and_at_its_priority() {
    let client = Client::start();
    let replies = reads_all(&client);
    let (listener, probe) = client.playing();
    let (callbacks, queue) = client.orb.callbacks(8);
    let seen = Arc::new(Mutex::new(Vec::new()));
    for (value, of_call) in [(1, 10), (2, 30), (3, 20), (4, 30)] {
        client.orb.current().set_priority(priority(of_call)).unwrap();
        let call = probe.twice_async(value);
        assert_eq!(call.priority(), Some(priority(of_call)));
        let (seen, orb) = (Arc::clone(&seen), client.orb.clone());
        let handler = move |result: Result<i32, _>| {
            let at = orb.current().priority().unwrap();
            seen.lock().unwrap().push((result.unwrap(), at));
        };
        callbacks.deliver(call, handler).unwrap();
    }
    client.orb.current().set_priority(priority(5)).unwrap();
    let mut peer = listener.accept();
    assert!(!queue.deliver_next(SOON), "none has ended");
    for request in requests(&mut peer, 4) {
        peer.send(&answer(&request));
    }
    eventually("all have ended", || replies.statistics()[0].1.replies == 4);
    assert_eq!(callbacks.outstanding(), 4);
    for _ in 0..4 {
        assert!(queue.deliver_next(LONG));
    }
    assert!(!queue.deliver_next(SOON));
    assert_eq!(callbacks.outstanding(), 0);
    let order = [(4, 30), (8, 30), (6, 20), (2, 10)].map(|(result, at)| (result, priority(at)));
    assert_eq!(*seen.lock().unwrap(), order);
    assert_eq!(
        client.orb.current().priority(),
        Ok(priority(5)),
        "the thread has its own again"
    );
}

/// On the lanes of a pool: the lowest that is not below the call, on its threads.
#[test]
fn lanes_run_handlers_at_their_priorities() {
    let (server, client) = (Server::start(), Client::start());
    let probe = server.reference_for(&client.orb);
    let _replies = reads_all(&client);
    let pool = client.orb.threadpool();
    let pool = pool.lane(priority(10), 1).lane(priority(20), 1).build().unwrap();
    let callbacks = pool.callbacks(4).unwrap();
    let (sender, seen) = mpsc::channel();
    for (of_call, lane) in [(5, "-10"), (10, "-10"), (11, "-20"), (20, "-20")] {
        client.orb.current().set_priority(priority(of_call)).unwrap();
        let (sender, orb, other) = (sender.clone(), client.orb.clone(), probe.clone());
        let handler = move |result: Result<i32, SystemException>| {
            let name = thread::current().name().unwrap_or_default().to_owned();
            // A handler may call.
            let sum = result.unwrap() + other.twice(100).unwrap();
            sender
                .send((sum, orb.current().priority().unwrap(), name))
                .unwrap();
        };
        callbacks
            .deliver(probe.twice_async(of_call.into()), handler)
            .unwrap();
        let (sum, at, name) = seen.recv_timeout(LONG).unwrap();
        assert_eq!((sum, at), (2 * i32::from(of_call) + 200, priority(of_call)));
        assert!(name.contains(lane), "{name} for {of_call}");
    }
    client.orb.current().set_priority(priority(21)).unwrap();
    let refused = callbacks.deliver(probe.twice_async(1), |_| ()).unwrap_err();
    let reason = (refused.exception.kind, refused.exception.minor);
    assert_eq!(reason, (Kind::InvPolicy, Minor::NO_LANE_FOR_CALLBACK));
    assert_eq!(refused.call.wait(), Ok(2), "the call itself continues");
    client.orb.current().set_priority(Priority::MIN).unwrap();
    // Lanes whose threads do not wait in a poller.
    let buffering = client
        .orb
        .threadpool()
        .request_buffering(QueueLimits::default())
        .build()
        .unwrap();
    let blocking = client.orb.threadpool().wait(LaneWait::Blocking).build().unwrap();
    for pool in [buffering, blocking] {
        assert!(matches!(
            pool.callbacks(1),
            Err(OrbError::CallbacksNeedPolledLanes)
        ));
    }
}

#[test]
fn there_is_room_for_so_many() {
    let (server, client) = (Server::start(), Client::start());
    let probe = server.reference_for(&client.orb);
    let (callbacks, queue) = client.orb.callbacks(2);
    let results = Results::default();
    for value in [1, 2] {
        callbacks
            .deliver(probe.twice_async(value), note(&results))
            .unwrap();
    }
    let refused = callbacks
        .deliver(probe.twice_async(3), note(&results))
        .unwrap_err();
    assert_eq!(
        (refused.exception.kind, refused.exception.minor),
        (Kind::Transient, Minor::CALLBACKS_FULL)
    );
    assert_eq!(refused.call.wait(), Ok(6));
    assert!(queue.deliver_next(LONG));
    callbacks.deliver(probe.twice_async(4), note(&results)).unwrap();
    assert!(queue.deliver_next(LONG) && queue.deliver_next(LONG) && !queue.deliver_next(SOON));
    let mut delivered = take(&results);
    delivered.sort_by_key(|result| *result.as_ref().unwrap());
    assert_eq!(delivered, [Ok(2), Ok(4), Ok(8)]);
}

/// Never by the calling thread, even if the call has ended already.
#[test]
fn errors_and_results_that_are_there_are_delivered_like_others() {
    let (server, client) = (Server::start(), Client::start());
    let (callbacks, queue) = server.orb.callbacks(8);
    let results = Results::default();
    // Of the same ORB: executed at once.
    callbacks
        .deliver(server.probe.twice_async(4), note(&results))
        .unwrap();
    assert!(take(&results).is_empty());
    assert!(queue.deliver_next(LONG));
    assert_eq!(take(&results), [Ok(8)]);
    // Of a server that is gone.
    let (listener, probe) = client.playing();
    drop(listener);
    callbacks.deliver(probe.twice_async(4), note(&results)).unwrap();
    assert!(queue.deliver_next(LONG));
    assert_eq!(take(&results)[0].unwrap_err().kind, Kind::Transient);
    // Of one that says nothing.
    let (_listener, probe) = client.playing();
    let limited = punctual::PolicyOverrides::new().roundtrip_timeout(SOON);
    let limited: punctual_fixtures::conformance::ProbeRef = probe.with_policies(limited).unchecked();
    callbacks.deliver(limited.twice_async(4), note(&results)).unwrap();
    assert!(queue.deliver_next(LONG));
    assert_eq!(take(&results)[0].unwrap_err().kind, Kind::Timeout);
}

#[test]
fn the_end_of_a_client_is_delivered() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let (callbacks, queue) = client.orb.callbacks(8);
    let results = Results::default();
    callbacks.deliver(probe.twice_async(4), note(&results)).unwrap();
    let mut peer = listener.accept();
    requests(&mut peer, 1);
    client.orb.shutdown();
    assert!(queue.deliver_next(LONG));
    assert!(take(&results)[0].is_err());
}

#[test]
fn a_panic_ends_nothing_else_and_a_dropped_queue_drops_its_handlers() {
    let (server, client) = (Server::start(), Client::start());
    let probe = server.reference_for(&client.orb);
    let (callbacks, queue) = client.orb.callbacks(8);
    let results = Results::default();
    callbacks
        .deliver(probe.twice_async(1), |_| panic!("as the test wishes"))
        .unwrap();
    assert!(queue.deliver_next(LONG));
    callbacks.deliver(probe.twice_async(2), note(&results)).unwrap();
    assert!(queue.deliver_next(LONG));
    assert_eq!(take(&results), [Ok(4)]);
    callbacks.deliver(probe.twice_async(3), note(&results)).unwrap();
    drop(queue);
    eventually("its handler is dropped", || Arc::strong_count(&results) == 1);
    assert!(take(&results).is_empty());
    let refused = callbacks.deliver(probe.twice_async(5), |_| ()).unwrap_err();
    assert_eq!(refused.call.wait(), Ok(10));
    eventually("nothing is left", || callbacks.outstanding() == 0);
}

/// Thousands of calls over two servers, handlers on two threads: each runs once.
#[test]
fn a_flood() {
    const CALLS: i32 = 4_000;
    let limits = Limits::default().max_shared_calls(10_000);
    let (server, client) = (Server::start(), Client::with(limits));
    let probe = server.reference_for(&client.orb);
    let (callbacks, queue): (Callbacks, CallbackQueue) = client.orb.callbacks(CALLS as usize);
    let results = Results::default();
    thread::scope(|scope| {
        let runs: Vec<_> = (0..2).map(|_| scope.spawn(|| queue.run())).collect();
        for value in 0..CALLS {
            callbacks
                .deliver(probe.twice_async(value), note(&results))
                .unwrap();
        }
        eventually("all have run", || results.lock().unwrap().len() == CALLS as usize);
        assert!(runs.iter().all(|run| !run.is_finished()));
        queue.close();
    });
    let mut values: Vec<i32> = take(&results).into_iter().map(Result::unwrap).collect();
    values.sort_unstable();
    assert_eq!(values, (0..CALLS).map(|value| 2 * value).collect::<Vec<_>>());
    assert_eq!(callbacks.outstanding(), 0);
}

#[test]
fn a_call_is_polled_with_a_timeout() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let call = probe.twice_async(7);
    let mut peer = listener.accept();
    let due = requests(&mut peer, 1);
    let mut call = call.wait_within(SOON).expect_err("no reply has arrived");
    assert!(!call.is_ready());
    peer.send(&answer(&due[0]));
    assert_eq!(call.wait_within(LONG).expect("it has ended"), Ok(14));
}
