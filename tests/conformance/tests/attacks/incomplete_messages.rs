//! Messages without an end, over many connections: those whose time is over are closed little by little,
//! between the requests of others.

use std::{
    io::Write,
    os::unix::net::UnixStream,
    time::{Duration, Instant},
};

use punctual::{CpuSet, NativePriority, SchedulingClass};
use punctual_fixtures::{
    LONG,
    priorities::LOW,
    priority, realtime_or_skip,
    server::{Setup, client},
};
use punctual_os::{Scheduling, ThreadSpec, affinity};

use crate::idle_connections::path;

const CPU: usize = 0;
const PEERS: u64 = 600;

/// The client runs above the lane, so the lane can close only what it closes before it serves. The client
/// uses a Unix socket, because a loaded kernel delivers loopback packets by a thread below the lane.
#[test]
fn a_lane_closes_few_connections_between_two_requests() {
    if !realtime_or_skip() {
        return;
    }
    let mut setup = Setup {
        pool: |pool| pool.default_priority(priority(LOW)).affinity(CpuSet::single(CPU)),
        class: SchedulingClass::Fifo,
        listen: &["uiop://"],
        ..Setup::default()
    };
    setup.limits = setup
        .limits
        .message_completion(Duration::from_millis(400))
        .max_connections_per_peer(1_000)
        .accept_rate_per_peer(1_000_000);
    let server = setup.start();
    let peers: Vec<_> = (0..PEERS)
        .map(|_| {
            let mut peer = UnixStream::connect(path(&server.probe)).unwrap();
            peer.write_all(b"GIOP").unwrap();
            peer
        })
        .collect();
    let client = client();
    let probe = server.reference_for(&client);
    assert_eq!(probe.twice(21), Ok(42), "connected");
    let spec = ThreadSpec::new("client").scheduling(Scheduling::fifo(NativePriority(99)));
    let calling = spec.spawn(move || {
        affinity::set_current(&CpuSet::single(CPU)).unwrap();
        let closed = || server.seen(0).connections.protocol_errors;
        let start = Instant::now();
        while closed() == 0 {
            assert!(start.elapsed() < LONG, "none is closed");
            std::thread::sleep(Duration::from_micros(100));
        }
        // From now on the lane runs only while the client waits for a reply.
        let (mut before, mut most) = (closed(), 0);
        assert!(before < PEERS, "all are closed");
        while before < PEERS {
            assert!(start.elapsed() < LONG, "{before} are closed");
            assert_eq!(probe.twice(21), Ok(42));
            most = most.max(closed() - before);
            before = closed();
        }
        most
    });
    let most = calling.unwrap().join().unwrap();
    drop(peers);
    assert!(most <= 20, "{most} at once");
}
