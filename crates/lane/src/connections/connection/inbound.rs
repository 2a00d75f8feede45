//! Step 5 of a call, its read: the receive side of a connection, under its lock, has the protocol's state and
//! what the socket had when it was last read.

use std::{
    io,
    ops::{Deref, DerefMut},
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use punctual_cdr::CharSet;
use punctual_giop::connection::{ConnectionLimits, Event, ReceiveHalf, Refused, Role};
use punctual_os::PiMutexGuard;
use punctual_transport::Stream;

use super::Connection;
use crate::{ConnectionData, LaneLimits};

/// Receive side of a connection.
pub(crate) struct Inbound {
    pub(crate) protocol: ReceiveHalf,
    /// The socket had nothing more when it was last read; what arrives later wakes a thread of the lane.
    pub(crate) drained: bool,
    /// A message has arrived since this was last cleared.
    pub(crate) used: bool,
    /// Parts of messages received since [`Self::is_in_parts`] was last true.
    parts: u8,
}

/// Parts of a message, and wake-ups without any, until the work for them counts: most messages have fewer.
const FREE_PARTS: u8 = 4;

/// Result of [`Inbound::receive`].
pub(crate) enum Received {
    /// An event; the octets of its message can be taken from [`Inbound::protocol`].
    Event(Event),
    /// This many octets of a message that continues.
    Part(usize),
    /// No message, or part of one; the rest will wake a thread.
    Nothing,
    /// The peer has closed the connection, or it broke.
    EndOfStream,
    /// The message is not GIOP, not permitted, or exceeds a limit.
    Refused(Refused),
}

impl Inbound {
    pub(crate) fn new(role: Role, limits: &LaneLimits) -> Self {
        let accepts_offers = limits.accepts_bidirectional && role == Role::Server;
        let limits = ConnectionLimits {
            max_message_size: limits.max_message_size,
            max_fragmented_messages: limits.max_fragmented_messages,
            message_completion: Some(limits.message_completion),
        };
        let protocol = ReceiveHalf::new(role, limits);
        Self {
            protocol: if accepts_offers {
                protocol.awaiting_bidirectional_offer()
            } else {
                protocol
            },
            drained: true,
            used: false,
            parts: 0,
        }
    }

    /// Sets the code set that this side has announced, for requests of a server.
    pub(crate) fn with_code_set(self, announced: Option<CharSet>) -> Self {
        let protocol = match announced {
            Some(char_set) => self.protocol.with_char_set(char_set),
            None => self.protocol,
        };
        Self { protocol, ..self }
    }

    /// Returns the next event; reads at most once, so that the work is bounded regardless of what the peer
    /// sends.
    pub(crate) fn receive(&mut self, stream: &dyn Stream) -> Received {
        let mut has_read = 0;
        loop {
            match self.protocol.poll(Instant::now) {
                Ok(Some(event)) => return Received::Event(event),
                Ok(None) if self.drained => return Received::Nothing,
                Ok(None) if has_read > 0 => return Received::Part(has_read),
                Ok(None) => {}
                Err(refused) => return Received::Refused(refused),
            }
            let space = self.protocol.space();
            let room = space.len();
            match stream.read(space) {
                Ok(0) => return Received::EndOfStream,
                Ok(count) => {
                    self.protocol.received(count);
                    has_read = count;
                    // Less than there was room for: that was all, and the next octet wakes a thread.
                    self.drained = count < room;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.drained = true,
                Err(_) => return Received::EndOfStream,
            }
        }
    }

    /// Returns whether [`Self::receive`] may return an event without waiting.
    pub(crate) fn has_more(&self) -> bool {
        !self.drained || self.protocol.has_message()
    }

    /// Notes that a request has been received.
    #[inline(always)]
    pub(crate) fn begin_request(&mut self) {
        self.used = true;
        self.parts = 0;
    }

    /// Counts part of a message, or a wake-up without any; `true` for each [`FREE_PARTS`]th one.
    #[cold]
    pub(crate) fn is_in_parts(&mut self) -> bool {
        self.parts = (self.parts + 1) % FREE_PARTS;
        self.parts == 0
    }

    /// Time that an incomplete message may still take; `None`: no message is incomplete.
    pub(crate) fn completion_left(&self) -> Option<Duration> {
        let deadline = self.protocol.poll_timeout()?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }
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

impl<H: ConnectionData> Connection<H> {
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

    /// Claims the right to read if no thread has it, to look at the receive side without reading.
    pub(crate) fn inspect(&self) -> Option<Inspected<'_, H>> {
        Some(Inspected {
            inbound: self.inbound.try_lock()?,
            _missed: ReportMissed(self),
        })
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
}

/// Receive side of a connection that a thread looks at without reading. A thread that is woken for the
/// connection meanwhile cannot claim it, so that its event is reported once more afterwards.
pub(crate) struct Inspected<'c, H: ConnectionData> {
    inbound: PiMutexGuard<'c, Inbound>,
    /// Dropped after the claim.
    _missed: ReportMissed<'c, H>,
}

impl<H: ConnectionData> Deref for Inspected<'_, H> {
    type Target = Inbound;

    fn deref(&self) -> &Inbound {
        &self.inbound
    }
}

impl<H: ConnectionData> DerefMut for Inspected<'_, H> {
    fn deref_mut(&mut self) -> &mut Inbound {
        &mut self.inbound
    }
}

struct ReportMissed<'c, H: ConnectionData>(&'c Connection<H>);

impl<H: ConnectionData> Drop for ReportMissed<'_, H> {
    fn drop(&mut self) {
        // The mark stays for the thread that is woken then.
        if self.0.missed.load(Ordering::SeqCst) != 0 {
            self.0.report_again();
        }
    }
}
