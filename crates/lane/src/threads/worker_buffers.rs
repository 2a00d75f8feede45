//! Memory that a thread keeps from request to request.

use std::sync::Arc;

use punctual_os::{Doorbell, Poller};

use crate::RequestHandler;

const FIRST_BUFFER: usize = 8 << 10;

/// Memory that a thread keeps from request to request.
pub(crate) struct WorkerBuffers<H: RequestHandler> {
    /// The request.
    pub(crate) message: Vec<u8>,
    /// Offsets in it at which fragments of GIOP 1.1 begin.
    pub(crate) fragment_starts: Vec<usize>,
    pub(crate) reply: Vec<u8>,
    pub(crate) handler: H::Buffers,
    /// Poller in which the reply to a call is awaited while the lane is served.
    pub(crate) reply_poller: Option<Poller>,
    /// Rings when a call over a shared connection ends while the lane is served.
    pub(crate) reply_doorbell: Option<Arc<Doorbell>>,
}

impl<H: RequestHandler> WorkerBuffers<H> {
    pub(crate) fn new(handler: &Arc<H>) -> Self {
        Self {
            message: Vec::new(),
            fragment_starts: Vec::new(),
            reply: Vec::with_capacity(FIRST_BUFFER),
            handler: handler.new_buffers(),
            reply_poller: None,
            reply_doorbell: None,
        }
    }

    /// Frees buffers of more than `max_kept` octets.
    #[inline]
    pub(crate) fn free_large(&mut self, max_kept: usize) {
        if self.message.capacity().max(self.reply.capacity()) > max_kept {
            self.free_larger_than(max_kept);
        }
    }

    #[cold]
    fn free_larger_than(&mut self, max_kept: usize) {
        for buffer in [&mut self.message, &mut self.reply] {
            if buffer.capacity() > max_kept {
                *buffer = Vec::new();
            }
        }
    }
}
