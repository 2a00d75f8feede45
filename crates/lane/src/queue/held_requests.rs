//! Memory of the requests that a lane holds, and the threads that wait with a request of their own.

use std::{io, sync::OnceLock};

use punctual_os::{PiCondvar, PiMutex};

use crate::{RequestHandler, queue::request_queue::RequestQueue};

/// Requests of a lane that are held; without memory until a limit is provided.
pub(crate) struct HeldRequests<H: RequestHandler> {
    queue: OnceLock<RequestQueue<H>>,
    /// Number of announcements.
    announced: PiMutex<u64>,
    /// Signals threads that keep the request of their dedicated connection.
    changed: PiCondvar,
}

impl<H: RequestHandler> Default for HeldRequests<H> {
    fn default() -> Self {
        Self {
            queue: OnceLock::new(),
            announced: PiMutex::new(0),
            changed: PiCondvar::new(),
        }
    }
}

impl<H: RequestHandler> HeldRequests<H> {
    /// Returns the queue that holds them; `None`: none was provided.
    pub(crate) fn queue(&self) -> Option<&RequestQueue<H>> {
        self.queue.get()
    }

    /// Returns the queue that holds them, which is created if there is none.
    pub(crate) fn queue_or_new(&self) -> io::Result<&RequestQueue<H>> {
        if let Some(queue) = self.queue.get() {
            return Ok(queue);
        }
        let new = RequestQueue::new()?;
        Ok(self.queue.get_or_init(|| new))
    }

    /// Drops the held requests: their clients have been notified that they are not handled.
    pub(crate) fn clear(&self) {
        if let Some(held) = self.queue.get() {
            held.clear();
        }
    }

    /// Wakes the threads in [`Self::wait_while`]: requests are released, or the lane stops.
    pub(crate) fn announce(&self) {
        *self.announced.lock() += 1;
        self.changed.notify_all();
    }

    /// Waits while `is_held`, which is called without a lock, at the start and after each announcement. The
    /// wait has no deadline.
    pub(crate) fn wait_while(&self, mut is_held: impl FnMut() -> bool) {
        loop {
            // Read first: what changes after the check is announced after this number.
            let seen = *self.announced.lock();
            if !is_held() {
                return;
            }
            let unchanged = |announced: &mut u64| *announced == seen;
            self.changed.wait_while(&mut self.announced.lock(), unchanged);
        }
    }
}
