use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_cdr::CharSet;
use punctual_flight::Link;
use punctual_giop::{Version, write_close_connection, write_message_error};
use punctual_os::{Interest, PiMutex, PiMutexGuard, Poller, Trigger};
use punctual_sched::NetworkPriorityMapping;
use punctual_transport::{ProtocolProperties, Stream};
use punctual_types::Priority;

use super::{Wake, inbound::Inbound, shared::Opened};
use crate::{Limits, accepted_priorities::Origin, network_mark::NetworkMark};

/// One connection in the lane's waiting place, accepted or opened. Several threads of the lane may serve requests of it; one at a
/// time reads.
pub(super) struct Connection {
    pub(super) token: u64,
    /// Its lane's waiting place.
    poller: Arc<Poller>,
    pub(super) origin: Origin,
    stream: Box<dyn Stream>,
    /// For the flight recorder.
    pub(super) link: Link,
    mark: NetworkMark,
    inbound: PiMutex<Inbound>,
    /// What became readable while another thread was reading: [`LOOK`] and [`ENDED`].
    again: AtomicU8,
    /// Requests that threads of the lane are serving.
    in_service: AtomicUsize,
    /// The peer has sent its last octet; it may still wait for replies.
    ended: AtomicBool,
    outbound: PiMutex<Outbound>,
    /// Whether replies wait in `outbound`: spares the lock while none do.
    congested: AtomicBool,
    /// Its lane has let go of it.
    closed: AtomicBool,
    /// CloseConnection has been said.
    leave_taken: AtomicBool,
    /// A thread blocks in `read` for it; it is in no waiting place.
    dedicated: AtomicBool,
    /// A message came since [`Self::set_unused`].
    used: AtomicBool,
    /// What was negotiated for text; see [`Self::char_set`].
    char_set: AtomicU8,
    /// Where this side opened it: replies come over it, and no requests.
    opened: Option<Arc<Opened>>,
}

/// Replies, or requests, that the socket had no room for.
struct Outbound {
    waiting: Vec<u8>,
    /// Since when the peer has taken nothing of them.
    stalled: Option<Instant>,
    /// The highest version the peer has used, for messages of our own accord.
    version: Version,
}

/// Something.
const LOOK: u8 = 1;
/// The end of the stream, behind whatever is there.
const ENDED: u8 = 2;

const UNKNOWN: u8 = 0;
const LATIN1: u8 = 1;
const UTF8: u8 = 2;

impl Connection {
    pub(super) fn new(
        token: u64,
        stream: Box<dyn Stream>,
        origin: Origin,
        properties: &ProtocolProperties,
        poller: &Arc<Poller>,
        limits: &Limits,
    ) -> Self {
        Self {
            token,
            link: Link::of(stream.as_fd()),
            poller: Arc::clone(poller),
            origin,
            stream,
            mark: NetworkMark::new(properties),
            inbound: PiMutex::new(Inbound::new(limits)),
            again: AtomicU8::new(0),
            in_service: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            outbound: PiMutex::new(Outbound {
                waiting: Vec::new(),
                stalled: None,
                version: Version::V1_0,
            }),
            congested: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            leave_taken: AtomicBool::new(false),
            dedicated: AtomicBool::new(false),
            used: AtomicBool::new(true),
            char_set: AtomicU8::new(UNKNOWN),
            opened: None,
        }
    }

    /// The same, opened by this side.
    pub(super) fn opened_for(self, opened: &Arc<Opened>) -> Self {
        Self {
            opened: Some(Arc::clone(opened)),
            ..self
        }
    }

    /// What it has where this side opened it.
    pub(super) fn opened(&self) -> Option<&Opened> {
        self.opened.as_deref()
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

    /// The right to read; `None` where another thread has it, which is then sure to look again, to the end of the stream
    /// where that has come.
    pub(super) fn claim(&self, wake: Wake) -> Option<PiMutexGuard<'_, Inbound>> {
        self.inbound.try_lock().or_else(|| {
            let ended = if wake.ended { ENDED } else { 0 };
            self.again.fetch_or(LOOK | ended, Ordering::SeqCst);
            // It may have let go just before it could see the mark.
            self.inbound.try_lock()
        })
    }

    /// The right to read, if nobody has it; whoever has it is not told.
    pub(super) fn try_claim(&self) -> Option<PiMutexGuard<'_, Inbound>> {
        self.inbound.try_lock()
    }

    /// As [`Self::claim`] for the thread that has it for itself: others hold the claim for a moment at most.
    pub(super) fn wait_for_claim(&self) -> PiMutexGuard<'_, Inbound> {
        self.inbound.lock()
    }

    pub(super) fn set_dedicated(&self) {
        self.dedicated.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_dedicated(&self) -> bool {
        self.dedicated.load(Ordering::SeqCst)
    }

    /// Whether a request of it is being served.
    pub(super) fn is_in_service(&self) -> bool {
        self.in_service.load(Ordering::SeqCst) > 0
    }

    /// Whether a thread is writing to it.
    pub(super) fn is_sending(&self) -> bool {
        self.outbound.try_lock().is_none()
    }

    /// Adds to `wake` why others failed to claim it since: to be asked after letting go of the claim.
    pub(super) fn look_again(&self, wake: &mut Wake) {
        if self.again.load(Ordering::SeqCst) != 0 {
            let marks = self.again.swap(0, Ordering::SeqCst);
            wake.look |= marks != 0;
            wake.ended |= marks & ENDED != 0;
        }
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

    /// Counts a request that will be served; while the claim is held.
    pub(super) fn enter(&self) {
        self.used.store(true, Ordering::Relaxed);
        self.in_service.fetch_add(1, Ordering::SeqCst);
    }

    /// Counts it out. `true`: it was the last one of a stream that has ended, and its reply is sent.
    pub(super) fn leave(&self) -> bool {
        self.in_service.fetch_sub(1, Ordering::SeqCst) == 1
            && self.ended.load(Ordering::SeqCst)
            && !self.is_congested()
    }

    /// Notes the end of the stream; while the claim is held. `true`: no reply is owed any more.
    pub(super) fn end(&self) -> bool {
        self.ended.store(true, Ordering::SeqCst);
        self.in_service.load(Ordering::SeqCst) == 0
    }

    /// Says at which priority the next reply travels.
    pub(super) fn mark(&self, mapping: &dyn NetworkPriorityMapping, priority: Option<Priority>) {
        self.mark.set(&*self.stream, mapping, priority);
    }

    /// Sends a reply. What the socket has no room for is kept and follows when it has; nobody waits.
    ///
    /// While something is kept no further request is read, so at most one reply per thread of the lane is. Fails where the
    /// peer is gone.
    pub(super) fn send(&self, message: &[u8], version: Version) -> Result<(), Broken> {
        self.send_locked(&mut self.outbound.lock(), message, version)
    }

    /// As [`Self::send`] for a request, of which nothing is sent (`None`) where more than so many octets wait before it.
    ///
    /// The lock is held while one message is written as far as there is room, and so never for a peer.
    pub(super) fn send_request(
        &self,
        message: &[u8],
        version: Version,
        at_most: usize,
    ) -> Result<(), Option<Broken>> {
        let mut outbound = self.outbound.lock();
        let waiting = outbound.waiting.len();
        if waiting > 0 && waiting + message.len() > at_most {
            return Err(None);
        }
        self.send_locked(&mut outbound, message, version).map_err(Some)
    }

    fn send_locked(
        &self,
        outbound: &mut PiMutexGuard<'_, Outbound>,
        message: &[u8],
        version: Version,
    ) -> Result<(), Broken> {
        outbound.version = outbound.version.max(version);
        let mut sent = 0;
        while outbound.waiting.is_empty() && sent < message.len() {
            match self.stream.write(&message[sent..]) {
                Ok(count) => sent += count,
                // Try once more after the mark is set: room made from then on wakes a thread that sees it.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if self.congested.swap(true, Ordering::SeqCst) {
                        break;
                    }
                    self.wait_for(Interest::READ_WRITE);
                }
                Err(_) => return Err(Broken { begun: sent > 0 }),
            }
        }
        if sent < message.len() && outbound.waiting.is_empty() && self.opened.is_some() {
            outbound.stalled = Some(Instant::now());
        }
        outbound.waiting.extend_from_slice(&message[sent..]);
        if outbound.waiting.is_empty() && self.is_congested() {
            self.congested.store(false, Ordering::SeqCst);
            self.wait_for(Interest::READ);
        }
        Ok(())
    }

    /// Room is waited for only while something is kept: Unix sockets report it whenever the peer has read. With `outbound` locked.
    fn wait_for(&self, interest: Interest) {
        // It fails for connections that a thread has for itself, which wait in `write`.
        let _ = self
            .poller
            .modify(self.stream(), self.token, interest, Trigger::Edge);
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
        if sent > 0 {
            outbound.stalled = outbound.stalled.filter(|_| !done).map(|_| Instant::now());
        }
        self.congested.store(!done, Ordering::SeqCst);
        if done {
            self.wait_for(Interest::READ);
        }
        Ok(done)
    }

    /// Whether replies are kept: then no further request is read, or a peer that does not read would fill our memory.
    pub(super) fn is_congested(&self) -> bool {
        self.congested.load(Ordering::SeqCst)
    }

    pub(super) fn set_used(&self) {
        self.used.store(true, Ordering::Relaxed);
    }

    pub(super) fn set_unused(&self) {
        self.used.store(false, Ordering::Relaxed);
    }

    /// Whether nothing came since [`Self::set_unused`], nothing is there now, and no reply is owed. If so, and callers share it,
    /// no further call begins.
    pub(super) fn is_unused(&self) -> bool {
        // Who reads it uses it; that includes a thread that has it for itself.
        let Some(inbound) = self.inbound.try_lock() else {
            return false;
        };
        !self.used.load(Ordering::Relaxed)
            && !self.is_in_service()
            && !self.is_congested()
            && inbound.is_empty()
            && !matches!(self.stream.wait_readable(Duration::ZERO), Ok(true))
            && self.opened().is_none_or(|opened| opened.replies.end_if_idle())
    }

    /// Whether more than so many octets of replies are kept.
    pub(super) fn owes_more_than(&self, octets: usize) -> bool {
        self.outbound.lock().waiting.len() > octets
    }

    /// How much of a message there is, and whether the peer takes what waits for it.
    pub(super) fn progress(&self, late_before: Instant) -> Progress {
        if self.opened.is_some() && self.is_congested() {
            let outbound = self.outbound.lock();
            return match outbound.stalled {
                Some(since) if since < late_before => Progress::Late(outbound.version),
                _ => Progress::Incomplete,
            };
        }
        // Who reads from it now may begin a message.
        let Some(inbound) = self.inbound.try_lock() else {
            return Progress::Incomplete;
        };
        match inbound.begun() {
            None => Progress::None,
            Some(begun) if begun < late_before => Progress::Late(inbound.peer_version()),
            Some(_) => Progress::Incomplete,
        }
    }

    /// Says MessageError, in the version of the message: what came is not GIOP, or not acceptable.
    pub(super) fn reject(&self, version: Version) {
        self.last_words(write_message_error, version);
    }

    /// Says CloseConnection: nothing that is outstanding will be handled.
    pub(super) fn say_close(&self) {
        if self.leave_taken.swap(true, Ordering::SeqCst) {
            return;
        }
        let version = self.outbound.lock().version;
        // Before GIOP 1.2 it is the server's to say so.
        if self.opened.is_none() || version >= Version::V1_2 {
            self.last_words(write_close_connection, version);
        }
    }

    fn last_words(&self, write: fn(&mut Vec<u8>, Version), version: Version) {
        let mut message = Vec::with_capacity(punctual_giop::HEADER_SIZE);
        write(&mut message, version);
        let _ = self.send(&message, version);
    }
}

/// The peer is gone, or the connection broken.
pub(super) struct Broken {
    /// Inside the message.
    pub(super) begun: bool,
}

/// What [`Connection::progress`] sees.
pub(super) enum Progress {
    /// No message is under way.
    None,
    /// One is, or may be.
    Incomplete,
    /// One is for too long, in this version of GIOP.
    Late(Version),
}

/// Turns a connection away in good order: whatever its peer has sent was not handled.
pub(super) fn refuse(stream: &dyn Stream) {
    let mut message = Vec::with_capacity(punctual_giop::HEADER_SIZE);
    write_close_connection(&mut message, Version::V1_0);
    let _ = stream.write(&message);
    stream.shutdown();
}
