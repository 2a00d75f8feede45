//! A server that answers in small parts without end: the caller's timeout ends the call.

use std::{sync::mpsc, thread, time::Duration};

use punctual::SystemExceptionKind;
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::Listener,
    recorder::resolve,
    server::{client, reference},
    wire::{COMMON, FRAGMENT},
};
use punctual_os::clock;

const TIMEOUT: Duration = Duration::from_millis(500);
/// Replies that make the buffers of the client and of its kernel large.
const LARGE_REPLIES: usize = 4;

#[test]
fn small_parts_of_a_reply_do_not_delay_the_end_of_a_call() {
    let listener = Listener::open();
    let orb = client();
    let probe = resolve(&orb, &reference([1, 2], listener.port, b"probe", &[]));
    let hasty: ProbeRef = probe.with_timeout(TIMEOUT).unchecked();
    let (stuffed, is_stuffed) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut peer = listener.accept_soon();
            let mut id = 0;
            for _ in 0..LARGE_REPLIES {
                id = peer.receive().expect("a request").request().id;
                peer.send(&COMMON.reply(id, 0, |body| body.i32(2).raw(&vec![0; 4 << 20])));
            }
            // The reply to a request that has not been sent yet.
            id += 1;
            let reply = COMMON.reply(id, 0, |body| body.i32(2));
            peer.send(&COMMON.fragmented(&reply, &[reply.len() - 12]).remove(0));
            let part = COMMON.header(FRAGMENT, true, 5).u32(id).u8(0).finish();
            peer.send_until_full(&part.repeat(1000), 64 << 20);
            stuffed.send(peer).expect("the test waits");
        });
        for _ in 0..LARGE_REPLIES {
            assert_eq!(probe.twice(1), Ok(2));
        }
        let _peer = is_stuffed.recv().expect("a connection");
        let before = clock::thread_cpu_time();
        let error = hasty.twice(1).unwrap_err();
        // Processor time: the machine may stall.
        let worked = clock::thread_cpu_time() - before;
        assert_eq!(error.kind, SystemExceptionKind::Timeout);
        assert!(worked < TIMEOUT + Duration::from_secs(1), "{worked:?}");
    });
}
