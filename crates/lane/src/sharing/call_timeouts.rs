//! Timeouts of asynchronous calls, and of requests that are kept: no thread waits for such a call, so the
//! threads that would read its reply watch them.

use std::{sync::Arc, time::Instant};

use crate::{
    Lane, RequestHandler,
    connections::{connection::Connection, role::Calls},
};

impl<H: RequestHandler> Lane<H> {
    /// Has a thread check the calls over shared connections at this time; called after the call has entered
    /// their table.
    pub fn watch_deadline(&self, at: Instant) {
        self.events.call_timeouts.add(at);
    }

    /// Ends the calls whose deadlines have passed.
    #[inline]
    pub(crate) fn expire_calls(&self) {
        if let Some(now) = self.events.call_timeouts.take_due() {
            self.expire_calls_before(now);
        }
    }

    #[cold]
    fn expire_calls_before(&self, now: Instant) {
        let mut from = 0;
        // Waking tasks runs the user's code, so not while the lane's table is locked.
        while let Some((index, connection, calls)) = self.next_opened(from) {
            if let Some(next) = calls.replies.expire(now, connection.state.is_congested()) {
                self.events.call_timeouts.add(next);
            }
            from = index + 1;
        }
        if let Some(next) = H::expire_deferred(&self.data, now) {
            self.events.call_timeouts.add(next);
        }
    }

    /// First connection over which this side calls, from this index of the table on.
    #[expect(clippy::type_complexity, reason = "an entry of the table")]
    fn next_opened(&self, from: usize) -> Option<(usize, Arc<Connection<H>>, Arc<Calls<H>>)> {
        self.connections.find_from(from, |index, connection| {
            let calls = Arc::clone(connection.role.calls()?);
            Some((index, Arc::clone(connection), calls))
        })
    }
}
