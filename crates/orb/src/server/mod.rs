//! The serving side: from the octets of a request to a servant, and back.

mod active_object;
mod band_binding;
mod expiry;
mod intercepted;
mod locate;
mod reply;
mod reply_contexts;
mod request;
mod upcall;

pub(crate) use active_object::{ActiveObject, Demultiplexed, Placement};
pub(crate) use locate::answer_locate;
pub(crate) use request::{answer_request, refuse_request};
pub(crate) use upcall::run_servant;

use std::{sync::Arc, time::Instant};

use punctual_cdr::Arena;
use punctual_flight::Link;
use punctual_giop::LastRequest;
use punctual_stub::{OrbContext, ReusePool};
use punctual_types::Priority;

use crate::{QueueLimits, interceptors::SeenRequest, lane::Lane};

/// What a thread of a lane keeps from request to request.
pub(crate) struct Buffers {
    /// Where fragments of GIOP 1.1 begin in the request.
    pub(crate) fragment_starts: Vec<usize>,
    pub(crate) last: LastRequest,
    pub(crate) reply: Vec<u8>,
    pub(crate) arena: Arena,
    pub(crate) pool: ReusePool,
    pub(crate) orb: OrbContext,
    /// The connection of the request, for the flight recorder.
    pub(crate) link: Link,
    /// The priority of the last request, for the packets of its reply.
    pub(crate) served_at: Option<Priority>,
    /// For an ORB with interceptors.
    pub(crate) seen: SeenRequest,
}

/// A message whose header cannot be read: the peer gets MessageError and loses the connection.
pub(crate) struct Unintelligible;

/// How a request came to the thread that has it.
#[derive(Clone, Copy)]
pub(crate) struct Arrival {
    /// When it was read off its connection; `None`: just now.
    pub(crate) read_at: Option<Instant>,
    /// It has not been in a queue yet, so another lane's may have it.
    pub(crate) may_move: bool,
}

impl Arrival {
    /// Straight from its connection.
    pub(crate) const NOW: Self = Self {
        read_at: None,
        may_move: true,
    };
}

/// What is to be done after a message.
pub(crate) enum Answer {
    /// Send what was written into the buffers.
    Reply,
    /// Nothing.
    Silence,
    /// Nothing has happened: the request belongs to this lane, which may take it within these limits.
    Elsewhere(Arc<Lane>, QueueLimits),
}

impl Answer {
    fn reply_if(expected: bool) -> Self {
        if expected { Self::Reply } else { Self::Silence }
    }
}
