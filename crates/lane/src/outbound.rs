//! Messages that a connection's socket had no room for.

use std::{
    io, mem,
    time::{Duration, Instant},
};

use punctual_giop::{
    Version,
    connection::{Role, SendHalf},
};
use punctual_transport::Stream;

/// Largest number of octets that one system call sends: a bound on the time for which a thread of higher
/// priority may have to wait for it.
const MAX_WRITE: usize = 64 << 10;

/// Size in octets from which memory is exchanged instead of copied. The thread allocates again then.
const LARGE: usize = 256 << 10;

/// Send side of a connection, under its lock.
pub(crate) struct Outbound {
    /// Octets that wait for room, behind those that were sent meanwhile.
    waiting: Vec<u8>,
    /// Octets of them that were sent.
    sent: usize,
    /// Time since which the peer has accepted none of them, or, if it is a client, since which not all were
    /// accepted.
    stalled: Option<Instant>,
    is_server: bool,
    /// Longest time for a message.
    completion: Duration,
    pub(crate) protocol: SendHalf,
}

/// Result of [`Outbound::write`] if the connection is broken.
pub(crate) struct Broken {
    /// Part of the message has been sent.
    pub(crate) begun: bool,
}

impl Outbound {
    pub(crate) fn new(role: Role, completion: Duration) -> Self {
        Self {
            waiting: Vec::new(),
            sent: 0,
            stalled: None,
            is_server: role == Role::Server,
            completion,
            protocol: SendHalf::new(role, Version::V1_0),
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len() - self.sent
    }

    /// Memory of what waits, in octets.
    pub(crate) fn held(&self) -> usize {
        self.waiting.capacity()
    }

    /// Frees what waits: the stream is closed.
    pub(crate) fn discard(&mut self) {
        (self.waiting, self.sent, self.stalled) = (Vec::new(), 0, None);
    }

    pub(crate) fn stalled(&self) -> Option<Instant> {
        self.stalled
    }

    /// Starts the clock of a peer that accepts nothing.
    pub(crate) fn set_stalled(&mut self) {
        self.stalled = Some(Instant::now());
    }

    /// Writes a message as far as there is room, if everything kept before has been sent; `await_room` is
    /// called when there is none, and returns whether to give up for now. Returns the number of octets sent;
    /// the caller has the rest kept.
    pub(crate) fn write(
        &mut self,
        stream: &dyn Stream,
        message: &[u8],
        version: Version,
        mut await_room: impl FnMut() -> bool,
    ) -> Result<usize, Broken> {
        self.protocol.use_version(version);
        let was_empty = self.waiting.is_empty();
        let (mut sent, mut begun) = (0, None);
        while was_empty && sent < message.len() {
            match stream.write(bounded(&message[sent..])) {
                Ok(count) => {
                    sent += count;
                    // Only a stream that blocks can take long for a part.
                    if sent < message.len()
                        && begun.get_or_insert_with(Instant::now).elapsed() > self.completion
                    {
                        await_room();
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if await_room() {
                        break;
                    }
                }
                Err(_) => return Err(Broken { begun: sent > 0 }),
            }
        }
        Ok(sent)
    }

    /// Keeps the rest of a message by exchanging its memory, if that costs less than copying.
    #[cold]
    pub(crate) fn keep_rest(&mut self, message: &mut Vec<u8>, sent: usize) {
        if self.waiting.is_empty() && message.len() >= LARGE {
            mem::swap(&mut self.waiting, message);
            self.sent = sent;
        } else {
            self.keep(&message[sent..]);
        }
    }

    #[cold]
    pub(crate) fn keep(&mut self, octets: &[u8]) {
        // What was sent is dropped before the memory grows, if it is most of it.
        if self.sent > self.waiting() {
            self.waiting.drain(..self.sent);
            self.sent = 0;
        }
        self.waiting.extend_from_slice(octets);
    }

    /// Continues to send what waits, without moving it. `true`: nothing remains, and its memory is freed.
    pub(crate) fn flush(&mut self, stream: &dyn Stream) -> io::Result<bool> {
        let before = self.sent;
        while self.sent < self.waiting.len() {
            match stream.write(bounded(&self.waiting[self.sent..])) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        if self.waiting() == 0 {
            self.discard();
            return Ok(true);
        }
        // A client that reads octet by octet gains no time.
        if self.sent > before && !self.is_server {
            self.stalled = Some(Instant::now());
        }
        Ok(false)
    }
}

fn bounded(octets: &[u8]) -> &[u8] {
    &octets[..octets.len().min(MAX_WRITE)]
}

/// Closes a connection in an orderly way although messages of its peer have not been handled.
pub(crate) fn refuse(stream: &dyn Stream) {
    if let Some(message) = SendHalf::new(Role::Server, Version::V1_0).close() {
        let _ = stream.write(&message);
    }
    stream.shutdown();
}
