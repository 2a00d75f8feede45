//! Properties that a call takes from the thread that makes it, regardless of the thread that polls it:
//! priority, policies, lane.

use std::{thread, time::Duration};

use punctual::{PolicyOverrides, Priority};
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::{Listener, Peer},
    priorities::LOW,
    priority,
    real_time::ordinary_client,
    recorder::{CLIENT_PROPAGATED, model, policies, resolve},
    server::{Server, reference},
    wire::{Message, Reader},
};

use super::{Client, answer, block_on, late, requests};

const RT_CORBA_PRIORITY: u32 = 10;

/// The higher lane's; calls above it have none.
const HIGH: i16 = 20_000;

/// A reference to an object that runs at the priorities of its clients.
fn propagating(listener: &Listener) -> punctual::Ior {
    let model = policies(&[model(CLIENT_PROPAGATED, 0)]);
    reference([1, 2], listener.port, b"played", &[model])
}

fn priority_of(message: &Message) -> i16 {
    let contexts = message.request().contexts;
    let (_, data) = contexts
        .iter()
        .find(|(id, _)| *id == RT_CORBA_PRIORITY)
        .expect("a priority");
    Reader::encapsulation(data).u16() as i16
}

fn next(peer: &mut Peer) -> Message {
    requests(peer, 1).remove(0)
}

/// An ORB with a lane for replies at each of two priorities.
fn with_lanes() -> Client {
    let orb = ordinary_client();
    let pool = orb
        .threadpool()
        .lane(priority(LOW), 1)
        .lane(priority(HIGH), 1)
        .build()
        .unwrap();
    orb.set_reply_threadpool(&pool).unwrap();
    orb.replace_policies(PolicyOverrides::new().roundtrip_timeout(Duration::from_secs(60)));
    Client { orb, pool }
}

/// Also for a request that another thread sends again, at another priority.
#[test]
fn the_priority_is_that_of_the_call() {
    let client = with_lanes();
    let (first, second) = (Listener::open(), Listener::open());
    let probe: ProbeRef = resolve(&client.orb, &propagating(&first));
    let set = |priority: Priority| client.orb.current().set_priority(priority).unwrap();
    set(priority(HIGH));
    let call = probe.twice_async(7);
    set(Priority::MIN);
    let mut peer = first.accept();
    let request = next(&mut peer);
    assert_eq!(priority_of(&request), HIGH);
    let ior = propagating(&second);
    peer.send(&request.dialect.reply(request.request().id, 3, |body| {
        let body = body.string(ior.type_id.as_bytes()).u32(1);
        body.u32(0).sequence(&ior.profiles[0].data)
    }));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut peer = second.accept();
            let request = next(&mut peer);
            assert_eq!(priority_of(&request), HIGH);
            peer.send(&answer(&request));
        });
        assert_eq!(block_on(call), Ok(14));
    });
    let seen = client.pool.statistics();
    let replies: Vec<_> = seen.iter().map(|(_, lane)| lane.replies).collect();
    assert_eq!(replies, [0, 2], "no reply is read below its caller's priority");
}

#[test]
fn the_lane_is_the_lowest_that_is_not_below_the_caller() {
    let (server, client) = (Server::start(), with_lanes());
    let probe = server.reference_for(&client.orb);
    for (own, expected) in [(LOW, [1, 0]), (LOW + 1, [1, 1]), (HIGH, [1, 2])] {
        client.orb.current().set_priority(priority(own)).unwrap();
        assert_eq!(probe.twice_async(1).wait(), Ok(2));
        let seen = client.pool.statistics();
        assert_eq!([seen[0].1.replies, seen[1].1.replies], expected);
    }
    client.orb.current().set_priority(priority(HIGH + 1)).unwrap();
    let minor = punctual::Minor::NO_LANE_FOR_REPLY;
    assert_eq!(probe.twice_async(1).wait().unwrap_err().minor, minor);
}

#[test]
fn the_policies_are_those_of_the_call() {
    let client = Client::start();
    let (_listener, probe) = client.playing();
    let prompt = PolicyOverrides::new().roundtrip_timeout(Duration::from_millis(50));
    client.orb.current().replace_policies(prompt);
    let calls = [1, 2].map(|value| probe.twice_async(value));
    client.orb.current().replace_policies(PolicyOverrides::new());
    let [one, other] = calls;
    let other = thread::spawn(|| block_on(other));
    assert_eq!(one.wait(), Err(late()));
    assert_eq!(other.join().unwrap(), Err(late()));
}

/// They close with the last of reference and calls.
#[test]
fn a_private_connection_lives_as_long_as_its_calls() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let own = PolicyOverrides::new().private_connection(true);
    let private: ProbeRef = probe.with_policies(own).unchecked();
    let call = private.twice_async(4);
    drop(private);
    let mut peer = listener.accept();
    let request = next(&mut peer);
    peer.send(&answer(&request));
    assert_eq!(call.wait(), Ok(8));
    assert_eq!(
        peer.receive().map(|message| message.message_type),
        Some(5),
        "CloseConnection"
    );
    assert!(peer.is_closed());
}
