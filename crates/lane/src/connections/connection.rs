//! One connection in a lane's poller, accepted or opened by this side. Steps 5 and 6 of a call read and write
//! it.

mod inbound;
mod outbound;

use std::{
    sync::{Arc, atomic::AtomicU8},
    time::{Duration, Instant},
};

use punctual_flight::Link;
use punctual_giop::Version;
use punctual_os::{PiMutex, Poller};
use punctual_transport::{ProtocolProperties, Stream};

pub(crate) use self::{
    inbound::{Inbound, Readiness, Received},
    outbound::{Broken, Outbound, refuse},
};
use crate::{
    ConnectionData, LaneLimits, NetworkMark,
    budgets::{
        budget::Budgets,
        kept_memory::{KeptMemory, LaneMemory},
        time_budget::UnaccountedTime,
    },
    connections::{role::Role, state::ConnectionState},
};

/// Connection of a lane. Several threads may serve its requests; one at a time reads.
pub(crate) struct Connection<H: ConnectionData> {
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
    /// Events that occurred while another thread was reading: the flags of [`inbound`].
    missed: AtomicU8,
    outbound: PiMutex<Outbound>,
    /// Memory that the peer makes the lane keep.
    pub(crate) memory: KeptMemory,
    pub(crate) unaccounted_time: UnaccountedTime,
}

impl<H: ConnectionData> Connection<H> {
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

    /// Resets the mark that the connection was used.
    pub(crate) fn clear_used(&self) {
        // While a thread reads, the connection is in use.
        if let Some(mut inbound) = self.inspect() {
            inbound.used = false;
        }
    }

    /// Returns whether nothing has arrived since [`Self::clear_used`], nothing is pending, and no reply is
    /// owed. If so, and if callers share the connection, no further call begins.
    pub(crate) fn is_unused(&self) -> bool {
        // A thread that reads it uses it; that includes the thread that it is dedicated to.
        let Some(inbound) = self.inspect() else {
            return false;
        };
        self.idleness_of(&inbound) == Idleness::Unused
            && self.role.calls().is_none_or(|calls| calls.replies.end_if_idle())
    }

    pub(crate) fn idleness(&self) -> Idleness {
        let inbound = self.inspect();
        inbound.map_or(Idleness::Busy, |inbound| self.idleness_of(&inbound))
    }

    /// Whether nothing is served, and the peer has not completed a message or not read a reply for long, as
    /// part of the time that it has for that: it may only want to hold its place.
    pub(crate) fn is_stalled(&self, now: Instant, completion: Duration) -> bool {
        let Some(inbound) = self.inspect().filter(|_| !self.state.is_in_service()) else {
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
        let Some(mut inbound) = self.inspect() else {
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
        let Some(mut inbound) = self.inspect() else {
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
