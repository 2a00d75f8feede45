//! Streams over TLS.

use std::{
    io::{self, ErrorKind},
    os::fd::BorrowedFd,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use punctual::transport::{NetworkPriority, Origin, Stream};
use punctual_os::PiMutex;
use rustix::net::sockopt::socket_send_buffer_size;

use crate::{
    reason::EMPTY,
    session::{self, Received, Session},
};

/// A connection over TLS: a TCP stream that never blocks, and the state of TLS.
///
/// Threads hold the lock while they encrypt, decrypt or copy, never while they wait.
pub(crate) struct TlsStream {
    stream: Box<dyn Stream>,
    session: PiMutex<Session>,
    nonblocking: AtomicBool,
    /// Timeout of blocking reads and writes in nanoseconds; [`u64::MAX`]: none.
    timeout: AtomicU64,
    /// Octets that are encrypted at once: so few that the socket takes them whole if it has any room.
    part: usize,
}

/// Reads from the socket without any data, until the peer counts as hostile. A record takes at most five;
/// records of other kinds are rare.
const READS_WITHOUT_DATA: usize = 64;
/// Octets of the largest record.
const RECORD: usize = 16 << 10;
/// Octets that one write takes at most, as a lane writes them.
const MAX_WRITE: usize = 64 << 10;
/// Duration of one wait without a timeout.
const WAIT_CHUNK: Duration = Duration::from_secs(3600);

impl TlsStream {
    /// Creates a stream after the handshake. `stream` never blocks.
    pub(crate) fn new(stream: Box<dyn Stream>, session: Session, nonblocking: bool) -> Self {
        // The kernel reports room when a third of the buffer is free. Its accounting has overhead.
        let buffer = socket_send_buffer_size(&stream).unwrap_or(RECORD);
        Self {
            stream,
            session: PiMutex::new(session),
            nonblocking: AtomicBool::new(nonblocking),
            timeout: AtomicU64::new(u64::MAX),
            part: (buffer / 6).clamp(256, RECORD),
        }
    }

    /// Reads without waiting, until the buffer is full or the socket is drained.
    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut session = self.session.lock();
        let mut filled = 0;
        let mut without_data = 0;
        let mut is_drained = false;
        loop {
            let count = session.take(&mut buffer[filled..]);
            filled += count;
            if filled == buffer.len() {
                return Ok(filled);
            }
            if is_drained {
                break;
            }
            without_data = if count > 0 { 0 } else { without_data + 1 };
            if without_data > READS_WITHOUT_DATA {
                return Err(io::Error::new(ErrorKind::InvalidData, EMPTY));
            }
            match session.receive(&*self.stream) {
                Ok(Received::Octets) => {}
                Ok(Received::Last) => is_drained = true,
                Ok(Received::Nothing) => break,
                // The next read finds the end again.
                Ok(Received::End) => return Ok(filled),
                Err(_) if filled > 0 => {
                    // The next read returns it: the end of the stream makes a poller report it.
                    self.stream.shutdown();
                    return Ok(filled);
                }
                Err(error) => return Err(error),
            }
        }
        // Answers of TLS itself, such as those to new keys.
        session.flush(&*self.stream)?;
        match filled {
            0 if session.has_ended() => Ok(0),
            0 => Err(ErrorKind::WouldBlock.into()),
            filled => Ok(filled),
        }
    }

    /// Writes without waiting: what is taken is in the socket.
    ///
    /// What has been encrypted must be sent, so that it has to be known before whether there is room. If the
    /// kernel, out of memory, takes a record in part all the same, the next read or write sends the rest.
    fn try_write(&self, octets: &[u8]) -> io::Result<usize> {
        let mut session = self.session.lock();
        let mut sent = 0;
        while sent < octets.len().min(MAX_WRITE) {
            if !session.flush(&*self.stream)? || !self.stream.wait_writable(Duration::ZERO)? {
                break;
            }
            let part = &octets[sent..octets.len().min(sent + self.part)];
            sent += session.put(part)?;
            session.flush(&*self.stream)?;
        }
        match sent {
            0 if !octets.is_empty() => Err(ErrorKind::WouldBlock.into()),
            sent => Ok(sent),
        }
    }

    /// Waits for data or the end. Octets that TLS itself sends are no data; they are processed.
    fn wait_for_data(&self, timeout: Duration) -> io::Result<bool> {
        let deadline = Instant::now() + timeout;
        for _ in 0..READS_WITHOUT_DATA {
            if self.session.lock().has_data() {
                return Ok(true);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if !self.stream.wait_readable(left)? {
                return Ok(false);
            }
            let mut session = self.session.lock();
            match session.receive(&*self.stream) {
                Ok(Received::Octets | Received::Last | Received::Nothing) if !session.has_ended() => {}
                // The read that follows returns it.
                _ => return Ok(true),
            }
        }
        Ok(true)
    }

    /// Repeats a step until it need not wait.
    fn complete<T>(
        &self,
        mut step: impl FnMut() -> io::Result<T>,
        wait: impl Fn(Duration) -> io::Result<bool>,
    ) -> io::Result<T> {
        let mut deadline = None;
        loop {
            match step() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => return done,
            }
            if self.nonblocking.load(Ordering::Relaxed) {
                return Err(ErrorKind::WouldBlock.into());
            }
            let left = match self.timeout.load(Ordering::Relaxed) {
                u64::MAX => WAIT_CHUNK,
                timeout => deadline
                    .get_or_insert_with(|| Instant::now() + Duration::from_nanos(timeout))
                    .saturating_duration_since(Instant::now()),
            };
            let is_limited = deadline.is_some();
            if !wait(left)? && is_limited {
                return Err(ErrorKind::WouldBlock.into());
            }
        }
    }
}

impl Stream for TlsStream {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.complete(|| self.try_read(buffer), |left| self.stream.wait_readable(left))
    }

    fn write(&self, octets: &[u8]) -> io::Result<usize> {
        self.complete(|| self.try_write(octets), |left| self.stream.wait_writable(left))
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.nonblocking.store(nonblocking, Ordering::Relaxed);
        Ok(())
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        let nanoseconds = timeout.map_or(u64::MAX, |timeout| {
            u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX)
        });
        self.timeout.store(nanoseconds, Ordering::Relaxed);
        Ok(())
    }

    fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        // Octets that are taken from the socket here would be signalled to nobody.
        if timeout.is_zero() {
            return Ok(self.session.lock().has_data() || self.stream.wait_readable(timeout)?);
        }
        self.wait_for_data(timeout)
    }

    fn is_readable(&self) -> io::Result<bool> {
        self.wait_for_data(Duration::ZERO)
    }

    fn wait_writable(&self, timeout: Duration) -> io::Result<bool> {
        self.stream.wait_writable(timeout)
    }

    /// The state of TCP is not authenticated: without the peer's announcement a reset may be forged, and the
    /// acknowledgement of a request that was executed withheld.
    fn was_closed_before_write(&self, timeout: Duration) -> bool {
        self.session.lock().was_closed_by_peer() && self.stream.was_closed_before_write(timeout)
    }

    fn shutdown(&self) {
        self.session.lock().close(&*self.stream);
        self.stream.shutdown();
    }

    fn set_network_priority(&self, priority: NetworkPriority) -> io::Result<()> {
        self.stream.set_network_priority(priority)
    }

    fn origin(&self) -> Origin {
        self.stream.origin()
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Drop for TlsStream {
    fn drop(&mut self) {
        self.session.lock().close(&*self.stream);
    }
}

/// Executes the handshake of a client, until the deadline.
pub(crate) fn shake_hands(
    stream: &dyn Stream,
    session: &mut Session,
    deadline: Instant,
    closed: &str,
) -> io::Result<()> {
    loop {
        let flushed = session.flush(stream)?;
        if flushed && !session.is_handshaking() {
            return Ok(());
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let ready = match flushed {
            true => stream.wait_readable(left)?,
            false => stream.wait_writable(left)?,
        };
        if !ready || left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        if flushed && let Received::End = session.receive(stream)? {
            return Err(session::ended(closed));
        }
    }
}
