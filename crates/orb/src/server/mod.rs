//! Server side: from the octets of a request to a servant, and back.
//!
//! The steps of a call that follow those of `punctual_lane`: 7 `handler` (decode) → 8 `serving` (object and
//! priority `active_object`, upcall, `reply`).

mod active_object;
mod band_binding;
mod deferred;
mod handler;
mod intercepted;
mod locate;
mod reply;
mod reply_contexts;
mod serving;

pub(crate) use active_object::{ActiveObject, Demultiplexed, Placement};
pub(crate) use deferred::DeferredReplies;
pub(crate) use serving::run_servant;

use std::sync::Arc;

use punctual_cdr::Arena;
use punctual_giop::LastRequest;
use punctual_stub::{OrbContext, ReusePool};

use crate::{
    config::configuration::Configuration,
    interception::{Interceptors, SeenRequest},
    poa_state::objects::Objects,
};

/// Server side of an ORB, which serves the requests of its lanes.
pub(crate) struct RequestDispatcher {
    pub(crate) configuration: Arc<Configuration>,
    pub(crate) objects: Arc<Objects>,
    pub(crate) interceptors: Arc<Interceptors>,
    /// ORB of references in requests.
    pub(crate) orb: OrbContext,
}

/// Memory of a lane thread, reused from request to request.
pub(crate) struct Buffers {
    pub(crate) last: LastRequest,
    pub(crate) arena: Arena,
    pub(crate) pool: ReusePool,
    pub(crate) orb: OrbContext,
    /// Memory for interceptors.
    pub(crate) seen: SeenRequest,
}

const FIRST_ARENA: usize = 8 << 10;

impl Buffers {
    pub(crate) fn new(orb: OrbContext, max_kept: usize) -> Self {
        let mut pool = ReusePool::default();
        pool.set_max_kept(max_kept);
        Self {
            last: LastRequest::new(),
            arena: Arena::with_capacity(FIRST_ARENA),
            pool,
            orb,
            seen: SeenRequest::default(),
        }
    }

    /// Frees an arena of more than `max_kept` octets.
    #[inline]
    pub(crate) fn free_large(&mut self, max_kept: usize) {
        if self.arena.allocated_bytes() > max_kept {
            self.renew_arena();
        }
    }

    #[cold]
    fn renew_arena(&mut self) {
        self.arena = Arena::with_capacity(FIRST_ARENA);
    }
}
