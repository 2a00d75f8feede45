//! CancelRequests for a request of GIOP 1.1 whose first part is long: its id follows its service contexts.

use std::time::Duration;

use punctual_fixtures::{
    peer::Peer,
    server::Server,
    wire::{CANCEL_REQUEST, Dialect, REQUEST},
};
use punctual_os::clock;

use crate::unserved_work::serving_thread;

const OLD: Dialect = Dialect::new(1, true);
const CANCELS: usize = 100;

/// Processor time that the lane takes for the cancellations of a request with so many service contexts.
fn processor_time(server: &Server, contexts: u32) -> Duration {
    let mut peer = Peer::connect(server.port());
    let lane = serving_thread(&mut peer, server);
    let list = vec![0; 8 * contexts as usize];
    let first = OLD.header(REQUEST, true, 8 + list.len() as u32);
    peer.send(&first.u32(contexts).raw(&list).u32(9).finish());
    let request = OLD.request(1, &server.key(), "twice", |body| body.i32(21));
    let twice = |peer: &mut Peer| {
        peer.send(&request);
        assert_eq!(peer.receive().unwrap().reply().body.clone().i32(), 42);
    };
    twice(&mut peer);
    let cancel = OLD.message(CANCEL_REQUEST, |message| message.u32(7));
    let before = clock::thread_cpu_time_of(lane).unwrap();
    peer.send(&cancel.repeat(CANCELS));
    twice(&mut peer);
    clock::thread_cpu_time_of(lane).unwrap() - before
}

#[test]
fn cancelling_a_long_request_costs_no_more_than_a_short_one() {
    let server = Server::with_pool(|pool| pool.threads(1));
    let short = processor_time(&server, 1);
    let long = processor_time(&server, 1_000_000);
    assert!(
        long < 3 * short + Duration::from_millis(300),
        "{long:?} for a long request, {short:?} for a short one"
    );
}
