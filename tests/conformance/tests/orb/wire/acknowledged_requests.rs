//! Oneway requests whose clients ask for an acknowledgement of the server: SYNC_WITH_SERVER.

use punctual::{LaneSpec, LaneWait, Priority, QueueLimits};
use punctual_fixtures::{
    client_propagated,
    peer::Peer,
    server::{Server, Setup},
    wire::{COMMON, DIALECTS},
};

/// Response flags that ask for a reply before the servant is called.
const WITH_SERVER: u8 = 1;

fn setups() -> [Setup; 3] {
    let model = Some(client_propagated(Priority::MIN));
    [
        Setup::default(),
        Setup {
            pool: |pool| pool.request_buffering(QueueLimits::default()),
            ..Setup::default()
        },
        Setup {
            pool: |pool| pool.lane_with(LaneSpec::new(Priority::MIN).wait(LaneWait::Blocking)),
            model,
            ..Setup::default()
        },
    ]
}

#[test]
fn the_reply_is_sent_before_the_servant_is_called() {
    for server in setups().map(Setup::start) {
        let mut peer = Peer::connect(server.port());
        let mut send = |id, value| {
            let request = COMMON.request_with(id, WITH_SERVER, &server.key(), "wait_at_gate", &[], |body| {
                body.i32(value)
            });
            peer.send(&request);
            let message = peer.receive().expect("a reply while the servant waits");
            let reply = message.reply();
            assert_eq!((reply.id, reply.status), (id, 0));
            assert!(reply.body.rest().is_empty(), "no results");
        };
        send(7, 1);
        server.hooks.await_at_gate(1);
        server.hooks.open_gate();
        // The connection continues, regardless of the result.
        for dialect in DIALECTS {
            peer.send(&dialect.request(8, &server.key(), "twice", |body| body.i32(21)));
            let message = peer.receive().unwrap();
            let mut reply = message.reply();
            assert_eq!((reply.id, reply.status, reply.body.i32()), (8, 0, 42));
        }
    }
}

#[test]
fn a_request_that_cannot_be_executed_is_refused() {
    let server = Server::start();
    let mut peer = Peer::connect(server.port());
    peer.send(&COMMON.request_with(7, WITH_SERVER, b"unknown", "twice", &[], |body| body.i32(1)));
    let message = peer.receive().unwrap();
    let mut reply = message.reply();
    assert_eq!((reply.id, reply.status), (7, 2));
    assert_eq!(reply.body.string(), b"IDL:omg.org/CORBA/OBJECT_NOT_EXIST:1.0");
    // What the servant says comes too late for its client.
    peer.send(
        &COMMON.request_with(8, WITH_SERVER, &server.key(), "no_such_operation", &[], |body| {
            body
        }),
    );
    let message = peer.receive().unwrap();
    assert_eq!((message.reply().id, message.reply().status), (8, 0));
}
