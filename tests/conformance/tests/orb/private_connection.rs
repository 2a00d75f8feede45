//! Private connections: each reference has its own, and they end with it.

use std::thread;

use punctual::{Orb, PolicyOverrides};
use punctual_fixtures::{
    conformance::ProbeRef,
    recorder::{CLIENT_PROPAGATED, Recorder, band, model, policies},
    server::client,
    wire::CLOSE_CONNECTION,
};

fn private(probe: &ProbeRef) -> ProbeRef {
    let own = PolicyOverrides::new().private_connection(true);
    probe.with_policies(own).unchecked()
}

fn call(probe: &ProbeRef) {
    assert_eq!(probe.twice(1), Ok(42));
}

#[test]
fn each_reference_has_a_connection_of_its_own() {
    let (server, orb) = (Recorder::start(), client());
    let shared = server.reference(&orb, &[]);
    let also_shared = server.reference(&orb, &[]);
    let [first, second] = [private(&shared), private(&shared)];
    let clone = first.clone();
    for probe in [
        &shared,
        &first,
        &second,
        &also_shared,
        &clone,
        &second,
        &first,
        &shared,
    ] {
        call(probe);
    }
    assert_eq!(server.connections_of_requests(), [0, 1, 2, 0, 1, 2, 1, 0]);
    // Taken back for a reference, or for the thread: it shares again.
    let open = PolicyOverrides::new().private_connection(false);
    let reopened: ProbeRef = first.with_policies(open).unchecked();
    call(&reopened);
    assert_eq!(server.connections_of_requests().last(), Some(&0));
}

#[test]
fn the_orb_and_the_thread_may_ask_for_it() {
    let ways: [fn(&Orb, PolicyOverrides); 2] = [
        |orb, policies| orb.replace_policies(policies),
        |orb, policies| orb.current().replace_policies(policies),
    ];
    for set in ways {
        let (server, orb) = (Recorder::start(), client());
        let [first, second] = [(); 2].map(|()| server.reference(&orb, &[]));
        call(&first);
        set(&orb, PolicyOverrides::new().private_connection(true));
        call(&first);
        call(&second);
        call(&first);
        set(&orb, PolicyOverrides::new());
        call(&second);
        assert_eq!(server.connections_of_requests(), [0, 1, 2, 1, 0]);
    }
}

#[test]
fn they_close_in_good_order_with_the_reference() {
    let (server, orb) = (Recorder::start(), client());
    let shared = server.reference(&orb, &[]);
    let own = private(&shared);
    call(&shared);
    call(&own);
    let clone = own.clone();
    drop(own);
    call(&clone);
    assert_eq!(server.await_open(2, CLOSE_CONNECTION), Vec::<usize>::new());
    drop(clone);
    assert_eq!(server.await_open(1, CLOSE_CONNECTION), [1]);
    call(&shared);
    assert_eq!(server.connections(), 2);
}

/// A thread that ended has left its private connection; it goes with the reference as well.
#[test]
fn those_of_ended_threads_too() {
    let (server, orb) = (Recorder::start(), client());
    let own = private(&server.reference(&orb, &[]));
    thread::scope(|scope| scope.spawn(|| call(&own)).join()).unwrap();
    call(&own);
    assert_eq!(
        server.connections_of_requests(),
        [0, 0],
        "this thread went on with it"
    );
    thread::scope(|scope| scope.spawn(|| call(&own)).join()).unwrap();
    assert_eq!(
        server.connections_of_requests(),
        [0, 0, 1],
        "while this one had it"
    );
    drop(own);
    assert_eq!(server.await_open(0, CLOSE_CONNECTION).len(), 2);
}

/// Private and banded: each band of each reference has its own.
#[test]
fn bands_of_private_connections_are_apart() {
    let (server, orb) = (Recorder::start(), client());
    let both = PolicyOverrides::new()
        .private_connection(true)
        .priority_bands([band(0, 10), band(11, 20)]);
    let plain = server.reference(&orb, &[policies(&[model(CLIENT_PROPAGATED, 0)])]);
    let [first, second] = [(); 2].map(|()| {
        let probe: ProbeRef = plain.with_policies(both.clone()).unchecked();
        probe
    });
    for (priority, probe) in [
        (0, &first),
        (15, &first),
        (0, &second),
        (20, &second),
        (10, &first),
    ] {
        orb.current()
            .set_priority(punctual::Priority::new(priority).unwrap())
            .unwrap();
        call(probe);
    }
    assert_eq!(server.connections_of_requests(), [0, 1, 2, 3, 0]);
}
