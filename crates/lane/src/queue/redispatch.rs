//! Bounded redispatch: a request that arrived at the wrong lane is passed to the right one.

use std::{sync::Arc, time::Instant};

use punctual_giop::{MessageHeader, RequestHeader};

use crate::{
    Redispatch, ServingSlot, connections::connection::Connection, dispatch::Arrival,
    queue::request_queue::QueuedRequest, worker::Worker,
};

impl<H: ServingSlot> Worker<'_, H> {
    /// Passes the request in the buffers to another lane, or serves it here. `false`: the connection is of no
    /// further use.
    ///
    /// The request goes into the same queue that buffers requests. A lane that does not buffer is woken by
    /// its doorbell, in its poller; that and the copy are what it costs. A request that finds no room is
    /// served where it arrived. Replies to one connection are still written one at a time, so the two lanes
    /// share its lock, which inherits priority.
    ///
    /// A client can no longer cancel a request that was redispatched: it is served.
    pub(crate) fn redispatch(
        &mut self,
        connection: &Arc<Connection<H>>,
        header: &MessageHeader,
        arrival: Arrival,
        target: Redispatch,
    ) -> bool {
        let buffers = &self.buffers;
        let message = &buffers.message[..header.total_size()];
        let Ok((request, _)) = RequestHeader::decode(message, header) else {
            return self.reject(connection, header.version);
        };
        let read_at = Instant::now();
        let queued = QueuedRequest {
            connection: Arc::clone(connection),
            origin: Some(Arc::clone(&self.lane.connections)),
            header: *header,
            request_id: request.request_id,
            read_at,
            code_sets: arrival.code_sets,
        };
        // The peer of a dedicated connection can make its own thread wait, but not a thread of a higher lane.
        let lane = self.lane.sibling(target.priority);
        if let Some(lane) = lane.filter(|_| !connection.state.is_dedicated())
            && lane
                .queue
                .push(target.limits, queued, message, &buffers.fragment_starts)
                .is_ok()
        {
            self.lane.counters.redispatched.add_one();
            lane.wake_for_queue();
            return true;
        }
        let here = Arrival {
            read_at: Some(read_at),
            may_move: false,
            ..arrival
        };
        self.answer_request(connection, header, here)
    }
}
