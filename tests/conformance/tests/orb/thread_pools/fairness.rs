//! One connection cannot keep a lane's thread from the others, and one thread cannot keep the CPU from its
//! equals.

use std::thread;

use punctual::{CpuSet, LaneWait, NativePriority, SchedulingClass};
use punctual_fixtures::{
    eventually,
    peer::Peer,
    realtime_or_skip,
    server::{Server, Setup},
    wire::COMMON,
};
use punctual_os::{Scheduling, affinity, scheduling};

use super::Shape;

#[test]
fn a_flood_waits_its_turn() {
    let server = Server::with_pool(|pool| pool.threads(1));
    let key = server.key();
    let mut gate = Peer::connect(server.port());
    let (mut flood, mut other) = (Peer::connect(server.port()), Peer::connect(server.port()));
    gate.send(&COMMON.request(1, &key, "wait_at_gate", |body| body.i32(1)));
    server.hooks.await_at_gate(1);
    // All of it is there before the one request of the other, and before the thread looks.
    let note = |value| COMMON.request_with(value as u32, 0, &key, "note", &[], |body| body.i32(value));
    const FLOOD: i32 = 500;
    let burst: Vec<u8> = (1..=FLOOD).flat_map(note).collect();
    flood.send(&burst);
    other.send(&COMMON.request(1, &key, "noted", |body| body));
    server.hooks.open_gate();
    let noted = other.receive().unwrap().reply().body.i32();
    assert!(noted > 0, "the flood came first");
    assert!(
        noted <= FLOOD / 2,
        "{noted} of {FLOOD} were served before the one request of another client"
    );
}

/// Two threads of equal priority on one CPU, each in an upcall that waits. Both upcalls may go on at once,
/// and requests lie ready: one thread goes on first, and the other's upcall, which began before all of these
/// requests came, must not wait for all of them.
fn noted_before_the_equal_goes_on(shape: Shape, requests: i32, of_one_peer: bool) -> usize {
    let setup = Setup {
        pool: shape,
        class: SchedulingClass::Fifo,
        ..Setup::default()
    };
    let server = setup.start();
    let key = server.key();
    let [mut first, mut second] = [(); 2].map(|()| Peer::connect(server.port()));
    let mut others = Vec::new();
    if !of_one_peer {
        others.resize_with(requests as usize, || Peer::connect(server.port()));
    }
    for peer in &mut others {
        peer.send(&COMMON.request(1, &key, "noted", |body| body));
        peer.receive().expect("it is known to the lane");
    }
    for (arrived, peer) in [&mut first, &mut second].into_iter().enumerate() {
        peer.send(&COMMON.request(1, &key, "wait_at_gate", |body| body.i32(1)));
        server.hooks.await_at_gate(arrived + 1);
    }
    let note = |value| COMMON.request_with(value as u32, 0, &key, "note", &[], |body| body.i32(value));
    for value in 1..=requests {
        match others.get_mut(value as usize - 1) {
            Some(peer) => peer.send(&note(value)),
            None => {
                first.send(&note(value));
                second.send(&note(value));
            }
        }
    }
    open_before_either_runs(&server);
    let all = requests as usize * if of_one_peer { 2 } else { 1 };
    eventually("all requests", || server.hooks.journal().len() == all);
    let noted = server.hooks.noted_before_gate();
    noted.get(1).copied().unwrap_or(all)
}

/// Opens the gate on the CPU of the two threads and above both, so that neither runs until both are ready.
fn open_before_either_runs(server: &Server) {
    thread::scope(|scope| {
        scope.spawn(|| {
            affinity::set_current(&CpuSet::single(0)).expect("CPU 0");
            scheduling::set_current(Scheduling::fifo(NativePriority(99))).expect("real-time rights");
            server.hooks.open_gate();
        });
    });
}

#[test]
fn a_thread_that_always_finds_requests_gives_way_to_its_equals() {
    if !realtime_or_skip() {
        return;
    }
    let polled = |pool: punctual::ThreadPoolBuilder| pool.threads(2).affinity(CpuSet::single(0));
    let before = noted_before_the_equal_goes_on(polled, 60, false);
    assert!(before <= 10, "{before} of 60 went first");
    let blocking = |pool: punctual::ThreadPoolBuilder| {
        pool.threads(2)
            .wait(LaneWait::Blocking)
            .affinity(CpuSet::single(0))
    };
    let before = noted_before_the_equal_goes_on(blocking, 300, true);
    assert!(before <= 50, "{before} of 300 went first");
}
