//! Bounded redispatch: a request that came to the wrong lane is handed on to the right one.
//!
//! It goes into the same queue that buffers requests. A lane that does not buffer is woken by its doorbell, in its one waiting
//! place; that and the copy are what it costs. What finds no room is served where it came. Replies to one connection are still
//! written one at a time, so the two lanes share its lock, which inherits priority.
//!
//! A request that was handed on cannot be taken back by its client any more: it is served.

use std::{sync::Arc, time::Instant};

use punctual_giop::{MessageHeader, RequestHeader};

use super::{
    Lane,
    connection::Connection,
    request_queue::Queued,
    worker::{Desk, Worker},
};
use crate::{QueueLimits, server::Arrival};

impl Worker<'_> {
    /// Gives the request on the desk to `target`, or serves it here. `false`: the connection is of no further use.
    pub(super) fn hand_on(
        &mut self,
        connection: &Arc<Connection>,
        header: &MessageHeader,
        target: &Arc<Lane>,
        limits: QueueLimits,
    ) -> bool {
        let Desk { message, buffers, .. } = &self.desk;
        let message = &message[..header.total_size()];
        let Ok((request, _)) = RequestHeader::decode(message, header) else {
            return self.reject(connection, header.version);
        };
        let read_at = Instant::now();
        let queued = Queued {
            connection: Arc::clone(connection),
            home: Some(Arc::clone(self.lane)),
            header: *header,
            request_id: request.request_id,
            read_at,
        };
        // Where a thread blocks for its one connection, its peer can make it wait, but not one of a higher lane.
        let pushed = !connection.is_dedicated()
            && target
                .queue
                .push(limits, queued, message, &buffers.fragment_starts)
                .is_ok();
        if pushed {
            self.lane.counters.redispatched.add_one();
            target.wake_for_queue();
            return true;
        }
        let here = Arrival {
            read_at: Some(read_at),
            may_move: false,
        };
        self.answer_request(connection, header, here)
    }
}
