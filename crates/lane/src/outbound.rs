//! Messages that a connection's socket had no room for.

use std::{io, time::Instant};

use punctual_giop::{
    Version,
    connection::{Role, SendHalf},
};
use punctual_transport::Stream;

/// Send side of a connection, under its lock.
pub(crate) struct Outbound {
    /// Octets that wait for room.
    waiting: Vec<u8>,
    /// Time since which the peer has accepted none of them.
    stalled: Option<Instant>,
    pub(crate) protocol: SendHalf,
}

/// Result of [`Outbound::write`] if the connection is broken.
pub(crate) struct Broken {
    /// Part of the message has been sent.
    pub(crate) begun: bool,
}

impl Outbound {
    pub(crate) fn new(role: Role) -> Self {
        Self {
            waiting: Vec::new(),
            stalled: None,
            protocol: SendHalf::new(role, Version::V1_0),
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn stalled(&self) -> Option<Instant> {
        self.stalled
    }

    /// Starts the clock of a peer that accepts nothing.
    pub(crate) fn set_stalled(&mut self) {
        self.stalled = Some(Instant::now());
    }

    /// Writes a message as far as there is room and keeps the rest; `await_room` is called when there is
    /// none, and returns whether to give up for now. Returns whether everything kept before had been sent.
    pub(crate) fn write(
        &mut self,
        stream: &dyn Stream,
        message: &[u8],
        version: Version,
        mut await_room: impl FnMut() -> bool,
    ) -> Result<bool, Broken> {
        self.protocol.use_version(version);
        let was_empty = self.waiting.is_empty();
        let mut sent = 0;
        while was_empty && sent < message.len() {
            match stream.write(&message[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if await_room() {
                        break;
                    }
                }
                Err(_) => return Err(Broken { begun: sent > 0 }),
            }
        }
        self.waiting.extend_from_slice(&message[sent..]);
        Ok(was_empty)
    }

    /// Continues to send what waits. `true`: nothing remains.
    pub(crate) fn flush(&mut self, stream: &dyn Stream) -> io::Result<bool> {
        let mut sent = 0;
        while sent < self.waiting.len() {
            match stream.write(&self.waiting[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        self.waiting.drain(..sent);
        let done = self.waiting.is_empty();
        if sent > 0 {
            self.stalled = self.stalled.filter(|_| !done).map(|_| Instant::now());
        }
        Ok(done)
    }
}

/// Closes a connection in an orderly way although messages of its peer have not been handled.
pub(crate) fn refuse(stream: &dyn Stream) {
    if let Some(message) = SendHalf::new(Role::Server, Version::V1_0).close() {
        let _ = stream.write(&message);
    }
    stream.shutdown();
}
