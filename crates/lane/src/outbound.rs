//! Messages that a connection's socket had no room for.

use std::{io, time::Instant};

use punctual_giop::{Version, write_close_connection, write_message_error};
use punctual_transport::Stream;

/// Send side of a connection, under its lock.
pub(crate) struct Outbound {
    /// Octets that wait for room.
    waiting: Vec<u8>,
    /// Since when the peer has accepted none of them.
    stalled: Option<Instant>,
    /// Highest version that the peer has used, for messages that no request asked for.
    version: Version,
    /// CloseConnection has been sent.
    closing: bool,
}

/// Result of [`Outbound::write`] if the connection is broken.
pub(crate) struct Broken {
    /// Part of the message has been sent.
    pub(crate) begun: bool,
}

impl Outbound {
    pub(crate) fn new() -> Self {
        Self {
            waiting: Vec::new(),
            stalled: None,
            version: Version::V1_0,
            closing: false,
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    pub(crate) fn stalled(&self) -> Option<Instant> {
        self.stalled
    }

    /// Starts the clock of a peer that accepts nothing.
    pub(crate) fn set_stalled(&mut self) {
        self.stalled = Some(Instant::now());
    }

    /// Writes a message as far as there is room and keeps the rest; `await_room` is called when there is none, and returns whether
    /// to give up for now. Returns whether everything kept before had been sent.
    pub(crate) fn write(
        &mut self,
        stream: &dyn Stream,
        message: &[u8],
        version: Version,
        mut await_room: impl FnMut() -> bool,
    ) -> Result<bool, Broken> {
        self.version = self.version.max(version);
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

    /// Continues to send what waits. `true`: nothing waits any more.
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

    /// CloseConnection, unless it has been sent or may not be sent: before GIOP 1.2 only servers send it.
    pub(crate) fn close_message(&mut self, is_server: bool) -> Option<Vec<u8>> {
        if std::mem::replace(&mut self.closing, true) {
            return None;
        }
        (is_server || self.version >= Version::V1_2)
            .then(|| short_message(write_close_connection, self.version))
    }
}

/// MessageError in this version.
pub(crate) fn error_message(version: Version) -> Vec<u8> {
    short_message(write_message_error, version)
}

/// Closes a connection in good order whose peer's messages have not been handled.
pub(crate) fn refuse(stream: &dyn Stream) {
    let _ = stream.write(&short_message(write_close_connection, Version::V1_0));
    stream.shutdown();
}

fn short_message(write: fn(&mut Vec<u8>, Version), version: Version) -> Vec<u8> {
    let mut message = Vec::with_capacity(punctual_giop::HEADER_SIZE);
    write(&mut message, version);
    message
}
