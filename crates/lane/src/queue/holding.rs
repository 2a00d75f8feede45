//! Held requests: a request whose handler does not want it yet waits, within limits, until it is released.
//!
//! It keeps its place among the held requests of its lane. On release it goes to the end of the lane's queue,
//! as a redispatched request does. A client cannot cancel a request that is held: it is served. A thread that
//! blocks in `read` keeps the request of its connection itself, and waits.

use std::{ops::ControlFlow, sync::Arc, time::Instant};

use punctual_giop::MessageHeader;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use crate::{
    Lane, LaneError, MessageError, QueueLimits, ServingSlot, connections::connection::Connection,
    dispatch::Arrival, worker::Worker,
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
        self.held.announce();
        let Some(held) = self.held.queue() else { return };
        for _ in 0..held.move_to(&self.queue) {
            self.wake_for_queue();
        }
    }
}

impl<H: ServingSlot> Worker<'_, H> {
    /// Holds the request in the buffers, or refuses it. `Break(false)`: the connection is of no further use;
    /// `Continue`: the request has been released.
    #[cold]
    pub(crate) fn hold(
        &mut self,
        connection: &Arc<Connection<H>>,
        header: &MessageHeader,
        arrival: Arrival,
        limits: QueueLimits,
    ) -> ControlFlow<bool, Arrival> {
        let read_at = arrival.read_at.unwrap_or_else(Instant::now);
        if connection.state.is_dedicated() {
            let read_at = Some(read_at);
            return self.keep_until_released(connection, header, Arrival { read_at, ..arrival });
        }
        let Some(queued) = self.to_queued(connection, header, arrival.code_sets, read_at) else {
            return ControlFlow::Break(self.reject(connection, header.version));
        };
        let message = &self.buffers.message[..header.total_size()];
        // A connection of another lane stays with its request.
        let held = self.lane.held.queue().filter(|_| arrival.may_move);
        let starts = &self.buffers.fragment_starts;
        if held.is_none_or(|held| held.push(limits, queued, message, starts).is_err()) {
            let (kind, minor) = (SystemExceptionKind::Transient, Minor::HELD_REQUESTS_FULL);
            let full = SystemException::new(kind, minor, Completion::No);
            return ControlFlow::Break(self.refuse_queued(connection, header, arrival.code_sets, &full));
        }
        // A thread that released requests before this one was held did not see it.
        if !self.is_held(connection, header, arrival) {
            self.lane.release_held();
        }
        ControlFlow::Break(true)
    }

    /// Waits until the request in the buffers, whose connection no other thread serves, is released. The wait
    /// has no deadline, and ends when the lane stops: the client is then notified that its request is not
    /// handled.
    fn keep_until_released(
        &mut self,
        connection: &Arc<Connection<H>>,
        header: &MessageHeader,
        arrival: Arrival,
    ) -> ControlFlow<bool, Arrival> {
        let lane = self.lane;
        lane.held
            .wait_while(|| !lane.is_stopping() && self.is_held(connection, header, arrival));
        if lane.is_stopping() {
            return ControlFlow::Break(true);
        }
        ControlFlow::Continue(arrival)
    }

    fn is_held(&mut self, connection: &Arc<Connection<H>>, header: &MessageHeader, arrival: Arrival) -> bool {
        let held = self.with_request(connection, header, arrival, |_, handler, request, _, _| {
            Ok::<_, MessageError>(handler.is_held(request))
        });
        matches!(held, Ok(true))
    }
}
