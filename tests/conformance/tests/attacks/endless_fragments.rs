//! A peer that sends parts of one message without end and without a pause.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use punctual::LaneWait;
use punctual_fixtures::{
    peer::Peer,
    server::Setup,
    wire::{COMMON, FRAGMENT, MESSAGE_ERROR, REQUEST},
};

const COMPLETION: Duration = Duration::from_millis(300);

/// The first part of a request, and a fragment of it with 8 octets of data.
fn parts() -> (Vec<u8>, Vec<u8>) {
    let first = COMMON.header(REQUEST, true, 4).u32(1).finish();
    let further = COMMON.header(FRAGMENT, true, 12).u32(1).raw(&[0; 8]).finish();
    (first, further)
}

#[test]
fn parts_without_a_pause_end_with_the_time_of_their_message() {
    for pool in [
        |pool: punctual::ThreadPoolBuilder| pool,
        |pool: punctual::ThreadPoolBuilder| pool.threads(3),
        |pool: punctual::ThreadPoolBuilder| pool.threads(2).wait(LaneWait::Blocking),
    ] {
        let mut setup = Setup {
            pool,
            ..Setup::default()
        };
        // More than arrives in the time of a message: only the clock ends it.
        setup.limits = setup
            .limits
            .message_completion(COMPLETION)
            .max_message_size(1 << 30);
        let server = setup.start();
        let key = server.key();
        thread::scope(|scope| {
            let mut attacker = Peer::connect(server.port());
            let mut sender = attacker.another();
            scope.spawn(move || {
                let (first, further) = parts();
                let batch = further.repeat(100);
                sender.send(&first);
                while sender.try_send(&batch) {}
            });
            let refused = scope.spawn(move || {
                let started = Instant::now();
                // The kernel may have dropped it with what the server has not read.
                if let Some(message) = attacker.receive() {
                    assert_eq!(message.message_type, MESSAGE_ERROR);
                    assert!(attacker.is_closed());
                }
                // Octets that can no longer be sent would wait for the kernel.
                attacker.finish();
                assert!(started.elapsed() < 20 * COMPLETION);
            });
            // Meanwhile others are served.
            let mut calls = 0;
            while !refused.is_finished() || calls == 0 {
                let mut bystander = Peer::connect(server.port());
                bystander.send(&COMMON.request(7, &key, "twice", |body| body.i32(21)));
                assert_eq!(bystander.receive().unwrap().reply().body.clone().i32(), 42);
                calls += 1;
            }
        });
        assert_ne!(server.seen(0).connections.protocol_errors, 0);
    }
}

#[test]
fn a_lane_ends_while_parts_arrive_without_a_pause() {
    let mut setup = Setup::default();
    setup.limits = setup
        .limits
        .message_completion(Duration::from_secs(3600))
        .max_message_size(1 << 30);
    let server = setup.start();
    let mut sender = Peer::connect(server.port());
    let (batches, begun) = mpsc::channel();
    let sending = thread::spawn(move || {
        let (first, further) = parts();
        let batch = further.repeat(100);
        sender.send(&first);
        // Until the lane has closed its connection.
        while sender.try_send(&batch) {
            let _ = batches.send(());
        }
    });
    assert_eq!(begun.iter().take(10).count(), 10, "the lane reads");
    let (done, ended) = mpsc::channel();
    // If it does not end, the thread is left behind.
    thread::spawn(move || {
        drop(server);
        done.send(())
    });
    assert!(
        ended.recv_timeout(Duration::from_secs(30)).is_ok(),
        "it does not end"
    );
    sending.join().unwrap();
}

/// They add nothing to the message, so its limit would never end them.
#[test]
fn empty_parts_are_refused_at_the_first() {
    let mut setup = Setup::default();
    setup.limits = setup.limits.message_completion(Duration::from_secs(3600));
    let server = setup.start();
    let mut peer = Peer::connect(server.port());
    let empty = COMMON.header(FRAGMENT, true, 4).u32(1).finish();
    peer.send(&[parts().0, empty].concat());
    assert_eq!(peer.receive().unwrap().message_type, MESSAGE_ERROR);
    assert!(peer.is_closed());
}
