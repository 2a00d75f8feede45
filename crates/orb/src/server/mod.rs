//! The serving side: from the octets of a request to a servant, and back.

mod active_object;
mod locate;
mod request;
mod upcall;

pub(crate) use active_object::{ActiveObject, Demultiplexed};
pub(crate) use locate::answer_locate;
pub(crate) use request::answer_request;
pub(crate) use upcall::run_servant;

use punctual_cdr::Arena;
use punctual_stub::{OrbContext, ReusePool};
use punctual_types::Priority;

/// What a thread of a lane keeps from request to request.
pub(crate) struct Buffers {
    /// Where fragments of GIOP 1.1 begin in the request.
    pub(crate) fragment_starts: Vec<usize>,
    pub(crate) reply: Vec<u8>,
    pub(crate) arena: Arena,
    pub(crate) pool: ReusePool,
    pub(crate) orb: OrbContext,
    /// The priority of the last request, for the packets of its reply.
    pub(crate) served_at: Option<Priority>,
}

/// A message whose header cannot be read: the peer gets MessageError and loses the connection.
pub(crate) struct Unintelligible;
