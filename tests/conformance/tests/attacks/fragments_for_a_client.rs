//! A server that answers in small parts without end: the caller's timeout ends the call.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use punctual_fixtures::{
    conformance::ProbeRef,
    peer::Listener,
    recorder::resolve,
    server::{client, reference},
    wire::{COMMON, FRAGMENT},
};

const TIMEOUT: Duration = Duration::from_millis(500);

#[test]
fn small_parts_of_a_reply_do_not_delay_the_end_of_a_call() {
    let listener = Listener::open();
    let orb = client();
    let probe = resolve(&orb, &reference([1, 2], listener.port, b"probe", &[]));
    let probe: ProbeRef = probe.with_timeout(TIMEOUT).unchecked();
    let (connection, connected) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut peer = listener.accept_soon();
            connection.send(peer.another()).expect("the test waits");
            let id = peer.receive().expect("a request").request().id;
            let reply = COMMON.reply(id, 0, |body| body.i32(1).raw(&vec![0; 4 << 20]));
            let start = COMMON.fragmented(&reply, &[reply.len() - 12]).remove(0);
            let part = COMMON.header(FRAGMENT, true, 5).u32(id).u8(0).finish();
            let batch = part.repeat(100_000);
            peer.send(&start);
            while peer.try_send(&batch) {}
        });
        let started = Instant::now();
        let error = probe.twice(1).unwrap_err();
        let late = started.elapsed().saturating_sub(TIMEOUT);
        assert_eq!(error.kind, punctual::SystemExceptionKind::Timeout);
        assert!(late < Duration::from_secs(1), "{late:?} late");
        connected.recv().expect("a connection").finish();
    });
}
