//! Callers of one connection: order of replies, which calls share a connection, and which have their own.

use std::{collections::HashSet, sync::Barrier, thread};

use punctual::{
    Limits, PolicyOverrides, Priority,
    transport::{Layered, Tcp},
};
use punctual_fixtures::{
    conformance::ProbeRef,
    eventually,
    protocols::Watch,
    real_time::ordinary,
    recorder::{CLIENT_PROPAGATED, Recorder, bands, model, policies},
    server::{Server, Setup},
    wire::{COMMON, DIALECTS, REQUEST},
};

use super::{Client, all_answered, answer, call_all, requests, server_with, shared};

const CALLERS: usize = 8;

/// All calls are outstanding together: the server says so, whose threads are all in upcalls.
#[test]
fn callers_share_one_connection() {
    let (server, client) = (server_with(|pool| pool.threads(CALLERS)), Client::start());
    let probe = &server.reference_for(&client.orb);
    assert_eq!(probe.twice(1), Ok(2));
    let before = client.seen(0).replies;
    thread::scope(|scope| {
        let calls: Vec<_> = (0..CALLERS as i32)
            .map(|value| (value, scope.spawn(move || probe.wait_at_gate(value))))
            .collect();
        server.hooks.await_at_gate(CALLERS);
        assert_eq!(server.seen(0).connections.open, 1);
        server.hooks.open_gate();
        for (value, call) in calls {
            assert_eq!(call.join().unwrap(), Ok(value));
        }
    });
    let seen = client.seen(0);
    assert_eq!((seen.connections.shared, seen.connections.open), (1, 0));
    assert_eq!(seen.replies - before, CALLERS as u64);
}

/// A caller that connects second finds the first one's connection: no caller waits for another one to
/// connect.
#[test]
fn callers_that_connect_at_once_end_up_with_one() {
    let (watch, server) = (Watch::default(), server_with(|pool| pool.threads(CALLERS)));
    let orb = ordinary()
        .transport(Layered::new(Tcp, watch.clone()))
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    orb.set_reply_threadpool(&pool).unwrap();
    orb.replace_policies(shared());
    let (probe, all) = (&server.reference_for(&orb), &Barrier::new(CALLERS));
    thread::scope(|scope| {
        for value in 0..CALLERS as i32 {
            scope.spawn(move || {
                all.wait();
                for round in 0..100 {
                    assert_eq!(probe.twice(value + round), Ok(2 * (value + round)));
                }
            });
        }
    });
    assert!(watch.connected() <= CALLERS);
    assert_eq!(pool.statistics()[0].1.connections.shared, 1);
    // The descriptors that the watch keeps do not: they are shut down.
    eventually("the others are closed", || server.seen(0).connections.open == 1);
    orb.shutdown_and_wait().unwrap();
}

#[test]
fn replies_find_their_callers_in_any_order() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    thread::scope(|scope| {
        let calls = call_all(scope, &probe, 0..1);
        let mut peer = listener.accept();
        let first = peer.receive().unwrap();
        let more = call_all(scope, &probe, 1..CALLERS as i32);
        let mut received = requests(&mut peer, CALLERS - 1);
        received.insert(0, first);
        let ids: HashSet<_> = received.iter().map(|request| request.request().id).collect();
        assert_eq!(ids.len(), CALLERS, "each has an id of its own");
        // In one write, so that one read gets them all.
        let replies: Vec<_> = received.iter().rev().flat_map(answer).collect();
        peer.send(&replies);
        for (value, call) in calls.into_iter().chain(more) {
            assert_eq!(call.join().unwrap(), Ok(2 * value));
        }
    });
    assert_eq!(
        (client.seen(0).replies, client.seen(0).late_replies),
        (CALLERS as u64, 0)
    );
}

#[test]
fn replies_come_in_fragments_that_mix() {
    for dialect in DIALECTS.into_iter().filter(|dialect| dialect.minor == 2) {
        let client = Client::start();
        let (listener, probe) = client.playing();
        let probe = &probe;
        thread::scope(|scope| {
            let first = call_all(scope, probe, [4]);
            let mut peer = listener.accept();
            let request = peer.receive().unwrap();
            peer.send(&answer(&request));
            all_answered(first);
            let calls = [100, 50].map(|length| {
                let values: Vec<i32> = (0..length).collect();
                (values.clone(), scope.spawn(move || probe.reverse(&values)))
            });
            let [one, other] = [(); 2].map(|()| {
                let request = peer.receive().unwrap();
                let mut body = request.request().body;
                let values: Vec<_> = (0..body.u32()).map(|_| body.i32()).collect();
                let whole = dialect.reply(request.request().id, 0, |body| {
                    let body = body.u32(values.len() as u32);
                    values.iter().rev().fold(body, |body, value| body.i32(*value))
                });
                dialect.fragmented(&whole, &[20, 40, 80])
            });
            for (one, other) in one.into_iter().zip(other) {
                peer.send(&[one, other].concat());
            }
            for (values, call) in calls {
                let reversed: Vec<_> = values.into_iter().rev().collect();
                assert_eq!(call.join().unwrap().unwrap(), reversed);
            }
        });
    }
}

/// Requests and replies larger than any buffer that there is at first, in both directions at once.
#[test]
fn large_messages_of_several_callers_do_not_mix() {
    let (server, client) = (server_with(|pool| pool.threads(3)), Client::start());
    let probe = &server.reference_for(&client.orb);
    thread::scope(|scope| {
        for caller in 0..4 {
            scope.spawn(move || {
                let values: Vec<i32> = (0..200_000).map(|value| value + caller).collect();
                for _ in 0..5 {
                    let reversed = probe.reverse(&values).unwrap();
                    assert!(reversed.iter().rev().eq(&values), "caller {caller}");
                }
            });
        }
    });
    assert_eq!(client.seen(0).connections.shared, 1);
}

#[test]
fn oneway_and_locate_go_over_it_too() {
    let (server, client) = (Server::start(), Client::start());
    let probe = server.reference_for(&client.orb);
    probe.validate_connection().unwrap();
    assert_eq!(client.seen(0).connections.shared, 1);
    for value in 0..100 {
        probe.note(value).unwrap();
    }
    assert_eq!(probe.noted(), Ok(99), "after all that went before");
    assert_eq!(server.hooks.journal(), (0..100).collect::<Vec<_>>());
    assert_eq!(
        (server.seen(0).connections.open, client.seen(0).connections.shared),
        (1, 1)
    );
    // The LocateReply and one reply.
    assert_eq!(client.seen(0).replies, 2);
}

#[test]
fn calls_inside_one_orb_have_no_connection() {
    let server = Server::start();
    server.orb.set_reply_threadpool(&server.pool).unwrap();
    let probe = server.probe.with_policies(shared()).unchecked();
    assert_eq!(ProbeRef::twice(&probe, 4), Ok(8));
    assert_eq!(server.seen(0).connections.shared, 0);
}

/// Each scope of policies.
#[test]
fn threads_and_references_choose_too() {
    let (server, client) = (Server::start(), Client::start());
    client.orb.replace_policies(PolicyOverrides::new());
    let probe = server.reference_for(&client.orb);
    assert_eq!(probe.twice(1), Ok(2));
    assert_eq!(client.seen(0).replies, 0);
    let own: ProbeRef = probe.with_policies(shared()).unchecked();
    assert_eq!(own.twice(1), Ok(2));
    assert_eq!(client.seen(0).replies, 1);
    client.orb.current().replace_policies(shared());
    assert_eq!(probe.twice(1), Ok(2));
    assert_eq!(client.seen(0).replies, 2);
    client.orb.current().replace_policies(PolicyOverrides::new());
    assert_eq!(probe.twice(1), Ok(2));
    assert_eq!(client.seen(0).replies, 2);
}

#[test]
fn text_is_negotiated_once() {
    let (recorder, client) = (Recorder::start(), Client::start());
    const UTF8: u32 = 0x0501_0001;
    const UTF16: u32 = 0x0001_0109;
    let component = COMMON.encapsulation(|data| data.u32(UTF8).u32(0).u32(UTF16).u32(0));
    let probe = recorder.reference(&client.orb, &[(1, component)]);
    for _ in 0..3 {
        assert_eq!(probe.twice(21), Ok(42));
    }
    let seen = recorder.seen();
    let announced: Vec<_> = seen.iter().map(|seen| seen.context(1).is_some()).collect();
    assert_eq!(announced, [true, false, false]);
}

/// Policies that forbid sharing also do so here: bands, and private connections, which close with their
/// references.
#[test]
fn bands_and_private_references_share_nothing() {
    let (recorder, client) = (
        Recorder::start(),
        Client::with(Limits::default(), |pool| pool.default_priority(Priority::MAX)),
    );
    let middle = 1000;
    let banded = policies(&[
        model(CLIENT_PROPAGATED, 0),
        bands(&[(0, middle), (middle + 1, 32_767)]),
    ]);
    let probe = recorder.reference(&client.orb, &[banded]);
    for value in [0, middle + 1, middle, 32_767] {
        client
            .orb
            .current()
            .set_priority(Priority::new(value).unwrap())
            .unwrap();
        assert_eq!(probe.twice(1), Ok(42));
    }
    assert_eq!(recorder.connections_of_requests(), [0, 1, 0, 1]);
    let policies = PolicyOverrides::new().private_connection(true);
    let private: ProbeRef = probe.with_policies(policies).unchecked();
    for _ in 0..2 {
        assert_eq!(private.twice(1), Ok(42));
    }
    assert_eq!(recorder.connections_of_requests()[4..], [2, 2]);
    drop(private);
    recorder.await_open(2, REQUEST);
    assert_eq!(client.seen(0).connections.shared, 2);
}

#[test]
fn every_transport_can_be_shared() {
    for endpoint in ["iiop://127.0.0.1:0", "uiop://", "shmiop://"] {
        let server = Setup {
            listen: Box::leak(Box::new([endpoint])),
            pool: |pool| pool.threads(2),
            ..Setup::default()
        }
        .start();
        let client = Client::start();
        let probe = &server.reference_for(&client.orb);
        assert_eq!(probe.twice(1), Ok(2), "{endpoint}");
        thread::scope(|scope| {
            for caller in 0..4 {
                scope.spawn(move || {
                    for value in 0..500 {
                        assert_eq!(
                            probe.twice(caller + value),
                            Ok(2 * (caller + value)),
                            "{endpoint}"
                        );
                    }
                });
            }
        });
        assert_eq!(server.seen(0).connections.open, 1, "{endpoint}");
        assert_eq!(client.seen(0).connections.shared, 1, "{endpoint}");
    }
}
