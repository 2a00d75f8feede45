//! Checks of descriptors in pollers.

use std::{
    io::ErrorKind,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use punctual_os::{Events, Interest, Poller, Trigger};

use super::{STALL_TIMEOUT, connect, listen, pair, pattern, write_all};
use crate::{Stream, Transport};

/// A poller for one stream, used like in a lane.
struct Waiting {
    poller: Poller,
    events: Events,
}

impl Waiting {
    fn at(stream: &dyn Stream) -> Self {
        Self::of(stream, Interest::READ_WRITE)
    }

    fn of(stream: &dyn Stream, interest: Interest) -> Self {
        let poller = Poller::new().unwrap();
        poller.add(stream, 7, interest, Trigger::Edge).unwrap();
        Self {
            poller,
            events: Events::with_capacity(1),
        }
    }

    /// Waits for the next event.
    fn wait(&mut self, what: &str) {
        let count = self.poller.wait(&mut self.events, Some(STALL_TIMEOUT)).unwrap();
        assert_eq!(count, 1, "{what} was not signalled");
    }

    /// Reads the next three octets; waits only when there are none.
    fn received(&mut self, stream: &dyn Stream, what: &str) -> Vec<u8> {
        let (mut buffer, mut received) = ([0; 64], Vec::new());
        while received.len() < 3 {
            match stream.read(&mut buffer) {
                Ok(count) => {
                    assert!(count > 0, "the stream ended");
                    received.extend_from_slice(&buffer[..count]);
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    self.wait(what);
                }
            }
        }
        received
    }
}

/// A listener has a poller report each connection, once.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Unix, conformance};
///
/// conformance::connections_to_accept_are_signalled(&Unix, "");
/// ```
pub fn connections_to_accept_are_signalled(transport: &dyn Transport, address: &str) {
    let listener = listen(transport, address);
    let poller = Arc::new(Poller::new().unwrap());
    listener.watch(&poller, 7).unwrap();
    for number in 0..3 {
        let (client, server) = connect(transport, &*listener, |listener| {
            loop {
                let event = poller.wait_one(Some(STALL_TIMEOUT)).unwrap();
                assert!(event.is_some(), "connection {number} was not signalled");
                let accepted = listener.accept();
                listener.watch_again(&poller, 7).unwrap();
                match accepted {
                    Ok(Some(stream)) => break stream,
                    // The handshake continues.
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Ok(None) => panic!("connection {number} was signalled, and there is none"),
                    Err(error) => panic!("accepting connection {number}: {error}"),
                }
            }
        });
        assert!(
            listener.accept().unwrap().is_none(),
            "one connection, accepted twice"
        );
        drop((client, server));
    }
}

/// Edge-triggered: after a read that does not fill its buffer, later data is signalled, and so is the end.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Shm, conformance};
///
/// conformance::data_is_signalled_again_after_each_read(&Shm, "");
/// ```
pub fn data_is_signalled_again_after_each_read(transport: &dyn Transport, address: &str) {
    let (client, server) = pair(transport, address);
    let mut waiting = Waiting::at(&*server);
    for round in 0..50_u8 {
        write_all(&*client, &[round; 3]);
        assert_eq!(waiting.received(&*server, "data"), [round; 3]);
    }
    client.shutdown();
    loop {
        match server.read(&mut [0; 64]) {
            Ok(0) => return,
            Ok(_) => panic!("more than was written"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                waiting.wait("the end of the stream");
            }
        }
    }
}

/// Edge-triggered: a wait with a timeout of zero leaves the data, and the signal, to the thread that reads.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Unix, conformance};
///
/// conformance::looking_at_data_takes_no_signal(&Unix, "");
/// ```
pub fn looking_at_data_takes_no_signal(transport: &dyn Transport, address: &str) {
    let (client, server) = pair(transport, address);
    let mut waiting = Waiting::of(&*server, Interest::READ);
    for round in 0..10_u8 {
        let drained = server.read(&mut [0; 64]).unwrap_err();
        assert_eq!(drained.kind(), ErrorKind::WouldBlock);
        assert!(!server.wait_readable(Duration::ZERO).unwrap(), "round {round}");
        // Signals of before.
        while waiting
            .poller
            .wait(&mut waiting.events, Some(Duration::ZERO))
            .unwrap()
            > 0
        {}
        write_all(&*client, &[round; 3]);
        let deadline = Instant::now() + STALL_TIMEOUT;
        while !server.wait_readable(Duration::ZERO).unwrap() {
            assert!(Instant::now() < deadline, "data did not become readable");
            thread::sleep(Duration::from_micros(100));
        }
        waiting.wait("data that was looked at");
        assert_eq!(waiting.received(&*server, "the rest"), [round; 3]);
    }
}

/// Edge-triggered: after a write that failed without room, room is signalled.
///
/// ```
/// # mod punctual { pub(crate) use punctual_transport as transport; }
/// use punctual::transport::{Tcp, conformance};
///
/// conformance::room_is_signalled_again_after_a_failed_write(&Tcp, "127.0.0.1:0");
/// ```
pub fn room_is_signalled_again_after_a_failed_write(transport: &dyn Transport, address: &str) {
    let (client, server) = pair(transport, address);
    let mut waiting = Waiting::at(&*server);
    let chunk = pattern(60_000, 5);
    let mut buffer = vec![0; 60_000];
    let (mut written, mut read) = (0, 0);
    for _ in 0..3 {
        loop {
            match server.write(&chunk) {
                Ok(count) => written += count,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    break;
                }
            }
        }
        while read < written {
            read += client.read(&mut buffer).unwrap();
        }
        // A signal may be left of an earlier write: then the write fails again, and the next signal follows.
        while let Err(error) = server.write(b"x") {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            waiting.wait("room");
        }
        written += 1;
    }
}
