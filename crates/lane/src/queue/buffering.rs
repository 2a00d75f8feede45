//! Request buffering: a lane's I/O thread reads requests and queues them for the threads that serve, so that
//! requests are read, and refused if there are too many, while all of those are in upcalls.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_cdr::CodeSets;
use punctual_giop::{MessageHeader, RequestHeader};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use crate::{
    Lane, MessageError, QueueLimits, ServingSlot,
    connections::connection::Connection,
    dispatch::Arrival,
    queue::{
        deferred_request::id_of,
        request_queue::{NoRoom, QueuedRequest, Taken},
    },
    worker::{Source, Turn, Worker, work},
};

/// Reads what arrives at a lane, on its I/O thread, until the lane is stopped.
///
/// System calls for a request that finds every thread waiting: the I/O thread waits, reads and wakes (3), the
/// serving thread sleeps and writes (2); in a real-time class, the I/O thread gives way to the serving one
/// (1). While requests wait, the serving thread does not sleep and no thread is woken: 4 in all, and one read
/// that finds nothing more. Without buffering it is 3.
///
/// Requests start in the order in which they were read, whichever connection they arrived on. A request that
/// was admitted is served, unless its client cancels it or the ORB is shut down first; then the peers receive
/// CloseConnection, which means that what is outstanding was not handled.
pub(crate) fn read_until_stopped<H: ServingSlot>(lane: &Arc<Lane<H>>, handler: &Arc<H>) {
    // It serves nothing: if only this thread is not in an upcall, no thread is left to serve.
    lane.threads.occupancy.begin();
    work(lane, handler, Source::Poller, None);
}

impl<H: ServingSlot> Worker<'_, H> {
    /// Waits for a queued request within the timeout and serves it.
    pub(crate) fn serve_queue(&mut self, timeout: Option<Duration>) -> Turn {
        let lane = self.lane;
        match lane.queue.wait(&mut self.buffers, timeout, || lane.is_asked()) {
            Taken::Request(request) => self.serve_queued(request),
            Taken::Asked if self.run_task() || lane.help_with_queue(self.home, self.handler) => {}
            Taken::Asked | Taken::TimedOut => return Turn::Idle,
            Taken::Closed => return Turn::Stopped,
        }
        Turn::Served
    }

    /// Puts the request in the buffers into the lane's queue, or refuses it. `false`: the connection is of no
    /// further use.
    pub(crate) fn buffer(
        &mut self,
        connection: &Arc<Connection<H>>,
        header: &MessageHeader,
        code_sets: CodeSets,
        limits: QueueLimits,
    ) -> bool {
        let Some(queued) = self.to_queued(connection, header, code_sets, Instant::now()) else {
            return self.reject(connection, header.version);
        };
        let message = &self.buffers.message[..header.total_size()];
        let queue = &self.lane.queue;
        let Err(no_room) = queue.push(limits, queued, message, &self.buffers.fragment_starts) else {
            self.lane.after_push();
            return true;
        };
        let (kind, minor) = match no_room {
            NoRoom::Full => (SystemExceptionKind::Transient, Minor::REQUEST_QUEUE_FULL),
            NoRoom::TooLarge => (SystemExceptionKind::ImpLimit, Minor::REQUEST_LARGER_THAN_QUEUE),
        };
        let exception = SystemException::new(kind, minor, Completion::No);
        self.refuse_queued(connection, header, code_sets, &exception)
    }

    /// Describes the request in the buffers for a queue, or returns `None` if its header is malformed.
    pub(crate) fn to_queued(
        &self,
        connection: &Arc<Connection<H>>,
        header: &MessageHeader,
        code_sets: CodeSets,
        read_at: Instant,
    ) -> Option<QueuedRequest<H>> {
        let message = &self.buffers.message[..header.total_size()];
        let (request, _) = RequestHeader::decode(message, header).ok()?;
        Some(QueuedRequest {
            connection: Arc::clone(connection),
            origin: None,
            header: *header,
            request_id: request.request_id,
            read_at,
            code_sets,
        })
    }

    /// Answers the request in the buffers, for which no queue has room. `false`: the connection is of no
    /// further use.
    pub(crate) fn refuse_queued(
        &mut self,
        connection: &Arc<Connection<H>>,
        header: &MessageHeader,
        code_sets: CodeSets,
        exception: &SystemException,
    ) -> bool {
        // A client whose requests find a full queue may be a good one: it keeps its connection, and waits.
        self.served = false;
        connection.state.set_unserved();
        let arrival = Arrival {
            read_at: None,
            may_move: false,
            code_sets,
        };
        let refused = self.with_request(connection, header, arrival, |lane, handler, request, _, reply| {
            handler.refuse_request(lane, request, exception, reply)
        });
        match refused {
            Ok(true) => self.send_reply(connection, header, None),
            Ok(false) => true,
            Err(MessageError) => self.reject(connection, header.version),
        }
    }

    /// Serves a request of the queue, whose message is in the buffers.
    pub(crate) fn serve_queued(&mut self, request: QueuedRequest<H>) {
        let QueuedRequest {
            connection,
            origin,
            header,
            read_at,
            code_sets,
            ..
        } = request;
        self.count_loan();
        let arrival = Arrival {
            read_at: Some(read_at),
            // A request moves once at most: the lane that it was redispatched to has the right priority.
            may_move: origin.is_none(),
            code_sets,
        };
        // Replies to requests that were admitted before it was clear that their peer does not read.
        let lane_limits = self.lane.limits();
        let hopeless = connection.state.is_exhausted()
            || connection.state.is_congested() && connection.owes_more_than(lane_limits.max_message_size);
        let usable = !hopeless && self.answer(&connection, &header, arrival);
        self.buffers.free_large(lane_limits.max_kept_buffer);
        let last = connection.state.end_request();
        if !usable || last {
            origin
                .as_ref()
                .unwrap_or(&self.lane.connections)
                .close(&connection);
        }
    }
}

impl<H: ServingSlot> Lane<H> {
    /// Takes back a request that waits in the queue. `false`: it is not there.
    pub(crate) fn cancel(&self, connection: &Arc<Connection<H>>, request_id: u32) -> bool {
        self.mode.is_buffered() && self.queue.cancel(connection, request_id)
    }

    /// Takes back a request whose upcall has ended without a reply. `false`: it is not there.
    pub(crate) fn cancel_deferred(&self, connection: &Arc<Connection<H>>, request_id: u32) -> bool {
        H::cancel_deferred(&self.data, id_of(connection), request_id)
    }

    /// Notifies the threads that another lane has queued a request.
    pub(crate) fn wake_for_queue(&self) {
        if self.mode.is_buffered() {
            self.after_push();
        } else {
            self.ring();
        }
    }
}
