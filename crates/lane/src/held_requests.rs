//! Memory of the requests that a lane holds.

use std::{io, sync::OnceLock};

use crate::{RequestHandler, request_queue::RequestQueue};

/// Requests of a lane that are held; without memory until a limit is provided.
pub(crate) struct HeldRequests<H: RequestHandler>(OnceLock<RequestQueue<H>>);

impl<H: RequestHandler> Default for HeldRequests<H> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<H: RequestHandler> HeldRequests<H> {
    /// Returns the queue that holds them; `None`: none was provided.
    pub(crate) fn queue(&self) -> Option<&RequestQueue<H>> {
        self.0.get()
    }

    /// Returns the queue that holds them, which is created if there is none.
    pub(crate) fn queue_or_new(&self) -> io::Result<&RequestQueue<H>> {
        if let Some(queue) = self.0.get() {
            return Ok(queue);
        }
        let new = RequestQueue::new()?;
        Ok(self.0.get_or_init(|| new))
    }

    /// Drops the held requests: their clients have been notified that they are not handled.
    pub(crate) fn clear(&self) {
        if let Some(held) = self.0.get() {
            held.clear();
        }
    }
}
