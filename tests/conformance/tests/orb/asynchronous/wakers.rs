//! Wakers: when they are called, by which thread, and what they may do.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, mpsc},
    task::{Wake, Waker},
    thread,
    time::{Duration, Instant},
};

use punctual::Limits;
use punctual_fixtures::{conformance::ProbeRef, eventually, server::Server};

use super::{Client, Count, TIMEOUT, Twice, answer, block_on, late, poll_with, requests};

#[test]
fn the_waker_of_the_last_poll_is_the_one() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let [(first, one), (second, other)] = [Count::new(), Count::new()];
    let mut call = probe.twice_async(1);
    for waker in [&one, &one, &other] {
        assert!(poll_with(&mut call, waker).is_pending());
    }
    drop(one);
    assert_eq!(Arc::strong_count(&first), 1, "it was let go of");
    let mut peer = listener.accept();
    let due = requests(&mut peer, 1);
    peer.send(&answer(&due[0]));
    eventually("it is woken", || second.get() == 1);
    assert_eq!(first.get(), 0);
    assert_eq!(call.wait(), Ok(2));

    // Who waits after having polled is woken, and not the task.
    let mut call = probe.twice_async(2);
    assert!(poll_with(&mut call, &other).is_pending());
    thread::scope(|scope| {
        let waiting = scope.spawn(|| call.wait());
        let due = requests(&mut peer, 1);
        // Nothing signals that it sleeps; if it does not yet, it finds the reply.
        thread::sleep(Duration::from_millis(50));
        peer.send(&answer(&due[0]));
        let start = Instant::now();
        assert_eq!(waiting.join().unwrap(), Ok(4));
        assert!(start.elapsed() < TIMEOUT, "its timeout woke it");
    });
    assert!(second.get() <= 2);
}

/// Looking from time to time is not waiting: the task is still to be told.
#[test]
fn looking_takes_no_waker_away() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let looks: [fn(&mut Twice) -> bool; 2] = [Twice::is_ready, |call| {
        call.is_ready_within(Duration::from_millis(20))
    }];
    let mut peer = None;
    for look in looks {
        let (count, waker) = Count::new();
        let mut call = probe.twice_async(1);
        assert!(poll_with(&mut call, &waker).is_pending());
        assert!(!look(&mut call));
        assert_eq!(count.get(), 0);
        let peer = peer.get_or_insert_with(|| listener.accept());
        let due = requests(peer, 1);
        peer.send(&answer(&due[0]));
        eventually("it is woken", || count.get() == 1);
        assert_eq!(call.wait(), Ok(2));

        // For its timeout, too.
        let prompt: ProbeRef = probe.with_timeout(Duration::from_millis(100)).unchecked();
        let mut call = prompt.twice_async(1);
        assert!(poll_with(&mut call, &waker).is_pending());
        assert!(!look(&mut call));
        eventually("it is woken again", || count.get() == 2);
        assert_eq!(call.wait(), Err(late()));
        requests(peer, 1);
    }
}

/// A waker that panics when it is dropped.
struct Clings;

impl Wake for Clings {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Clings {
    fn drop(&mut self) {
        // Without the message.
        std::panic::resume_unwind(Box::new("of a test"));
    }
}

/// The call is over then, and its place is free.
#[test]
fn a_waker_that_cannot_be_dropped_leaves_no_call_behind() {
    let client = Client::with(Limits::default().max_shared_calls(1));
    let (listener, probe) = client.playing();
    let mut call = probe.twice_async(1);
    assert!(poll_with(&mut call, &Waker::from(Arc::new(Clings))).is_pending());
    let replaced = catch_unwind(AssertUnwindSafe(|| poll_with(&mut call, Waker::noop())));
    assert!(replaced.is_err());
    drop(call);
    let call = probe.twice_async(2);
    let mut peer = listener.accept();
    let due = requests(&mut peer, 2);
    peer.send(&answer(&due[1]));
    assert_eq!(call.wait(), Ok(4));
}

/// Sends where it was woken.
struct Named(Mutex<mpsc::Sender<Option<String>>>);

impl Wake for Named {
    fn wake(self: Arc<Self>) {
        let name = thread::current().name().map(str::to_owned);
        self.0.lock().unwrap().send(name).unwrap();
    }
}

#[test]
fn the_thread_that_reads_the_reply_wakes() {
    let (server, client) = (Server::start(), Client::start());
    let probe = server.reference_for(&client.orb);
    let (sender, receiver) = mpsc::channel();
    let waker = Waker::from(Arc::new(Named(Mutex::new(sender))));
    let mut call = probe.wait_at_gate_async(1);
    assert!(poll_with(&mut call, &waker).is_pending());
    server.hooks.open_gate();
    let name = receiver.recv().unwrap().expect("all have names");
    assert_ne!(Some(&*name), thread::current().name());
    assert_eq!(call.wait(), Ok(1));
    let threads: Vec<_> = std::fs::read_dir("/proc/self/task")
        .unwrap()
        .map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default())
        .collect();
    // The kernel keeps 15 octets of a name.
    assert!(
        threads.iter().any(|comm| name.starts_with(comm.trim_end())),
        "{name}: {threads:?}"
    );
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("this panic belongs to a test");
    }
}

#[test]
fn a_waker_that_panics_takes_nothing_with_it() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let mut call = probe.twice_async(1);
    assert!(poll_with(&mut call, &Waker::from(Arc::new(Panics))).is_pending());
    let mut peer = listener.accept();
    let due = requests(&mut peer, 1);
    peer.send(&answer(&due[0]));
    eventually("it is there", || client.seen().replies == 1);
    assert_eq!(call.wait(), Ok(2));
    let call = probe.twice_async(2);
    let due = requests(&mut peer, 1);
    peer.send(&answer(&due[0]));
    assert_eq!(block_on(call), Ok(4), "the thread lives on");
}

/// A task that holds a call over the same connection, as tasks do: it ends with its last waker, wherever that
/// is dropped.
struct Task(Mutex<Option<Twice>>);

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        drop(self.0.lock().unwrap().take());
    }
}

#[test]
fn wakers_may_own_calls() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let task = |value| Arc::new(Task(Mutex::new(Some(probe.twice_async(value)))));
    let mut calls = [1, 2, 3].map(|value| probe.twice_async(value));
    for (value, call) in (10..).zip(&mut calls) {
        // The slot has the only one.
        assert!(poll_with(call, &Waker::from(task(value))).is_pending());
    }
    let mut peer = listener.accept();
    let due = requests(&mut peer, 6);
    let [woken, replaced, _] = &mut calls;
    let due_for = |value| {
        due.iter()
            .find(|request| request.request().body.i32() == value)
            .unwrap()
    };
    peer.send(&answer(due_for(1)));
    eventually("it is there", || woken.is_ready());
    assert!(poll_with(replaced, Waker::noop()).is_pending());
    let [woken, replaced, dropped] = calls;
    drop(dropped);
    peer.send(&answer(due_for(2)));
    assert_eq!((woken.wait(), replaced.wait()), (Ok(2), Ok(4)));
    for value in [10, 11, 12, 3] {
        peer.send(&answer(due_for(value)));
    }
    eventually("all others are late", || client.seen().late_replies == 4);
}

/// Futures begin on one thread, are polled on another, and end on a third, while others do the same.
#[test]
fn futures_go_from_thread_to_thread() {
    const THREADS: i32 = 4;
    const CALLS: i32 = 200;
    let server = Server::with_pool(|pool| pool.threads(3));
    let client = Client::with(Limits::default().max_shared_calls(4096));
    let probe = &server.reference_for(&client.orb);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (to_poll, polls) = mpsc::channel::<(i32, Twice)>();
            let (to_end, ends) = mpsc::channel::<(i32, Twice)>();
            scope.spawn(move || {
                for value in 0..CALLS {
                    let value = number * CALLS + value;
                    to_poll.send((value, probe.twice_async(value))).unwrap();
                }
            });
            scope.spawn(move || {
                for (value, mut call) in polls {
                    if let std::task::Poll::Ready(result) = poll_with(&mut call, Waker::noop()) {
                        assert_eq!(result, Ok(2 * value));
                    } else {
                        to_end.send((value, call)).unwrap();
                    }
                }
            });
            scope.spawn(move || {
                for (value, call) in ends {
                    let result = if value % 2 == 0 {
                        call.wait()
                    } else {
                        block_on(call)
                    };
                    assert_eq!(result, Ok(2 * value));
                }
            });
        }
    });
    assert_eq!(client.seen().late_replies, 0);
}
