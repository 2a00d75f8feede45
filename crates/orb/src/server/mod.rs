//! Server side: from the octets of a request to a servant, and back.

mod active_object;
mod band_binding;
mod dispatcher;
mod expiry;
mod handler;
mod intercepted;
mod locate;
mod reply;
mod reply_contexts;
mod request;
mod serving;
mod upcall;

pub(crate) use active_object::{ActiveObject, Demultiplexed, Placement};
pub(crate) use dispatcher::RequestDispatcher;
pub(crate) use upcall::run_servant;

use punctual_cdr::Arena;
use punctual_giop::LastRequest;
use punctual_stub::{OrbContext, ReusePool};

use crate::interception::SeenRequest;

/// Memory of a lane thread, reused from request to request.
pub(crate) struct Buffers {
    pub(crate) last: LastRequest,
    pub(crate) arena: Arena,
    pub(crate) pool: ReusePool,
    pub(crate) orb: OrbContext,
    /// Memory for interceptors.
    pub(crate) seen: SeenRequest,
}
