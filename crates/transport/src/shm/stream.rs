use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_os::{
    Doorbell, Interest, Poller, Trigger,
    shm::{Corrupted, Ear, Ringer, Segment, Sleeper},
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
    /// Where a blocking read waits without a time-out, and with one, and where a blocking write does: a ring is for whoever needs it.
    sleeper: OnceLock<Sleeper>,
    reading: OnceLock<WaitingPlace>,
    writing: OnceLock<WaitingPlace>,
    /// Threads that wait for room: the sleeper may take a ring that was meant for them.
    writers: AtomicU32,
}

/// The server's end, in non-blocking mode.
pub(super) fn accepted(connection: Connection, peer: Peer) -> ShmStream {
    stream(connection, peer, true)
}

/// The client's end, in blocking mode.
pub(super) fn connected(connection: Connection, peer: Peer) -> io::Result<ShmStream> {
    let stream = stream(connection, peer, false);
    // Now, and not in the first call.
    stream.sleeper()?;
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
        sleeper: OnceLock::new(),
        reading: OnceLock::new(),
        writing: OnceLock::new(),
        writers: AtomicU32::new(0),
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
            let sleeps = wait.timeout.is_none();
            if !sleeps {
                self.ear.expect();
            }
            if self.segment.sleep().map_err(corrupted)? {
                continue;
            }
            if sleeps {
                self.doze()?;
            } else if !wait.once()? {
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
            let _writer = Writing::begin(self);
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
            self.sleeper()?;
        }
        self.nonblocking.store(nonblocking, Ordering::Relaxed);
        Ok(())
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        if timeout.is_some() {
            self.place(&self.reading)?;
        }
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
        let _writer = Writing::begin(self);
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
        if let Some(sleeper) = self.sleeper.get() {
            // Where it cannot be woken from here, the peer lets go of its end when it sees this one closed.
            let _ = sleeper.wake();
        }
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

    fn sleeper(&self) -> io::Result<&Sleeper> {
        match self.sleeper.get() {
            Some(sleeper) => Ok(sleeper),
            None => {
                let new = self.ear.sleeper()?;
                Ok(self.sleeper.get_or_init(|| new))
            }
        }
    }

    /// Waits for one ring, or the end of the connection.
    fn doze(&self) -> io::Result<()> {
        if !self.sleeper()?.sleep() {
            self.hung_up.store(true, Ordering::Relaxed);
        }
        if self.writers.load(Ordering::SeqCst) > 0 {
            // Made here where the writer has not come so far.
            self.place(&self.writing)?.own_bell.ring()?;
        }
        Ok(())
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
        if event.token() == OWN_BELL {
            // After the end of this side it goes on ringing, for all.
            if !self.stream.shut_down.load(Ordering::Acquire) {
                place.own_bell.drain()?;
            }
        } else if event.is_peer_closed() || event.is_error() {
            self.stream.hung_up.store(true, Ordering::Relaxed);
        }
        Ok(true)
    }
}

/// Counts a thread that waits for room.
struct Writing<'s>(&'s ShmStream);

impl<'s> Writing<'s> {
    fn begin(stream: &'s ShmStream) -> Self {
        stream.writers.fetch_add(1, Ordering::SeqCst);
        Self(stream)
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.writers.fetch_sub(1, Ordering::SeqCst);
    }
}

const EAR: u64 = 0;
const OWN_BELL: u64 = 1;

struct WaitingPlace {
    poller: Poller,
    /// Rung by [`Stream::shutdown`] of this side, and by a sleeper that may have taken a ring for it.
    own_bell: Doorbell,
}

impl WaitingPlace {
    fn new(ear: &Ear) -> io::Result<Self> {
        let (poller, own_bell) = (Poller::new()?, Doorbell::new()?);
        poller.add(ear, EAR, Interest::READ, Trigger::Edge)?;
        poller.add(&own_bell, OWN_BELL, Interest::READ, Trigger::Level)?;
        Ok(Self { poller, own_bell })
    }
}

/// Without a text, which would be allocated on a lane.
fn corrupted(_: Corrupted) -> io::Error {
    io::ErrorKind::InvalidData.into()
}
