//! The five sources of unbounded priority inversion, each provoked: seen where a pool multiplexes its
//! resources, gone with lanes.
//!
//! Source: [Pyarali 2002] 2.2 (connection cache, memory freestore, leader/followers, reactor, POA). The tests
//! compare the order of service, never durations.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use punctual::{CpuSet, NativePriority, Orb, SchedulingClass};
use punctual_fixtures::{
    client_propagated,
    conformance::{Longs, ProbeRef},
    eventually,
    peer::Peer,
    priorities::{HIGH, LOW},
    priority,
    real_time::orb_of_class,
    realtime_or_skip,
    server::{Profile, Server, Setup},
    wire::{COMMON, Reader},
};
use punctual_os::{Scheduling, affinity, scheduling};

const MIDDLE: NativePriority = NativePriority(50);
/// CPU of all threads, so that preemption decides the order.
const CPU: usize = 0;

/// One thread, one poller, one set of buffers for callers of all priorities.
fn without_lanes(class: SchedulingClass) -> Server {
    let setup = Setup {
        pool: |pool| pool.default_priority(priority(LOW)).affinity(CpuSet::single(CPU)),
        class,
        ..Setup::default()
    };
    setup.start()
}

/// A lane for each priority.
fn lanes(class: SchedulingClass) -> Server {
    let setup = Setup {
        pool: |pool| {
            pool.lane(priority(LOW), 1)
                .lane(priority(HIGH), 1)
                .affinity(CpuSet::single(CPU))
        },
        model: Some(client_propagated(priority(LOW))),
        class,
        ..Setup::default()
    };
    setup.start()
}

/// The port where a caller of this priority calls.
fn port(server: &Server, of: i16) -> u16 {
    let profile = Profile::of(&server.probe);
    let endpoints = profile.components.iter().find(|(tag, _)| *tag == 0x5441_4f02);
    let Some((_, data)) = endpoints else {
        return profile.port;
    };
    let mut data = Reader::encapsulation(data);
    let listed: Vec<_> = (0..data.u32())
        .map(|_| {
            data.string();
            (data.u16(), data.u16() as i16)
        })
        .collect();
    let lane = listed.iter().find(|(_, own)| [of, -1].contains(own));
    lane.expect("a lane for the priority").0
}

/// A call to the servant's gate, which is closed: the thread that serves it stays there.
fn occupy(server: &Server) -> Peer {
    let mut peer = Peer::connect(port(server, LOW));
    peer.send(&COMMON.request(1, &server.key(), "wait_at_gate", |body| body.i32(1)));
    server.hooks.await_at_gate(1);
    peer
}

fn note(server: &Server, peer: &mut Peer, value: i32) {
    peer.send(&COMMON.request(1, &server.key(), "note", |body| body.i32(value)));
}

/// Requests that were served before the gate opened, and all in the end.
fn served(server: &Server, requests: usize, high_is_free: bool) -> (Vec<i32>, Vec<i32>) {
    if high_is_free {
        eventually("the high-priority request", || !server.hooks.journal().is_empty());
    }
    let early = server.hooks.journal();
    server.hooks.open_gate();
    eventually("all requests", || server.hooks.journal().len() == requests);
    (early, server.hooks.journal())
}

const PEERS: i32 = 8;
const URGENT: i32 = 100;

pub fn connection_cache_low_priority_connections_come_first_only_without_lanes() {
    // Peers of low priority connect and call, then one of high priority does: all these connections are still
    // to be made.
    let provoke = |server: &Server, high_is_free| {
        let _gate = occupy(server);
        let mut peers: Vec<_> = (0..PEERS).map(|_| Peer::connect(port(server, LOW))).collect();
        for (value, peer) in peers.iter_mut().enumerate() {
            note(server, peer, value as i32);
        }
        let mut urgent = Peer::connect(port(server, HIGH));
        note(server, &mut urgent, URGENT);
        served(server, PEERS as usize + 1, high_is_free)
    };
    let (early, all) = provoke(&without_lanes(SchedulingClass::Other), false);
    assert_eq!(early, []);
    let place = all.iter().position(|value| *value == URGENT);
    assert_eq!(place, Some(PEERS as usize), "behind every connection: {all:?}");
    let (early, _) = provoke(&lanes(SchedulingClass::Other), true);
    assert_eq!(early, [URGENT]);
}

pub fn reactor_requests_are_told_apart_only_with_lanes() {
    // All are connected and known; their requests become ready together, and the poller knows no priorities.
    let provoke = |server: &Server, high_is_free| {
        let connect = |own| {
            let mut peer = Peer::connect(port(server, own));
            peer.send(&COMMON.request(7, &server.key(), "noted", |body| body));
            peer.receive().expect("a reply");
            peer
        };
        let mut peers: Vec<_> = (0..PEERS).map(|_| connect(LOW)).collect();
        let mut urgent = connect(HIGH);
        let _gate = occupy(server);
        for (value, peer) in peers.iter_mut().enumerate() {
            note(server, peer, value as i32);
        }
        note(server, &mut urgent, URGENT);
        served(server, PEERS as usize + 1, high_is_free)
    };
    let (early, all) = provoke(&without_lanes(SchedulingClass::Other), false);
    assert_eq!(early, []);
    assert_eq!(all.last(), Some(&URGENT), "in the order of arrival: {all:?}");
    let (early, _) = provoke(&lanes(SchedulingClass::Other), true);
    assert_eq!(early, [URGENT]);
}

pub fn memory_freestore_a_large_request_costs_others_allocations_only_without_lanes() {
    // Between calls of high priority comes a large request of low priority, whose memory a thread has to
    // find.
    let provoke = |server: &Server| {
        let call = |peer: &mut Peer, operation| {
            peer.send(&COMMON.request(1, &server.key(), operation, |body| body));
            peer.receive().expect("a reply")
        };
        let allocations = |peer: &mut Peer| {
            // The first one may warm up what the second one counts.
            call(peer, "allocations");
            let reply = call(peer, "allocations");
            let mut body = reply.reply().body;
            let [first, second] = [body.u32(), body.u32()];
            if COMMON.little { first } else { second }
        };
        let mut urgent = Peer::connect(port(server, HIGH));
        let before = allocations(&mut urgent);
        let client = Orb::builder().lock_memory(false).build().unwrap();
        client.current().set_priority(priority(LOW)).unwrap();
        let probe = server.reference_for(&client);
        let longs: Longs = (0..1_000_000).collect();
        assert_eq!(probe.reverse(&longs).unwrap().len(), longs.len());
        allocations(&mut urgent) - before
    };
    let multiplexed = provoke(&without_lanes(SchedulingClass::Other));
    assert!(
        multiplexed > 0,
        "the thread of the high-priority caller had to find the memory"
    );
    assert_eq!(provoke(&lanes(SchedulingClass::Other)), 0);
}

/// The calling thread as a client of high priority on [`CPU`].
fn high_priority_client(server: &Server) -> (Orb, ProbeRef) {
    affinity::set_current(&CpuSet::single(CPU)).unwrap();
    let client = orb_of_class(SchedulingClass::Fifo).build().unwrap();
    client.current().set_priority(priority(HIGH)).unwrap();
    let probe = server.reference_for(&client);
    assert_eq!(probe.twice(1), Ok(2), "a warm-up");
    (client, probe)
}

pub fn leader_followers_middle_priority_work_delays_the_leader_only_without_lanes() {
    if !realtime_or_skip() {
        return;
    }
    // The thread that handles the high-priority request is preempted by work of middle priority.
    let provoke = |server: &Server| {
        let [connected, running, calling, done] = [(); 4].map(|()| AtomicBool::new(false));
        thread::scope(|scope| {
            let middle = scope.spawn(|| {
                affinity::set_current(&CpuSet::single(CPU)).unwrap();
                eventually("the client", || connected.load(Ordering::SeqCst));
                scheduling::set_current(Scheduling::fifo(MIDDLE)).unwrap();
                running.store(true, Ordering::SeqCst);
                let spin = |at_most, until: &dyn Fn() -> bool| {
                    let start = Instant::now();
                    while start.elapsed() < at_most && !until() {
                        std::hint::spin_loop();
                    }
                };
                spin(Duration::from_secs(2), &|| calling.load(Ordering::SeqCst));
                spin(Duration::from_millis(300), &|| false);
                done.store(true, Ordering::SeqCst);
            });
            let high = scope.spawn(|| {
                let (_client, probe) = high_priority_client(server);
                connected.store(true, Ordering::SeqCst);
                eventually("the others' work", || running.load(Ordering::SeqCst));
                calling.store(true, Ordering::SeqCst);
                assert_eq!(probe.twice(21), Ok(42));
                done.load(Ordering::SeqCst)
            });
            let delayed = high.join().unwrap();
            middle.join().unwrap();
            delayed
        })
    };
    assert!(
        provoke(&without_lanes(SchedulingClass::Fifo)),
        "the call waited for other work"
    );
    assert!(!provoke(&lanes(SchedulingClass::Fifo)));
}

pub fn poa_a_million_activations_delay_nobody_with_lanes() {
    const MILLION: u64 = 1_000_000;
    if !realtime_or_skip() {
        return;
    }
    // How many calls of high priority were made, and during how many of them objects were activated.
    let provoke = |server: &Server, activations: u64| {
        let ready = AtomicBool::new(false);
        thread::scope(|scope| {
            let low = scope.spawn(|| {
                eventually("the caller of high priority", || ready.load(Ordering::SeqCst));
                affinity::set_current(&CpuSet::single(CPU)).unwrap();
                let client = orb_of_class(SchedulingClass::Fifo).build().unwrap();
                client.current().set_priority(priority(LOW)).unwrap();
                let probe = server.reference_for(&client);
                (0..activations / 2_000).for_each(|_| probe.churn(2_000).unwrap());
            });
            let ready = &ready;
            let high = scope.spawn(move || {
                let (_client, probe) = high_priority_client(server);
                ready.store(true, Ordering::SeqCst);
                let (mut calls, mut during) = (0_u32, 0_u32);
                while !low.is_finished() {
                    let before = server.hooks.activations();
                    assert_eq!(probe.twice(21), Ok(42));
                    calls += 1;
                    during += u32::from(server.hooks.activations() != before);
                    thread::sleep(Duration::from_millis(1));
                }
                (calls, during)
            });
            high.join().unwrap()
        })
    };
    let server = without_lanes(SchedulingClass::Fifo);
    let (calls_without, during_without) = provoke(&server, MILLION / 20);
    let server = lanes(SchedulingClass::Fifo);
    let (calls, during) = provoke(&server, MILLION);
    assert_eq!(server.hooks.activations(), MILLION);
    let [share_without, share] = [(during_without, calls_without), (during, calls)]
        .map(|(during, calls)| f64::from(during) / f64::from(calls));
    assert!(
        share_without > 3.0 * share && share < 0.5,
        "calls during which objects were activated: {during_without} of {calls_without} without lanes, \
         {during} of {calls} with lanes"
    );
}
