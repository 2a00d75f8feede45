//! Step 6 of a call, its write: the send side of a connection, under its lock. Octets for which the socket
//! has no room are kept and follow later.

use std::{
    io, mem,
    time::{Duration, Instant},
};

use punctual_giop::{
    Version,
    connection::{Role, SendHalf, SendQueue, Ticket},
};
use punctual_os::{Interest, PiMutexGuard, Trigger};
use punctual_transport::Stream;

use super::Connection;
use crate::{ConnectionData, LaneLimits};

/// Size in octets from which memory is exchanged instead of copied. The thread allocates again then.
const LARGE: usize = 256 << 10;

impl<H: ConnectionData> Connection<H> {
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

    /// Lets the poller report again what is ready now.
    #[cold]
    pub(super) fn report_again(&self) {
        if self.state.is_closed_or_dedicated() {
            return;
        }
        let _outbound = self.outbound.lock();
        self.wait_for(match self.state.is_congested() {
            true => Interest::READ_WRITE,
            false => Interest::READ,
        });
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

/// Send side of a connection, under its lock.
pub(crate) struct Outbound {
    /// Time since which the peer has accepted nothing of what waits, or, if it is a client, since which not
    /// all that waited then was accepted.
    stalled: Option<Instant>,
    /// Octets that waited then and have not been accepted.
    owed: usize,
    is_server: bool,
    /// Longest time for a message.
    completion: Duration,
    /// The protocol's state, and what waits for room.
    pub(crate) protocol: SendHalf,
}

/// Result of [`Outbound::write`] if the connection is broken.
pub(crate) struct Broken {
    /// Part of the message has been sent.
    pub(crate) begun: bool,
}

/// Result of [`Outbound::write_next`].
#[derive(Eq, PartialEq)]
pub(crate) enum Wrote {
    /// Octets; more may wait.
    Octets,
    /// No octets were sent, since there is no room.
    NoRoom,
    /// No octets were sent, since none wait.
    Nothing,
}

impl Outbound {
    pub(crate) fn new(role: Role, limits: &LaneLimits) -> Self {
        let queue = SendQueue::new(limits.fragment_size, limits.max_fragmented_messages);
        Self {
            stalled: None,
            owed: 0,
            is_server: role == Role::Server,
            completion: limits.message_completion,
            protocol: SendHalf::new(role, Version::V1_0).with_queue(queue),
        }
    }

    pub(crate) fn queue(&mut self) -> &mut SendQueue {
        &mut self.protocol.queue
    }

    pub(crate) fn waiting(&self) -> usize {
        self.protocol.queue.waiting()
    }

    /// Returns whether nothing more of this length may wait, because that would exceed `limit` octets.
    #[inline(always)]
    pub(crate) fn is_full(&self, length: usize, limit: usize) -> bool {
        length > self.protocol.queue.at_once() && self.would_exceed(length, limit)
    }

    #[cold]
    fn would_exceed(&self, length: usize, limit: usize) -> bool {
        let waiting = self.waiting();
        waiting > 0 && waiting + length > limit
    }

    /// Returns the memory of the waiting messages, in octets.
    pub(crate) fn held(&self) -> usize {
        self.protocol.queue.held()
    }

    /// Frees the waiting messages: the stream is closed.
    pub(crate) fn discard(&mut self) {
        self.protocol.queue.clear();
        self.stalled = None;
    }

    pub(crate) fn stalled(&self) -> Option<Instant> {
        self.stalled
    }

    /// Starts the clock of a peer that accepts nothing. `false`: it runs already.
    pub(crate) fn begin_stall(&mut self) -> bool {
        let begins = self.stalled.is_none();
        if begins {
            self.restart_clock();
        }
        begins
    }

    /// Notes that the peer has accepted something of what waits.
    pub(crate) fn note_progress(&mut self) {
        // A client that reads octet by octet gains no time.
        if !self.is_server || self.owed == 0 {
            self.restart_clock();
        }
    }

    fn restart_clock(&mut self) {
        self.stalled = Some(Instant::now());
        self.owed = self.waiting();
    }

    /// Returns whether more than the longest time for a message has passed since it was begun: only a stream
    /// that blocks can take long for a part.
    pub(crate) fn takes_too_long(&self, begun: Instant) -> bool {
        begun.elapsed() > self.completion
    }

    /// Writes a message as far as there is room, if nothing has to be sent before and it is not sent in
    /// fragments; `await_room` is called when there is none, and returns whether to give up for now. Returns
    /// the number of octets sent; the caller has the rest kept.
    #[inline(always)]
    pub(crate) fn write(
        &mut self,
        stream: &dyn Stream,
        message: &[u8],
        version: Version,
        mut await_room: impl FnMut() -> bool,
    ) -> Result<usize, Broken> {
        self.protocol.use_version(version);
        if message.len() > self.protocol.queue.at_once() {
            return self.write_long(stream, message, &mut await_room);
        }
        match stream.write(message) {
            Ok(count) if count == message.len() => Ok(count),
            first => self.write_parts(stream, message, Some(first), &mut await_room),
        }
    }

    #[cold]
    fn write_long(
        &self,
        stream: &dyn Stream,
        message: &[u8],
        await_room: &mut dyn FnMut() -> bool,
    ) -> Result<usize, Broken> {
        let queue = &self.protocol.queue;
        if !queue.is_clear() || queue.divides(message) {
            return Ok(0);
        }
        self.write_parts(stream, message, None, await_room)
    }

    #[cold]
    fn write_parts(
        &self,
        stream: &dyn Stream,
        message: &[u8],
        mut first: Option<io::Result<usize>>,
        await_room: &mut dyn FnMut() -> bool,
    ) -> Result<usize, Broken> {
        let (mut sent, mut begun) = (0, None);
        while sent < message.len() {
            match first
                .take()
                .unwrap_or_else(|| stream.write(bounded(&message[sent..])))
            {
                Ok(count) => {
                    sent += count;
                    // Only a stream that blocks can take long for a part.
                    if sent < message.len()
                        && begun.get_or_insert_with(Instant::now).elapsed() > self.completion
                    {
                        await_room();
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if await_room() {
                        break;
                    }
                }
                Err(_) => return Err(Broken { begun: sent > 0 }),
            }
        }
        Ok(sent)
    }

    /// Returns whether the rest of the message, behind the octets that have been sent, is to be sent in
    /// fragments.
    #[cold]
    pub(crate) fn divides(&self, message: &[u8], sent: usize) -> bool {
        sent == 0 && self.protocol.queue.divides(message)
    }

    /// Keeps the rest of a message by exchanging its memory, if that costs less than copying.
    #[cold]
    pub(crate) fn keep_rest(&mut self, message: &mut Vec<u8>, sent: usize) {
        let queue = &mut self.protocol.queue;
        if message.len() >= LARGE {
            queue.keep_by_exchange(message, sent);
        } else {
            queue.keep(&message[sent..]);
        }
    }

    /// Writes some of what waits, at most one fragment; of several messages in fragments, that of `preferred`
    /// or one after the other. Its memory is returned when it is complete.
    pub(crate) fn write_next(
        &mut self,
        stream: &dyn Stream,
        preferred: Option<Ticket>,
        finished: &mut Option<Vec<u8>>,
    ) -> io::Result<Wrote> {
        let octets = self.protocol.queue.next(preferred);
        if octets.is_empty() {
            return Ok(Wrote::Nothing);
        }
        match stream.write(octets) {
            Ok(count) => {
                self.owed = self.owed.saturating_sub(count);
                *finished = self.protocol.queue.sent(count);
                Ok(Wrote::Octets)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Wrote::NoRoom),
            Err(error) => Err(error),
        }
    }
}

/// Largest number of octets that one system call sends: a bound on the time for which a thread of higher
/// priority may have to wait for it.
const MAX_WRITE: usize = 64 << 10;

fn bounded(octets: &[u8]) -> &[u8] {
    &octets[..octets.len().min(MAX_WRITE)]
}

/// Closes a connection in an orderly way although messages of its peer have not been handled.
pub(crate) fn refuse(stream: &dyn Stream) {
    if let Some(message) = SendHalf::new(Role::Server, Version::V1_0).close() {
        let _ = stream.write(&message);
    }
    stream.shutdown();
}
