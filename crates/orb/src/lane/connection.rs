use std::{
    io,
    sync::atomic::{AtomicBool, AtomicU8, Ordering},
    time::Instant,
};

use punctual_cdr::CharSet;
use punctual_giop::{Version, write_close_connection, write_message_error};
use punctual_os::{PiMutex, PiMutexGuard};
use punctual_transport::Stream;

use super::inbound::Inbound;
use crate::Limits;

/// One accepted connection. Several threads of the lane may serve requests of it; one at a time reads.
pub(super) struct Connection {
    pub(super) token: u64,
    stream: Box<dyn Stream>,
    inbound: PiMutex<Inbound>,
    /// Something became readable while another thread was reading.
    again: AtomicBool,
    outbound: PiMutex<Outbound>,
    /// Whether replies wait in `outbound`: spares the lock while none do.
    congested: AtomicBool,
    /// Its lane has let go of it.
    closed: AtomicBool,
    /// What was negotiated for text; see [`Self::char_set`].
    char_set: AtomicU8,
}

/// Replies that the socket had no room for.
struct Outbound {
    waiting: Vec<u8>,
    limit: usize,
    /// The highest version the peer has used, for messages of our own accord.
    version: Version,
}

const UNKNOWN: u8 = 0;
const LATIN1: u8 = 1;
const UTF8: u8 = 2;

impl Connection {
    pub(super) fn new(token: u64, stream: Box<dyn Stream>, limits: &Limits) -> Self {
        Self {
            token,
            stream,
            inbound: PiMutex::new(Inbound::new(limits)),
            again: AtomicBool::new(false),
            outbound: PiMutex::new(Outbound {
                waiting: Vec::new(),
                limit: limits.max_message_size,
                version: Version::V1_0,
            }),
            congested: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            char_set: AtomicU8::new(UNKNOWN),
        }
    }

    pub(super) fn stream(&self) -> &dyn Stream {
        &*self.stream
    }

    /// Marks it as let go of by its lane.
    pub(super) fn set_closed(&self) {
        self.closed.store(true, Ordering::Release);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// The right to read; `None` where another thread has it, which is then sure to look again.
    pub(super) fn claim(&self) -> Option<PiMutexGuard<'_, Inbound>> {
        self.inbound.try_lock().or_else(|| {
            self.again.store(true, Ordering::SeqCst);
            // It may have let go just before it could see the mark.
            self.inbound.try_lock()
        })
    }

    /// Whether somebody failed to claim it since: to be asked after letting go of the claim.
    pub(super) fn must_look_again(&self) -> bool {
        self.again.load(Ordering::SeqCst) && self.again.swap(false, Ordering::SeqCst)
    }

    /// The code set of `char` and `string`: ISO-8859-1 until the peer has announced another.
    pub(super) fn char_set(&self) -> CharSet {
        if self.char_set.load(Ordering::Relaxed) == UTF8 {
            CharSet::Utf8
        } else {
            CharSet::Latin1
        }
    }

    /// Whether the peer has announced its code sets.
    pub(super) fn has_code_sets(&self) -> bool {
        self.char_set.load(Ordering::Relaxed) != UNKNOWN
    }

    pub(super) fn set_char_set(&self, char_set: CharSet) {
        let value = if char_set == CharSet::Utf8 { UTF8 } else { LATIN1 };
        self.char_set.store(value, Ordering::Relaxed);
    }

    /// Sends a reply. What the socket has no room for is kept, up to a limit, and follows when it has; nobody waits.
    ///
    /// Fails where the peer is gone, or lets more than the limit pile up.
    pub(super) fn send(&self, message: &[u8], version: Version) -> io::Result<()> {
        let mut outbound = self.outbound.lock();
        outbound.version = outbound.version.max(version);
        let mut sent = 0;
        while outbound.waiting.is_empty() && sent < message.len() {
            match self.stream.write(&message[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        let rest = &message[sent..];
        if outbound.waiting.len() + rest.len() > outbound.limit {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        if !rest.is_empty() {
            outbound.waiting.extend_from_slice(rest);
            self.congested.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Goes on with what is kept. `true`: all of it is sent, so requests may be read again.
    pub(super) fn flush(&self) -> io::Result<bool> {
        if !self.is_congested() {
            return Ok(true);
        }
        let mut outbound = self.outbound.lock();
        let mut sent = 0;
        while sent < outbound.waiting.len() {
            match self.stream.write(&outbound.waiting[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        outbound.waiting.drain(..sent);
        let done = outbound.waiting.is_empty();
        self.congested.store(!done, Ordering::Release);
        Ok(done)
    }

    /// Whether replies are kept: then no further request is read, or a peer that does not read would fill our memory.
    pub(super) fn is_congested(&self) -> bool {
        self.congested.load(Ordering::Acquire)
    }

    /// Whether a message was begun before this time and is not complete. Says so once: the caller closes the connection.
    pub(super) fn is_late(&self, begun_before: Instant) -> bool {
        // Who reads from it now will see for himself.
        self.inbound
            .try_lock()
            .is_some_and(|mut inbound| inbound.give_up(begun_before))
    }

    /// Says MessageError: what came is not GIOP, or not acceptable.
    pub(super) fn reject(&self) {
        self.last_words(write_message_error);
    }

    /// Says CloseConnection: nothing that is outstanding will be handled.
    pub(super) fn say_close(&self) {
        self.last_words(write_close_connection);
    }

    fn last_words(&self, write: fn(&mut Vec<u8>, Version)) {
        let version = self.outbound.lock().version;
        let mut message = Vec::with_capacity(punctual_giop::HEADER_SIZE);
        write(&mut message, version);
        let _ = self.send(&message, version);
    }
}

/// Turns a connection away in good order: whatever its peer has sent was not handled.
pub(super) fn refuse(stream: &dyn Stream) {
    let mut message = Vec::with_capacity(punctual_giop::HEADER_SIZE);
    write_close_connection(&mut message, Version::V1_0);
    let _ = stream.write(&message);
    stream.shutdown();
}
