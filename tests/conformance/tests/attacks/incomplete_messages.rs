//! Messages without an end, over many connections: those whose time is over are closed little by little,
//! between the requests of others.

use std::time::{Duration, Instant};

use punctual::{CpuSet, NativePriority, SchedulingClass};
use punctual_fixtures::{
    LONG, peer::Peer, priorities::LOW, priority, realtime_or_skip, server::Setup, wire::COMMON,
};
use punctual_os::{Scheduling, ThreadSpec, affinity};

const CPU: usize = 0;
const PEERS: u64 = 300;

/// The client runs above the lane, so the lane can close only what it closes before it serves. A loaded kernel
/// may deliver a request late, by a thread below the lane: so this judges most closings, not all.
#[test]
fn a_lane_closes_few_connections_between_two_requests() {
    if !realtime_or_skip() {
        return;
    }
    let mut setup = Setup {
        pool: |pool| pool.default_priority(priority(LOW)).affinity(CpuSet::single(CPU)),
        class: SchedulingClass::Fifo,
        ..Setup::default()
    };
    setup.limits = setup.limits.message_completion(Duration::from_millis(400));
    let server = setup.start();
    let key = server.key();
    let peers: Vec<_> = (0..PEERS)
        .map(|_| {
            let mut peer = Peer::connect(server.port());
            peer.send(b"GIOP");
            peer
        })
        .collect();
    let mut peer = Peer::connect(server.port());
    let request = COMMON.request(1, &key, "twice", |body| body.i32(21));
    let spec = ThreadSpec::new("client").scheduling(Scheduling::fifo(NativePriority(99)));
    let calling = spec.spawn(move || {
        affinity::set_current(&CpuSet::single(CPU)).unwrap();
        let closed = || server.seen(0).protocol_errors;
        let (start, mut before, mut few_at_once) = (Instant::now(), closed(), 0);
        while before < PEERS {
            assert!(start.elapsed() < LONG, "{before} are closed");
            peer.send(&request);
            assert_eq!(peer.receive().unwrap().reply().body.i32(), 42);
            let since = closed() - before;
            before += since;
            if since <= 20 {
                few_at_once += since;
            }
            if before == 0 {
                // Not yet: leave the processor to others.
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        few_at_once
    });
    let few_at_once = calling.unwrap().join().unwrap();
    drop(peers);
    assert!(few_at_once > PEERS / 2, "only {few_at_once} of {PEERS}");
}
