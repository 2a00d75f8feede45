use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_os::{
    Doorbell, Interest, Poller, Trigger,
    shm::{Corrupted, Ear, Ringer, Segment},
};

use super::handshake::Connection;
use crate::{Peer, Stream};

/// A connection through a segment.
///
/// A read or write that finds what it needs makes no system call, but the one that rings for a peer who sleeps.
pub(super) struct ShmStream {
    segment: Segment,
    ear: Ear,
    ringer: Ringer,
    peer: Peer,
    nonblocking: AtomicBool,
    /// In nanoseconds; [`u64::MAX`]: for ever.
    timeout: AtomicU64,
    /// The peer has let go of its bells: it has ended, or died.
    hung_up: AtomicBool,
    shut_down: AtomicBool,
    /// Where a blocking read waits, and where a blocking write does: a ring is for whoever needs it.
    reading: OnceLock<WaitingPlace>,
    writing: OnceLock<WaitingPlace>,
}

/// The server's end, in non-blocking mode.
pub(super) fn accepted(connection: Connection, peer: Peer) -> ShmStream {
    stream(connection, peer, true)
}

/// The client's end, in blocking mode.
pub(super) fn connected(connection: Connection, peer: Peer) -> io::Result<ShmStream> {
    let stream = stream(connection, peer, false);
    // Now, and not in the first call.
    stream.place(&stream.reading)?;
    Ok(stream)
}

fn stream(connection: Connection, peer: Peer, nonblocking: bool) -> ShmStream {
    let Connection { segment, ear, ringer } = connection;
    ShmStream {
        segment,
        ear,
        ringer,
        peer,
        nonblocking: AtomicBool::new(nonblocking),
        timeout: AtomicU64::new(u64::MAX),
        hung_up: AtomicBool::new(false),
        shut_down: AtomicBool::new(false),
        reading: OnceLock::new(),
        writing: OnceLock::new(),
    }
}

impl Stream for ShmStream {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.nonblocking.load(Ordering::Relaxed) {
            return self.read_at_once(buffer);
        }
        let mut wait = self.wait(&self.reading);
        loop {
            let count = self.take(buffer, false)?;
            if count > 0 {
                return Ok(count);
            }
            if self.has_ended() {
                return self.take(buffer, false);
            }
            self.ear.expect();
            if !self.segment.sleep().map_err(corrupted)? && !wait.once()? {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
    }

    fn write(&self, octets: &[u8]) -> io::Result<usize> {
        let mut wait = None;
        loop {
            if self.has_ended() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let written = self.segment.write(octets).map_err(corrupted)?;
            if written.count > 0 {
                return self.ring_for(written.count, written.wake);
            }
            self.ear.expect();
            if self.segment.wait_for_room().map_err(corrupted)? {
                continue;
            }
            if self.nonblocking.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            if !wait.get_or_insert_with(|| self.wait(&self.writing)).once()? {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        if !nonblocking {
            self.place(&self.reading)?;
        }
        self.nonblocking.store(nonblocking, Ordering::Relaxed);
        Ok(())
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = timeout.map_or(u64::MAX, |timeout| {
            u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX)
        });
        self.timeout.store(timeout, Ordering::Relaxed);
        Ok(())
    }

    fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        let mut wait = Wait {
            timeout: Some(timeout),
            ..self.wait(&self.reading)
        };
        loop {
            if self.segment.is_readable().map_err(corrupted)? || self.has_ended() {
                return Ok(true);
            }
            self.ear.expect();
            if !self.segment.sleep().map_err(corrupted)? && !wait.once()? {
                return Ok(false);
            }
        }
    }

    fn wait_writable(&self, timeout: Duration) -> io::Result<bool> {
        let mut wait = Wait {
            timeout: Some(timeout),
            ..self.wait(&self.writing)
        };
        loop {
            self.ear.expect();
            if self.segment.wait_for_room().map_err(corrupted)? || self.has_ended() {
                return Ok(true);
            }
            if !wait.once()? {
                return Ok(false);
            }
        }
    }

    fn shutdown(&self) {
        self.shut_down.store(true, Ordering::Release);
        self.segment.close();
        // Whoever is gone need not be told.
        let _ = self.ringer.ring();
        for place in [&self.reading, &self.writing] {
            if let Some(place) = place.get() {
                let _ = place.own_bell.ring();
            }
        }
    }

    fn peer(&self) -> Peer {
        self.peer
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ear.as_fd()
    }
}

impl ShmStream {
    fn read_at_once(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.ear.expect();
        let count = self.take(buffer, true)?;
        if count > 0 {
            return Ok(count);
        }
        // A lane comes here only where it was woken for nothing, or for the end.
        if !self.has_ended() && !self.ear.is_hung_up() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        // What was written before the end, and after the first look.
        self.take(buffer, true)
    }

    fn take(&self, buffer: &mut [u8], sleep: bool) -> io::Result<usize> {
        let read = self.segment.read(buffer, sleep).map_err(corrupted)?;
        if read.wake {
            // A writer that has died needs no room.
            let _ = self.ringer.ring();
        }
        Ok(read.count)
    }

    fn ring_for(&self, count: usize, wake: bool) -> io::Result<usize> {
        if wake && !self.ringer.ring() && self.segment.take_back(count) {
            // It died before it had an octet of them: nothing was written.
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(count)
    }

    /// Whether either side has ended the connection; octets may still be there to read.
    fn has_ended(&self) -> bool {
        self.segment.is_closed_by_peer()
            || self.hung_up.load(Ordering::Relaxed)
            || self.shut_down.load(Ordering::Relaxed)
    }

    fn place<'p>(&self, place: &'p OnceLock<WaitingPlace>) -> io::Result<&'p WaitingPlace> {
        match place.get() {
            Some(place) => Ok(place),
            None => {
                let new = WaitingPlace::new(&self.ear)?;
                Ok(place.get_or_init(|| new))
            }
        }
    }

    fn wait<'s>(&'s self, place: &'s OnceLock<WaitingPlace>) -> Wait<'s> {
        let timeout = self.timeout.load(Ordering::Relaxed);
        Wait {
            stream: self,
            place,
            timeout: (timeout != u64::MAX).then(|| Duration::from_nanos(timeout)),
            deadline: None,
        }
    }
}

impl Drop for ShmStream {
    fn drop(&mut self) {
        // The bells hang up by themselves.
        self.segment.close();
    }
}

/// Waiting for rings until a time-out.
struct Wait<'s> {
    stream: &'s ShmStream,
    place: &'s OnceLock<WaitingPlace>,
    timeout: Option<Duration>,
    /// From the first wait on.
    deadline: Option<Instant>,
}

impl Wait<'_> {
    /// Waits for one ring, or the end of the connection; `false` after the time-out.
    fn once(&mut self) -> io::Result<bool> {
        let place = self.stream.place(self.place)?;
        let mut left = self.timeout;
        if let Some(timeout) = self.timeout {
            let now = Instant::now();
            let deadline = *self.deadline.get_or_insert(now + timeout);
            left = Some(deadline.saturating_duration_since(now));
        }
        let Some(event) = place.poller.wait_one(left)? else {
            return Ok(false);
        };
        if event.is_peer_closed() || event.is_error() {
            self.stream.hung_up.store(true, Ordering::Relaxed);
        }
        Ok(true)
    }
}

struct WaitingPlace {
    poller: Poller,
    /// Rung by [`Stream::shutdown`] of this side.
    own_bell: Doorbell,
}

impl WaitingPlace {
    fn new(ear: &Ear) -> io::Result<Self> {
        let (poller, own_bell) = (Poller::new()?, Doorbell::new()?);
        poller.add(ear, 0, Interest::READ, Trigger::Edge)?;
        poller.add(&own_bell, 1, Interest::READ, Trigger::Level)?;
        Ok(Self { poller, own_bell })
    }
}

/// Without a text, which would be allocated on a lane.
fn corrupted(_: Corrupted) -> io::Error {
    io::ErrorKind::InvalidData.into()
}
