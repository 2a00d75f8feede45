//! Streams over shared memory.

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
    shm::{Corrupted, DoorbellReceiver, DoorbellSender, Segment, Sleeper},
};

use super::handshake::Connection;
use crate::{Origin, Stream};

/// A connection over a shared-memory segment.
///
/// A read or write that need not wait makes no system call, except to wake a sleeping peer.
pub(super) struct ShmStream {
    segment: Segment,
    receiver: DoorbellReceiver,
    sender: DoorbellSender,
    origin: Origin,
    nonblocking: AtomicBool,
    /// Timeout in nanoseconds; [`u64::MAX`] for none.
    timeout: AtomicU64,
    /// The peer has closed its bells: it has ended or died.
    hung_up: AtomicBool,
    shut_down: AtomicBool,
    /// Wait of blocking reads without a timeout, of those with one, and of blocking writes. Any of them may
    /// take a ring.
    sleeper: OnceLock<Sleeper>,
    reading: OnceLock<DoorbellPoller>,
    writing: OnceLock<DoorbellPoller>,
    /// Number of threads that wait for room: the sleeper may take a ring meant for them.
    writers: AtomicU32,
}

/// Creates the server's end, in non-blocking mode.
pub(super) fn accepted(connection: Connection, origin: Origin) -> ShmStream {
    stream(connection, origin, true)
}

/// Creates the client's end, in blocking mode.
pub(super) fn connected(connection: Connection, origin: Origin) -> io::Result<ShmStream> {
    let stream = stream(connection, origin, false);
    // Created now, not in the first call.
    stream.sleeper()?;
    Ok(stream)
}

fn stream(connection: Connection, origin: Origin, nonblocking: bool) -> ShmStream {
    let Connection {
        segment,
        receiver,
        sender,
    } = connection;
    ShmStream {
        segment,
        receiver,
        sender,
        origin,
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
            return self.read_nonblocking(buffer);
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
                self.receiver.expect();
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
            let _writer = self.count_writer();
            self.receiver.expect();
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
            self.doorbell_poller(&self.reading)?;
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
            self.receiver.expect();
            if self.segment.sleep().map_err(corrupted)? {
                continue;
            }
            if timeout.is_zero() {
                // Without a poller, which would cost two descriptors.
                return Ok(self.receiver.is_hung_up());
            }
            if !wait.once()? {
                return Ok(false);
            }
        }
    }

    fn wait_writable(&self, timeout: Duration) -> io::Result<bool> {
        let mut wait = Wait {
            timeout: Some(timeout),
            ..self.wait(&self.writing)
        };
        let _writer = self.count_writer();
        loop {
            self.receiver.expect();
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
        // A dead peer need not be notified.
        let _ = self.sender.ring();
        if let Some(sleeper) = self.sleeper.get() {
            // If this fails, the peer closes its end when it sees this one closed, which wakes the sleeper.
            let _ = sleeper.wake();
        }
        for cell in [&self.reading, &self.writing] {
            if let Some(doorbells) = cell.get() {
                let _ = doorbells.own_doorbell.ring();
            }
        }
    }

    fn origin(&self) -> Origin {
        self.origin
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }
}

impl ShmStream {
    fn read_nonblocking(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.receiver.expect();
        let count = self.take(buffer, true)?;
        if count > 0 {
            return Ok(count);
        }
        // Reached by a lane only after a spurious wake-up, or at the end.
        if !self.has_ended() && !self.receiver.is_hung_up() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        // Data written between the first read and the end.
        self.take(buffer, true)
    }

    fn take(&self, buffer: &mut [u8], sleep: bool) -> io::Result<usize> {
        let read = self.segment.read(buffer, sleep).map_err(corrupted)?;
        if read.wake {
            // A dead writer needs no room.
            let _ = self.sender.ring();
        }
        Ok(read.count)
    }

    fn ring_for(&self, count: usize, wake: bool) -> io::Result<usize> {
        if wake && !self.sender.ring() && self.segment.take_back(count) {
            // The peer died before it received any of the data: nothing was written.
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(count)
    }

    /// Counts a thread that waits for room, until the result is dropped.
    fn count_writer(&self) -> impl Drop {
        self.writers.fetch_add(1, Ordering::SeqCst);
        scopeguard::guard((), |()| {
            self.writers.fetch_sub(1, Ordering::SeqCst);
        })
    }

    /// Returns whether either side has ended the connection; data may remain to be read.
    fn has_ended(&self) -> bool {
        self.segment.is_closed_by_peer()
            || self.hung_up.load(Ordering::Relaxed)
            || self.shut_down.load(Ordering::Relaxed)
    }

    fn doorbell_poller<'p>(&self, cell: &'p OnceLock<DoorbellPoller>) -> io::Result<&'p DoorbellPoller> {
        match cell.get() {
            Some(poller) => Ok(poller),
            None => {
                let new = DoorbellPoller::new(&self.receiver)?;
                Ok(cell.get_or_init(|| new))
            }
        }
    }

    fn sleeper(&self) -> io::Result<&Sleeper> {
        match self.sleeper.get() {
            Some(sleeper) => Ok(sleeper),
            None => {
                let new = self.receiver.sleeper()?;
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
            // Created here if the writer has not done so yet.
            self.doorbell_poller(&self.writing)?.own_doorbell.ring()?;
        }
        Ok(())
    }

    fn wait<'s>(&'s self, poller: &'s OnceLock<DoorbellPoller>) -> Wait<'s> {
        let timeout = self.timeout.load(Ordering::Relaxed);
        Wait {
            stream: self,
            poller,
            timeout: (timeout != u64::MAX).then(|| Duration::from_nanos(timeout)),
            deadline: None,
        }
    }
}

impl Drop for ShmStream {
    fn drop(&mut self) {
        // The bells close themselves.
        self.segment.close();
    }
}

/// A wait for rings with a timeout.
struct Wait<'s> {
    stream: &'s ShmStream,
    poller: &'s OnceLock<DoorbellPoller>,
    timeout: Option<Duration>,
    /// Deadline, set by the first wait.
    deadline: Option<Instant>,
}

impl Wait<'_> {
    /// Waits for one ring, or the end of the connection; `false` after the timeout.
    fn once(&mut self) -> io::Result<bool> {
        let doorbells = self.stream.doorbell_poller(self.poller)?;
        let mut left = self.timeout;
        if let Some(timeout) = self.timeout {
            let now = Instant::now();
            let deadline = *self.deadline.get_or_insert(now + timeout);
            left = Some(deadline.saturating_duration_since(now));
        }
        let Some(event) = doorbells.poller.wait_one(left)? else {
            return Ok(false);
        };
        if event.token() == OWN_DOORBELL {
            // After the shutdown of this side it keeps ringing, for all waiters.
            if !self.stream.shut_down.load(Ordering::Acquire) {
                doorbells.own_doorbell.drain()?;
            }
        } else if event.is_peer_closed() || event.is_error() {
            self.stream.hung_up.store(true, Ordering::Relaxed);
        }
        Ok(true)
    }
}

const RECEIVER: u64 = 0;
const OWN_DOORBELL: u64 = 1;

/// A poller for the peer's bell and the own one.
struct DoorbellPoller {
    poller: Poller,
    /// Rung by [`Stream::shutdown`] of this side, and by a sleeper that may have taken a ring meant for this
    /// poller.
    own_doorbell: Doorbell,
}

impl DoorbellPoller {
    fn new(receiver: &DoorbellReceiver) -> io::Result<Self> {
        let (poller, own_doorbell) = (Poller::new()?, Doorbell::new()?);
        poller.add(receiver, RECEIVER, Interest::READ, Trigger::Edge)?;
        poller.add(&own_doorbell, OWN_DOORBELL, Interest::READ, Trigger::Level)?;
        Ok(Self { poller, own_doorbell })
    }
}

/// Converts an error without a text, which would have to be allocated on a lane thread.
fn corrupted(_: Corrupted) -> io::Error {
    io::ErrorKind::InvalidData.into()
}
