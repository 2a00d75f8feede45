//! A message in many small parts, behind one that has made the receive buffer large: what follows in the
//! buffer must not be moved for each of them.

use std::{thread, time::Duration};

use punctual_fixtures::{
    peer::Peer,
    server::Server,
    wire::{COMMON, FRAGMENT},
};
use punctual_os::clock;

use crate::unserved_work::serving_thread;

/// 4 MB on the wire.
const PARTS: usize = 250_000;

/// Processor time that the lane takes for a request whose first part has so many octets, and that continues
/// in fragments of 17 octets.
fn processor_time(server: &Server, first: usize) -> Duration {
    let request = COMMON.request(1, &server.key(), "twice", |body| {
        body.i32(21).raw(&vec![0; first])
    });
    let start = COMMON.fragmented(&request, &[request.len() - 12]).remove(0);
    let further = COMMON.header(FRAGMENT, true, 5).u32(1).u8(0).finish();
    let last = COMMON.header(FRAGMENT, false, 5).u32(1).u8(0).finish();
    let octets = [start, further.repeat(PARTS), last].concat();
    let mut peer = Peer::connect(server.port());
    let lane = serving_thread(&mut peer, server);
    let mut sender = peer.another();
    let before = clock::thread_cpu_time_of(lane).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| sender.send(&octets));
        assert_eq!(peer.receive().unwrap().reply().body.clone().i32(), 42);
    });
    clock::thread_cpu_time_of(lane).unwrap() - before
}

#[test]
fn small_parts_cost_the_same_however_large_the_buffer_is() {
    let server = Server::with_pool(|pool| pool.threads(1));
    let fresh = processor_time(&server, 100);
    let grown = processor_time(&server, 4 << 20);
    assert!(
        grown < 3 * fresh + Duration::from_secs(1),
        "{grown:?} with a large buffer, {fresh:?} with a small one"
    );
}
