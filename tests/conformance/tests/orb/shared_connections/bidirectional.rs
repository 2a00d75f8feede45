//! Servers that call back over the connection of the client (CORBA 3.3 part 2, 9.8): with policy and rule,
//! and only then; request ids, contexts and claims octet by octet.

use std::{thread, time::Duration};

use punctual::{BidirectionalRule, Orb, OrbBuilder, Peers, PolicyOverrides, SchedulingClass, ThreadPool};
use punctual_fixtures::{
    conformance::ProbeRef,
    eventually,
    peer::{Listener, Peer},
    recorder::resolve,
    server::{Server, reference},
    wire::{COMMON, REPLY, REQUEST, Reader},
};

const CALLERS: usize = 4;

/// `IOP::BI_DIR_IIOP`.
const BI_DIR_IIOP: u32 = 5;

fn both() -> PolicyOverrides {
    PolicyOverrides::new()
        .bidirectional(true)
        .roundtrip_timeout(Duration::from_secs(60))
}

/// A server with an object in a pool that also reads the replies to its calls: one thread more than callers
/// that wait in upcalls.
fn server_of(orb: OrbBuilder) -> Server {
    let orb = orb
        .listen("iiop://127.0.0.1:0")
        .scheduling_class(SchedulingClass::Other)
        .lock_memory(false)
        .build()
        .unwrap();
    let pool: ThreadPool = orb.threadpool().threads(CALLERS + 1).build().unwrap();
    orb.set_reply_threadpool(&pool).unwrap();
    orb.add_policies(both());
    let poa = orb.root_poa().child("probes").threadpool(&pool).build().unwrap();
    Server::with_poa(orb, pool, poa)
}

fn accepting(rule: BidirectionalRule) -> Server {
    server_of(Orb::builder().accept_bidirectional(rule))
}

fn own() -> BidirectionalRule {
    BidirectionalRule::own_addresses(Peers::SameHost)
}

#[test]
fn callbacks_use_the_connection_of_the_client() {
    let (server, client) = (accepting(own()), server_of(Orb::builder()));
    let probe = &server.reference_for(&client.orb);
    let callback = &client.probe;
    thread::scope(|scope| {
        for caller in 0..CALLERS as i32 {
            scope.spawn(move || {
                for value in 0..100 {
                    assert_eq!(
                        probe.forward(Some(callback), caller + value),
                        Ok(2 * (caller + value))
                    );
                }
            });
        }
    });
    assert_eq!(server.seen(0).connections.open, 1, "of the client");
    assert_eq!(client.seen(0).connections.open, 0, "none of the server");
    assert_eq!(client.seen(0).requests, 400);
    // Other threads of the server call back, too.
    let callback = server.orb.resolve::<ProbeRef>(&client.probe.to_ior()).unwrap();
    assert_eq!(callback.twice(4), Ok(8));
    assert_eq!(client.seen(0).connections.open, 0);
}

/// The control: without the rule, or the client's policy, the server connects.
#[test]
fn without_rule_or_policy_the_server_connects() {
    let nobody = BidirectionalRule::own_addresses(Peers::Remote);
    for (server, policies) in [
        (server_of(Orb::builder()), both()),
        (accepting(nobody), both()),
        (accepting(own()), both().bidirectional(false)),
    ] {
        let client = server_of(Orb::builder());
        client.orb.add_policies(policies);
        let probe = server.reference_for(&client.orb);
        assert_eq!(probe.forward(Some(&client.probe), 3), Ok(6));
        assert_eq!(client.seen(0).connections.open, 1);
    }
}

/// A client by hand, which claims to serve this address.
fn claiming(server: &Server, host: &str, port: u16) -> Peer {
    let mut peer = Peer::connect(server.port());
    let points = COMMON.encapsulation(|data| data.u32(1).string(host.as_bytes()).u16(port));
    let contexts = [(BI_DIR_IIOP, points)];
    let request = COMMON.request_with(2, 3, &server.key(), "twice", &contexts, |body| body.i32(1));
    peer.send(&request);
    let reply = peer.receive().unwrap();
    assert_eq!(reply.message_type, REPLY, "the request itself is served");
    peer
}

#[test]
fn requests_of_the_server_have_odd_ids() {
    let server = accepting(own());
    let mut peer = claiming(&server, "127.0.0.1", 9);
    let callback: ProbeRef = resolve(&server.orb, &reference([1, 2], 9, b"played", &[]));
    for value in 0..3 {
        thread::scope(|scope| {
            let call = scope.spawn(|| callback.twice(value));
            let request = peer.receive().unwrap();
            assert_eq!((request.message_type, request.request().id % 2), (REQUEST, 1));
            peer.send(&super::answer(&request));
            assert_eq!(call.join().unwrap(), Ok(2 * value));
        });
    }
    // The client's own requests pass as before.
    peer.send(&COMMON.request(4, &server.key(), "twice", |body| body.i32(5)));
    assert_eq!(peer.receive().unwrap().message_type, REPLY);
    // The end of the connection ends the calls over it.
    thread::scope(|scope| {
        let call = scope.spawn(|| callback.twice(7));
        peer.receive().unwrap();
        drop(peer);
        assert_eq!(call.join().unwrap(), Err(super::lost()));
    });
    eventually("it is closed", || server.seen(0).connections.open == 0);
}

#[test]
fn addresses_of_others_are_not_believed() {
    for rule in [own(), BidirectionalRule::any_address(Peers::SameHost)] {
        let server = accepting(rule);
        let listener = Listener::open();
        let _peer = claiming(&server, "10.9.9.9", listener.port);
        let callback: ProbeRef = resolve(&server.orb, &reference([1, 2], listener.port, b"played", &[]));
        thread::scope(|scope| {
            let call = scope.spawn(|| callback.twice(4));
            let mut peer = listener.accept();
            let request = peer.receive().unwrap();
            peer.send(&super::answer(&request));
            assert_eq!(call.join().unwrap(), Ok(8), "at its own address");
        });
    }
}

/// A reply over a connection that is not bidirectional breaks the protocol, as does one that answers nothing.
#[test]
fn invented_replies_end_the_connection() {
    let server = accepting(own());
    let reply = COMMON.reply(1, 0, |body| body.i32(1));
    let mut ordinary = Peer::connect(server.port());
    ordinary.send(&reply);
    assert_eq!(ordinary.receive().unwrap().message_type, 6, "MessageError");
    let mut peer = claiming(&server, "127.0.0.1", 9);
    peer.send(&reply);
    assert_eq!(peer.receive().unwrap().message_type, 6, "MessageError");
}

/// Messages of a client: its addresses with the first request, even ids, and replies to the server's
/// requests.
#[test]
fn a_client_states_its_addresses_once() {
    let client = server_of(Orb::builder());
    let listener = Listener::open();
    let probe: ProbeRef = resolve(&client.orb, &reference([1, 2], listener.port, b"played", &[]));
    thread::scope(|scope| {
        let call = scope.spawn(|| (probe.twice(3), probe.twice(4)));
        let mut peer = listener.accept();
        let first = peer.receive().unwrap();
        let request = first.request();
        assert_eq!(request.id % 2, 0);
        let points = request.contexts.iter().find(|(id, _)| *id == BI_DIR_IIOP);
        // Those of the lane that reads, not of the default pool.
        let (_, points) = points.expect("a context");
        let expected = COMMON.encapsulation(|data| data.u32(1).string(b"127.0.0.1").u16(client.port()));
        assert_eq!(*points, expected);
        // A request of the server is served before its reply.
        peer.send(&COMMON.request(1, &client.key(), "twice", |body| body.i32(21)));
        let reply = peer.receive().unwrap();
        let mut reader: Reader<'_> = reply.reader();
        assert_eq!((reply.message_type, reader.u32()), (REPLY, 1));
        peer.send(&super::answer(&first));
        let second = peer.receive().unwrap();
        assert!(second.request().contexts.iter().all(|(id, _)| *id != BI_DIR_IIOP));
        peer.send(&super::answer(&second));
        assert_eq!(call.join().unwrap(), (Ok(6), Ok(8)));
    });
}
