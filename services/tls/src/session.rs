//! TLS of one connection over its stream: steps that never wait.

use std::io::{self, ErrorKind, Read as _, Write as _};

use punctual::transport::{Distrust, Stream};
use rustls::{Connection, ProtocolVersion};

use crate::reason::{reason, refuses_certificate};

/// State of TLS of one connection.
pub(crate) struct Session {
    connection: Connection,
    /// Whether the peer has sent data after the handshake.
    has_received: bool,
    /// The stream has failed: reads return it again.
    failed: Option<ErrorKind>,
    /// The record that is being received, until the end of the handshake.
    record: Option<Record>,
}

/// Position in a record: RFC 8446, 5.1.
///
/// Data may follow the last record of the handshake at once. They must remain in the socket, so that the
/// lane's poller reports them: handshakes read one record at a time.
#[derive(Default)]
struct Record {
    header: [u8; 5],
    /// Octets of the header.
    seen: usize,
    /// Octets of the content that are still to come.
    left: usize,
}

impl Record {
    /// Returns the number of octets that a read may take.
    fn room(&self) -> usize {
        match self.header.len() - self.seen {
            0 => self.left,
            header => header,
        }
    }

    fn received(&mut self, octets: &[u8]) {
        if self.seen < self.header.len() {
            self.header[self.seen..][..octets.len()].copy_from_slice(octets);
            self.seen += octets.len();
            self.left = u16::from_be_bytes([self.header[3], self.header[4]]).into();
        } else {
            self.left -= octets.len();
        }
        if self.seen == self.header.len() && self.left == 0 {
            *self = Self::default();
        }
    }
}

/// Result of one read from the stream.
pub(crate) enum Received {
    /// Octets; perhaps there are more.
    Octets,
    /// Octets, and for now there are no more.
    Last,
    /// None for now.
    Nothing,
    /// The stream has ended.
    End,
}

impl Session {
    pub(crate) fn new(connection: impl Into<Connection>) -> Self {
        let mut connection = connection.into();
        // What is written is sent before more is taken.
        connection.set_buffer_limit(None);
        Self {
            connection,
            has_received: false,
            failed: None,
            record: Some(Record::default()),
        }
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Sends what waits; `false`: the stream has no room for all.
    pub(crate) fn flush(&mut self, stream: &dyn Stream) -> io::Result<bool> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut Octets::of(stream)) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Reads once from the stream, at most some 4 KiB, and processes what is complete. During the handshake,
    /// it reads a part of one record.
    pub(crate) fn receive(&mut self, stream: &dyn Stream) -> io::Result<Received> {
        if let Some(kind) = self.failed {
            return Err(kind.into());
        }
        let in_handshake = self.connection.is_handshaking();
        // It repeats an error that a thread found which did not read.
        if let Err(error) = self.connection.process_new_packets() {
            return Err(self.explained(&error, in_handshake));
        }
        if !in_handshake {
            self.record = None;
        }
        let mut octets = Octets {
            record: self.record.as_mut(),
            ..Octets::of(stream)
        };
        let count = match self.connection.read_tls(&mut octets) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Received::Nothing),
            Err(error) => {
                self.failed = Some(error.kind());
                return Err(error);
            }
        };
        let is_last = octets.is_short;
        if let Err(error) = self.connection.process_new_packets() {
            // The alert that tells the peer.
            let _ = self.flush(stream);
            return Err(self.explained(&error, in_handshake));
        }
        Ok(match (count, is_last) {
            (0, _) => Received::End,
            (_, true) => Received::Last,
            (_, false) => Received::Octets,
        })
    }

    /// Takes received data; 0: there is none. After its last octet the peer's end is an error or
    /// [`Received::End`].
    pub(crate) fn take(&mut self, buffer: &mut [u8]) -> usize {
        if buffer.is_empty() {
            return 0;
        }
        match self.connection.reader().read(buffer) {
            Ok(count) => {
                self.has_received |= count > 0;
                count
            }
            Err(_) => 0,
        }
    }

    /// Returns whether received data waits.
    pub(crate) fn has_data(&mut self) -> bool {
        let state = self.connection.process_new_packets();
        state.is_ok_and(|state| state.plaintext_bytes_to_read() > 0)
    }

    /// Returns whether the peer has announced its end, or a read fails.
    pub(crate) fn has_ended(&mut self) -> bool {
        let state = self.connection.process_new_packets();
        state.map_or(true, |state| state.peer_has_closed())
    }

    /// Returns whether the peer has announced its end, and nothing has failed.
    pub(crate) fn was_closed_by_peer(&mut self) -> bool {
        let state = self.connection.process_new_packets();
        state.is_ok_and(|state| state.peer_has_closed())
    }

    /// Encrypts octets, to be flushed.
    pub(crate) fn put(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.connection.writer().write(octets)
    }

    /// Announces the end to the peer, if the stream has room.
    pub(crate) fn close(&mut self, stream: &dyn Stream) {
        self.connection.send_close_notify();
        // A peer that has gone needs no announcement.
        let _ = self.flush(stream);
    }

    /// Errors of the handshake are those of trust. In TLS 1.3 the server may refuse the client's certificate
    /// after the client has ended its handshake (RFC 8446, 4.4.2.4), and has executed nothing then. After any
    /// other error it may have.
    fn explained(&self, error: &rustls::Error, in_handshake: bool) -> io::Error {
        let is_refusal = !self.has_received
            && self.connection.protocol_version() == Some(ProtocolVersion::TLSv1_3)
            && refuses_certificate(error);
        let reason = reason(error);
        if in_handshake || is_refusal {
            reason.into()
        } else {
            io::Error::new(ErrorKind::InvalidData, reason.0)
        }
    }
}

/// Returns the error of a peer that has ended its stream in the handshake.
pub(crate) fn ended(text: &str) -> io::Error {
    Distrust(text.to_owned()).into()
}

/// A stream as the library reads and writes it.
struct Octets<'s> {
    stream: &'s dyn Stream,
    /// The last read did not fill its buffer: the stream is drained.
    is_short: bool,
    /// The record beyond which nothing is read.
    record: Option<&'s mut Record>,
}

impl<'s> Octets<'s> {
    fn of(stream: &'s dyn Stream) -> Self {
        Self {
            stream,
            is_short: false,
            record: None,
        }
    }
}

impl io::Read for Octets<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = match &self.record {
            Some(record) => record.room().min(buffer.len()),
            None => buffer.len(),
        };
        let count = self.stream.read(&mut buffer[..room])?;
        self.is_short = count < room;
        if let Some(record) = &mut self.record {
            record.received(&buffer[..count]);
        }
        Ok(count)
    }
}

impl io::Write for Octets<'_> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.stream.write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
