//! CancelRequests for a request of GIOP 1.1 whose first part is long: its id follows its service contexts.

use std::time::{Duration, Instant};

use punctual_fixtures::{
    peer::Peer,
    server::Server,
    wire::{CANCEL_REQUEST, Dialect, REQUEST},
};

const OLD: Dialect = Dialect::new(1, true);
const CANCELS: usize = 100;

/// How long it takes to be served behind the cancellations of a request with so many service contexts.
fn served_in(server: &Server, contexts: u32) -> Duration {
    let mut peer = Peer::connect(server.port());
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
    let started = Instant::now();
    peer.send(&cancel.repeat(CANCELS));
    twice(&mut peer);
    started.elapsed()
}

#[test]
fn cancelling_a_long_request_costs_no_more_than_a_short_one() {
    let server = Server::start();
    let short = served_in(&server, 1);
    let long = served_in(&server, 1_000_000);
    assert!(
        long < 3 * short + Duration::from_millis(300),
        "{long:?} for a long request, {short:?} for a short one"
    );
}
