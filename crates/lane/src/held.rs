//! Held requests: a request whose handler does not want it yet waits, within limits, until it is released.
//!
//! It keeps its place among the held requests of its lane. On release it goes to the end of the lane's queue,
//! as a redispatched request does. A client cannot cancel a request that is held: it is served.

use std::{sync::Arc, time::Instant};

use punctual_giop::MessageHeader;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use crate::{
    Lane, LaneError, MessageError, QueueLimits, ServingSlot, connection::Connection, dispatch::Arrival,
    worker::Worker,
};

impl<H: ServingSlot> Lane<H> {
    /// Provides memory for held requests within these limits, and room for them in the queue.
    ///
    /// # Errors
    /// [`LaneError::Os`] if the system refuses a descriptor.
    pub fn provide_held(&self, limits: QueueLimits) -> Result<(), LaneError> {
        let held = self.held.queue_or_new()?;
        let before = held.statistics().limits;
        let (requests, octets) = before.map_or((0, 0), |before| (before.requests, before.octets));
        held.provide(limits);
        self.queue.extend(QueueLimits {
            requests: limits.requests.saturating_sub(requests),
            octets: limits.octets.saturating_sub(octets),
        });
        Ok(())
    }

    /// Lets the lane serve the requests that it holds. A request that its handler still wants held is held
    /// again.
    pub fn release_held(&self) {
        let Some(held) = self.held.queue() else { return };
        for _ in 0..held.move_to(&self.queue) {
            self.wake_for_queue();
        }
    }
}

impl<H: ServingSlot> Worker<'_, H> {
    /// Holds the request in the buffers, or refuses it. `false`: the connection is of no further use.
    #[cold]
    pub(crate) fn hold(
        &mut self,
        connection: &Arc<Connection<H>>,
        header: &MessageHeader,
        arrival: Arrival,
        limits: QueueLimits,
    ) -> bool {
        let read_at = arrival.read_at.unwrap_or_else(Instant::now);
        let Some(queued) = self.to_queued(connection, header, arrival.char_set, read_at) else {
            return self.reject(connection, header.version);
        };
        let message = &self.buffers.message[..header.total_size()];
        // A connection of another lane stays with its request, and a dedicated one with its thread.
        let held = self.lane.held.queue();
        let held = held.filter(|_| arrival.may_move && !connection.state.is_dedicated());
        let starts = &self.buffers.fragment_starts;
        if held.is_none_or(|held| held.push(limits, queued, message, starts).is_err()) {
            let (kind, minor) = (SystemExceptionKind::Transient, Minor::HELD_REQUESTS_FULL);
            let full = SystemException::new(kind, minor, Completion::No);
            return self.refuse_queued(connection, header, arrival.char_set, &full);
        }
        // A thread that released requests before this one was held did not see it.
        let still = self.with_request(connection, header, arrival, |_, handler, request, _, _| {
            Ok::<_, MessageError>(handler.is_held(request))
        });
        if !matches!(still, Ok(true)) {
            self.lane.release_held();
        }
        true
    }
}
