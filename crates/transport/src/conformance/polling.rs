use std::io::ErrorKind;

use punctual_os::{Events, Interest, Poller, Trigger};

use super::{PATIENCE, accept, connect, listen, pair, pattern, write_all};
use crate::{Stream, Transport};

/// A lane's way of waiting, for one stream.
struct Waiting {
    poller: Poller,
    events: Events,
}

impl Waiting {
    fn at(stream: &dyn Stream) -> Self {
        let poller = Poller::new().unwrap();
        poller
            .add(stream, 7, Interest::READ_WRITE, Trigger::Edge)
            .unwrap();
        Self {
            poller,
            events: Events::with_capacity(1),
        }
    }

    /// Waits for the next event.
    fn hear(&mut self, what: &str) {
        let heard = self.poller.wait(&mut self.events, Some(PATIENCE)).unwrap();
        assert_eq!(heard, 1, "{what} is not heard of");
    }
}

/// Whoever waits for a listener hears of each connection.
pub fn what_waits_to_be_accepted_is_heard(transport: &dyn Transport, address: &str) {
    let listener = listen(transport, address);
    let poller = Poller::new().unwrap();
    poller
        .add(listener.as_fd(), 7, Interest::READ, Trigger::Edge)
        .unwrap();
    let mut events = Events::with_capacity(1);
    for number in 0..3 {
        let (client, server) = connect(transport, &*listener, |listener| {
            let heard = poller.wait(&mut events, Some(PATIENCE)).unwrap();
            assert_eq!(heard, 1, "connection {number} is not heard of");
            accept(listener)
        });
        assert!(
            listener.accept().unwrap().is_none(),
            "one connection, accepted twice"
        );
        drop((client, server));
    }
}

/// Edge-triggered: after a read that gets less than it had room for, whatever comes next is an event; so is the end.
pub fn what_a_poller_was_told_of_is_heard_again_after_each_read(transport: &dyn Transport, address: &str) {
    let (client, server) = pair(transport, address);
    let mut waiting = Waiting::at(&*server);
    let mut buffer = [0; 64];
    for round in 0..50_u8 {
        write_all(&*client, &[round; 3]);
        let mut received = Vec::new();
        while received.len() < 3 {
            match server.read(&mut buffer) {
                Ok(count) => {
                    assert!(count > 0, "the stream ended");
                    received.extend_from_slice(&buffer[..count]);
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    waiting.hear("what was written");
                }
            }
        }
        assert_eq!(received, [round; 3]);
    }
    client.shutdown();
    loop {
        match server.read(&mut buffer) {
            Ok(0) => return,
            Ok(_) => panic!("more than was written"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                waiting.hear("the end of the stream");
            }
        }
    }
}

/// Edge-triggered: after a write that failed for want of room, room is an event.
pub fn what_is_full_is_writable_again_when_it_was_read(transport: &dyn Transport, address: &str) {
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
        // One may be left of an earlier write that had room: then it fails again, and the next one comes.
        while let Err(error) = server.write(b"x") {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            waiting.hear("that there is room again");
        }
        written += 1;
    }
}
