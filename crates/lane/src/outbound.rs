//! Messages for which a connection's socket had no room.

use std::{
    io,
    time::{Duration, Instant},
};

use punctual_giop::{
    Version,
    connection::{Role, SendHalf, SendQueue, Ticket},
};
use punctual_transport::Stream;

use crate::LaneLimits;

/// Size in octets from which memory is exchanged instead of copied. The thread allocates again then.
const LARGE: usize = 256 << 10;

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
