//! One connection in a lane's poller, accepted or opened by this side.

use std::{
    io, mem,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_flight::Link;
use punctual_giop::Version;
use punctual_os::{Interest, PiMutex, PiMutexGuard, Poller, Trigger};
use punctual_transport::{ProtocolProperties, Stream};

pub(crate) use crate::outbound::{Broken, refuse};
use crate::{
    LaneLimits, NetworkMark, RequestHandler,
    budget::Budgets,
    connection_state::ConnectionState,
    inbound::Inbound,
    kept_memory::{KeptMemory, LaneMemory},
    outbound::{Outbound, Wrote},
    role::Role,
    time_budget::UnaccountedTime,
};

/// Connection of a lane. Several threads may serve its requests; one at a time reads.
pub(crate) struct Connection<H: RequestHandler> {
    /// Index in the lane's table and token in its poller.
    pub(crate) token: u64,
    /// Identification for the flight recorder.
    pub(crate) link: Link,
    pub(crate) role: Role<H>,
    pub(crate) state: ConnectionState,
    pub(crate) budgets: Budgets,
    poller: Arc<Poller>,
    stream: Box<dyn Stream>,
    pub(crate) mark: NetworkMark,
    inbound: PiMutex<Inbound>,
    /// Events that occurred while another thread was reading: [`READABLE`] and [`PEER_CLOSED`].
    missed: AtomicU8,
    outbound: PiMutex<Outbound>,
    /// Memory that the peer makes the lane keep.
    pub(crate) memory: KeptMemory,
    pub(crate) unaccounted_time: UnaccountedTime,
}

/// State of a connection that an event reports.
#[derive(Clone, Copy)]
pub(crate) struct Readiness {
    /// The peer has sent its last octet: read until the end of the stream.
    pub(crate) peer_closed: bool,
    /// The socket may have octets.
    pub(crate) readable: bool,
}

/// Octets may have arrived.
const READABLE: u8 = 1;
/// The end of the stream follows them.
const PEER_CLOSED: u8 = 2;

impl<H: RequestHandler> Connection<H> {
    pub(crate) fn new(
        token: u64,
        stream: Box<dyn Stream>,
        role: Role<H>,
        properties: &ProtocolProperties,
        poller: &Arc<Poller>,
        limits: &LaneLimits,
        memory: &Arc<LaneMemory>,
    ) -> Self {
        let inbound = Inbound::new(role.protocol(), limits).with_code_set(role.announced_char_set());
        Self {
            token,
            link: Link::of(stream.as_fd()),
            inbound: PiMutex::new(inbound),
            outbound: PiMutex::new(Outbound::new(role.protocol(), limits)),
            role,
            state: ConnectionState::default(),
            budgets: Budgets::new(limits),
            poller: Arc::clone(poller),
            stream,
            mark: NetworkMark::new(properties),
            missed: AtomicU8::new(0),
            memory: KeptMemory::new(memory),
            unaccounted_time: UnaccountedTime::default(),
        }
    }

    pub(crate) fn stream(&self) -> &dyn Stream {
        &*self.stream
    }

    pub(crate) fn is_server(&self) -> bool {
        matches!(self.role, Role::Server(_))
    }

    /// Claims the right to read. `None`: another thread has it, and will certainly read again, to the end of
    /// the stream if the peer has closed it.
    pub(crate) fn claim(&self, readiness: Readiness) -> Option<PiMutexGuard<'_, Inbound>> {
        self.inbound.try_lock().or_else(|| {
            self.note_missed(readiness);
            // The other thread may have released the claim just before it could see the mark.
            self.inbound.try_lock()
        })
    }

    /// Notes for the thread that serves it, or will, that there may be more to read.
    pub(crate) fn note_missed(&self, readiness: Readiness) {
        let peer_closed = if readiness.peer_closed { PEER_CLOSED } else { 0 };
        self.missed.fetch_or(READABLE | peer_closed, Ordering::SeqCst);
    }

    /// Begins to wait to be served by another thread, or later. `false`: it waits already, and `readiness` is
    /// noted for the thread that serves it then.
    pub(crate) fn enqueue(&self, readiness: Readiness) -> bool {
        while self.state.set_handed_over() {
            if self.is_enqueued(readiness) {
                return false;
            }
        }
        true
    }

    /// Returns whether it waits to be served by another thread, or later; that thread learns of `readiness`.
    pub(crate) fn is_enqueued(&self, readiness: Readiness) -> bool {
        self.state.is_handed_over() && {
            self.note_missed(readiness);
            // A thread that takes it from now on sees the note when it has served it.
            self.state.is_handed_over()
        }
    }

    /// Claims the right to read if no thread has it; a thread that has it is not notified.
    pub(crate) fn try_claim(&self) -> Option<PiMutexGuard<'_, Inbound>> {
        self.inbound.try_lock()
    }

    /// Claims the right to read for the thread that the connection is dedicated to: others hold the claim for
    /// a moment at most.
    pub(crate) fn wait_for_claim(&self) -> PiMutexGuard<'_, Inbound> {
        self.inbound.lock()
    }

    /// Adds to `readiness` why other threads failed to claim the right to read; called after the claim has
    /// been released.
    pub(crate) fn add_missed(&self, readiness: &mut Readiness) {
        if self.missed.load(Ordering::SeqCst) != 0 {
            let missed = self.missed.swap(0, Ordering::SeqCst);
            readiness.readable |= missed != 0;
            readiness.peer_closed |= missed & PEER_CLOSED != 0;
        }
    }

    /// Returns whether a thread is writing to it.
    pub(crate) fn is_sending(&self) -> bool {
        self.outbound.try_lock().is_none()
    }

    /// Sends a reply. What the socket has no room for is kept and follows later; no thread waits.
    ///
    /// While something is kept no further request is read, so at most one reply for each thread of the lane
    /// is kept. `true`: it has begun to be kept.
    pub(crate) fn send(&self, message: &[u8], version: Version) -> Result<bool, Broken> {
        self.send_copied(self.outbound.lock(), message, version)
    }

    /// Sends a message like [`Self::send`]; a large message loses its memory if it has to be kept.
    #[inline(always)]
    pub(crate) fn send_owned(&self, message: &mut Vec<u8>, version: Version) -> Result<bool, Broken> {
        let mut outbound = self.outbound.lock();
        let sent = self.write(&mut outbound, message, version)?;
        if sent == message.len() {
            self.note_sent(&mut outbound);
            return Ok(false);
        }
        self.send_rest(outbound, message, sent)
    }

    /// Sends a request in the same way; nothing of it (`None`) if more than `limit` octets would wait.
    ///
    /// The lock is held while one message or fragment is written as far as there is room, and so never while
    /// a peer is slow.
    pub(crate) fn send_request(
        &self,
        message: &[u8],
        version: Version,
        limit: usize,
    ) -> Result<bool, Option<Broken>> {
        let outbound = self.outbound.lock();
        if outbound.is_full(message.len(), limit) {
            return Err(None);
        }
        self.send_copied(outbound, message, version).map_err(Some)
    }

    /// Sends CancelRequest for a request that was sent, behind what waits. A broken connection is detected at
    /// its next read or write.
    pub(crate) fn send_cancel(&self, request_id: u32) {
        let mut outbound = self.outbound.lock();
        if let Some(message) = outbound.protocol.cancel(request_id) {
            let version = outbound.protocol.version();
            let _ = self.send_copied(outbound, &message, version);
        }
    }

    fn send_copied(
        &self,
        mut outbound: PiMutexGuard<'_, Outbound>,
        message: &[u8],
        version: Version,
    ) -> Result<bool, Broken> {
        let sent = self.write(&mut outbound, message, version)?;
        if sent == message.len() {
            self.note_sent(&mut outbound);
            return Ok(false);
        }
        if outbound.divides(message, sent) {
            return self.send_divided(outbound, &mut message.to_vec());
        }
        outbound.queue().keep(&message[sent..]);
        Ok(self.note_kept(outbound))
    }

    /// Sends the rest of a message, behind the octets that have been sent.
    #[cold]
    fn send_rest(
        &self,
        mut outbound: PiMutexGuard<'_, Outbound>,
        message: &mut Vec<u8>,
        sent: usize,
    ) -> Result<bool, Broken> {
        if outbound.divides(message, sent) {
            return self.send_divided(outbound, message);
        }
        outbound.keep_rest(message, sent);
        Ok(self.note_kept(outbound))
    }

    /// Sends a message in fragments, and releases the lock after each, so that other threads send in between.
    /// It has its memory again afterwards, unless the rest is kept.
    #[cold]
    fn send_divided<'c>(
        &'c self,
        mut outbound: PiMutexGuard<'c, Outbound>,
        message: &mut Vec<u8>,
    ) -> Result<bool, Broken> {
        let ticket = outbound.queue().divide(mem::take(message));
        let begun = Instant::now();
        loop {
            let queue = outbound.queue();
            // Another thread may have sent the end; CloseConnection may follow it.
            if !queue.contains(ticket) && (queue.is_dividing() || queue.is_empty()) {
                self.note_sent(&mut outbound);
                return Ok(false);
            }
            let mut finished = None;
            match outbound.write_next(&*self.stream, Some(ticket), &mut finished) {
                Ok(Wrote::NoRoom) if self.await_room() => return Ok(self.note_kept(outbound)),
                Ok(Wrote::NoRoom) => {}
                Ok(Wrote::Octets | Wrote::Nothing) => {
                    if let Some(finished) = finished {
                        *message = finished;
                    } else if outbound.takes_too_long(begun) {
                        self.await_room();
                        return Ok(self.note_kept(outbound));
                    }
                    drop(outbound);
                    outbound = self.outbound.lock();
                }
                Err(_) => return Err(Broken { begun: true }),
            }
        }
    }

    #[inline(always)]
    fn write(&self, outbound: &mut Outbound, message: &[u8], version: Version) -> Result<usize, Broken> {
        outbound.write(&*self.stream, message, version, || self.await_room())
    }

    /// Has a thread woken when there is room. Returns whether to give up writing for now.
    ///
    /// The write is tried once more after the mark is set: room made from then on wakes a thread that sees
    /// the mark.
    #[cold]
    fn await_room(&self) -> bool {
        // A stream that blocks has waited for room already.
        let again = self.state.set_congested() || self.state.is_dedicated();
        if !again {
            self.wait_for(Interest::READ_WRITE);
        }
        again
    }

    /// `true`: something has begun to wait.
    #[cold]
    fn note_kept(&self, mut outbound: PiMutexGuard<'_, Outbound>) -> bool {
        self.memory.set_unsent(outbound.held());
        let begins = outbound.begin_stall();
        drop(outbound);
        self.end_if_closed();
        begins
    }

    #[inline(always)]
    fn note_sent(&self, outbound: &mut Outbound) {
        if self.state.is_congested() {
            self.note_all_sent(outbound);
        }
    }

    #[cold]
    fn note_all_sent(&self, outbound: &mut Outbound) {
        if outbound.queue().is_empty() {
            outbound.discard();
            self.memory.set_unsent(0);
            self.state.clear_congested();
            self.wait_for(Interest::READ);
        }
    }

    /// Room is waited for only while something is kept: Unix sockets report it whenever the peer has read.
    /// The caller has locked `outbound`.
    fn wait_for(&self, interest: Interest) {
        // It fails for dedicated connections, whose thread waits in `write`.
        let _ = self
            .poller
            .modify(self.stream(), self.token, interest, Trigger::Edge);
    }

    /// Continues to send what is kept. `true`: everything has been sent, so requests may be read again.
    pub(crate) fn flush(&self) -> io::Result<bool> {
        if !self.state.is_congested() {
            return Ok(true);
        }
        let mut progress = false;
        loop {
            // Other threads send in between.
            let mut outbound = self.outbound.lock();
            match outbound.write_next(&*self.stream, None, &mut None)? {
                Wrote::Octets => progress = true,
                Wrote::NoRoom => {
                    if progress {
                        outbound.note_progress();
                    }
                    return Ok(false);
                }
                Wrote::Nothing => {
                    self.note_all_sent(&mut outbound);
                    return Ok(true);
                }
            }
        }
    }

    /// Returns whether further requests may be read although not all replies have been sent: replies that
    /// wait are in fragments, so that others pass between them, and there are few.
    #[cold]
    pub(crate) fn accepts_more(&self) -> bool {
        self.outbound.lock().queue().has_room()
    }

    /// Returns whether more than this many octets of replies are kept.
    pub(crate) fn owes_more_than(&self, octets: usize) -> bool {
        self.outbound.lock().waiting() > octets
    }

    /// Resets the mark that the connection was used.
    pub(crate) fn clear_used(&self) {
        // While a thread reads, the connection is in use.
        if let Some(mut inbound) = self.inbound.try_lock() {
            inbound.used = false;
        }
    }

    /// Returns whether nothing has arrived since [`Self::clear_used`], nothing is pending, and no reply is
    /// owed. If so, and if callers share the connection, no further call begins.
    pub(crate) fn is_unused(&self) -> bool {
        // A thread that reads it uses it; that includes the thread that it is dedicated to.
        let Some(inbound) = self.inbound.try_lock() else {
            return false;
        };
        self.idleness_of(&inbound) == Idleness::Unused
            && self.role.calls().is_none_or(|calls| calls.replies.end_if_idle())
    }

    pub(crate) fn idleness(&self) -> Idleness {
        let inbound = self.inbound.try_lock();
        inbound.map_or(Idleness::Busy, |inbound| self.idleness_of(&inbound))
    }

    /// Whether nothing is served, and the peer has not completed a message or not read a reply for long, as
    /// part of the time that it has for that: it may only want to hold its place.
    pub(crate) fn is_stalled(&self, now: Instant, completion: Duration) -> bool {
        let Some(inbound) = self.inbound.try_lock().filter(|_| !self.state.is_in_service()) else {
            return false;
        };
        let limit = match self.state.ended_requests() {
            0 => completion / STALLED_UNSERVED,
            _ => completion / STALLED,
        };
        let unread = self.outbound.try_lock().and_then(|outbound| outbound.stalled());
        let since = inbound
            .protocol
            .incomplete_since()
            .into_iter()
            .chain(unread)
            .min();
        since.is_some_and(|since| now.saturating_duration_since(since) > limit)
    }

    fn idleness_of(&self, inbound: &Inbound) -> Idleness {
        let is_busy = self.state.is_in_service()
            || self.state.is_congested()
            || !inbound.protocol.is_idle()
            || matches!(self.stream.wait_readable(Duration::ZERO), Ok(true));
        match (is_busy, inbound.used) {
            (true, _) => Idleness::Busy,
            (false, true) => Idleness::Quiet,
            (false, false) => Idleness::Unused,
        }
    }

    /// Progress of an incomplete message, and of messages that wait to be accepted by the peer. Frees buffers
    /// above `max_kept` that hold nothing.
    pub(crate) fn progress(&self, now: Instant, completion: Duration, max_kept: usize) -> Progress {
        let waits = self.state.is_congested();
        if waits {
            // A thread that writes to it now may block.
            let Some(outbound) = self.outbound.try_lock() else {
                return Progress::Incomplete;
            };
            if let Some(since) = outbound.stalled()
                && now.saturating_duration_since(since) > completion
            {
                return match self.role {
                    Role::Server(_) => Progress::Unread,
                    Role::Client(_) => Progress::Late(outbound.protocol.version()),
                };
            }
        }
        // A thread that reads from it now may begin a message.
        let Some(mut inbound) = self.inbound.try_lock() else {
            return Progress::Incomplete;
        };
        if let Err(refused) = inbound.protocol.handle_timeout(now) {
            return Progress::Late(refused.version);
        }
        if inbound.protocol.held() > max_kept {
            inbound.protocol.release();
        }
        self.memory.set_received(inbound.protocol.held());
        if waits || inbound.protocol.poll_timeout().is_some() {
            Progress::Incomplete
        } else {
            Progress::None
        }
    }

    /// Frees the buffers of its receive side that hold nothing. `false`: a thread is reading now.
    pub(crate) fn release(&self) -> bool {
        let Some(mut inbound) = self.inbound.try_lock() else {
            return false;
        };
        inbound.protocol.release();
        self.memory.set_received(inbound.protocol.held());
        drop(inbound);
        self.end_if_closed();
        true
    }

    /// Frees what another thread that has closed the connection could not free, because this thread used it:
    /// called after this thread has changed [`Self::memory`] and has released the locks. `true`: it is
    /// closed.
    pub(crate) fn end_if_closed(&self) -> bool {
        let closed = self.state.is_closed();
        if closed {
            self.end();
        }
        closed
    }

    /// Frees its buffers, now that its stream is closed. What another thread uses now is left to that thread.
    pub(crate) fn end(&self) {
        if self.memory.octets() == 0 {
            return;
        }
        if let Some(mut inbound) = self.inbound.try_lock() {
            inbound.protocol.end();
            self.memory.set_received(0);
        }
        if let Some(mut outbound) = self.outbound.try_lock() {
            outbound.discard();
            self.memory.set_unsent(0);
        }
    }

    /// Sends MessageError in the version of the message that is not GIOP, or not acceptable. `false`: the
    /// peer has been notified already.
    pub(crate) fn send_error(&self, version: Version) -> bool {
        let mut outbound = self.outbound.lock();
        let message = outbound.protocol.message_error(version);
        if let Some(message) = &message {
            let _ = self.send_copied(outbound, message, version);
        }
        message.is_some()
    }

    /// Sends CloseConnection: nothing that is outstanding will be handled.
    pub(crate) fn send_close(&self) {
        let mut outbound = self.outbound.lock();
        if let Some(message) = outbound.protocol.close() {
            let version = outbound.protocol.version();
            let _ = self.send_copied(outbound, &message, version);
        }
    }
}

/// Part of the time for the completion of a message after which a connection is stalled.
const STALLED: u32 = 10;
/// The same before a request has been served.
const STALLED_UNSERVED: u32 = 300;

/// Result of [`Connection::idleness`].
#[derive(Eq, PartialEq)]
pub(crate) enum Idleness {
    /// A message has begun, is served, or waits to be read or sent.
    Busy,
    /// No work is pending, and octets have arrived since [`Connection::clear_used`].
    Quiet,
    /// No work is pending, and no octets have arrived since then.
    Unused,
}

/// Result of [`Connection::progress`].
pub(crate) enum Progress {
    /// No message is incomplete.
    None,
    /// A message is incomplete, or may be.
    Incomplete,
    /// A message has been incomplete for too long; its version of GIOP.
    Late(Version),
    /// A client has not read its replies in time.
    Unread,
}
