//! A request whose reply is sent after its upcall has ended, by any thread.
//!
//! Its connection stays open for it, as for any request in service; the [`RequestHandler`], which keeps it,
//! decides what happens when its client withdraws it, its deadline passes, or the lane stops.

use std::{sync::Arc, time::Instant};

use punctual_flight::{Event, Record, record};
use punctual_giop::Version;
use punctual_sched::NetworkPriorityMapping;
use punctual_types::Priority;

use crate::{
    ConnectionId, Lane, RequestHandler, RequestMessage, ServingSlot, ServingThread,
    connections::connection::Connection,
};

/// A request in service that no thread is serving. Dropping it ends it, with or without a reply.
pub struct DeferredRequest<H: RequestHandler> {
    lane: Arc<Lane<H>>,
    connection: Arc<Connection<H>>,
    version: Version,
}

/// Returns the identification of a connection.
pub(crate) fn id_of<H: RequestHandler>(connection: &Arc<Connection<H>>) -> ConnectionId {
    ConnectionId(Arc::as_ptr(connection).addr())
}

impl<H: ServingSlot> RequestMessage<'_, H> {
    /// Defers the reply beyond the upcall, whose disposition is [`crate::Disposition::NoReply`] then. `None`:
    /// the calling thread does not serve the request.
    #[cold]
    pub fn defer(&self) -> Option<DeferredRequest<H>> {
        let connection = Arc::clone(self.connection);
        let lane = ServingThread::<H>::current(|serving| Arc::clone(&serving.lane))?;
        // The thread that serves it counts it out, which is no end yet.
        connection.state.begin_queued_request();
        Some(DeferredRequest {
            lane,
            connection,
            version: self.header.version,
        })
    }

    /// Has a thread of the lane call [`RequestHandler::expire_deferred`] at this time.
    #[cold]
    pub fn watch_deadline(&self, at: Instant) {
        ServingThread::<H>::current(|serving| serving.lane.watch_deadline(at));
    }
}

impl<H: RequestHandler> DeferredRequest<H> {
    /// Returns the identification of the connection over which it came.
    pub fn connection(&self) -> ConnectionId {
        id_of(&self.connection)
    }

    /// Returns whether its client can still be reached.
    pub fn is_open(&self) -> bool {
        !self.connection.state.is_closed()
    }

    /// Counts it as one that no servant has answered.
    pub fn count_unanswered(&self) {
        self.lane.counters.unanswered.add_one();
    }

    /// Sends the reply from the calling thread; its packets travel at this priority. Octets for which the
    /// socket has no room are kept, as those of any reply. Returns whether the client can still be reached.
    ///
    /// Waits only for a client that does not read and whose connection is dedicated to a thread, for the
    /// completion time of a message at most.
    pub fn reply(
        &self,
        mapping: &dyn NetworkPriorityMapping,
        reply: &mut Vec<u8>,
        priority: Option<Priority>,
    ) -> bool {
        let (connection, limits) = (&self.connection, self.lane.limits());
        let state = &connection.state;
        let hopeless = state.is_exhausted()
            || state.is_congested() && connection.owes_more_than(limits.max_message_size);
        let usable = self.is_open() && !hopeless && {
            connection.mark.set(connection.stream(), mapping, priority);
            match connection.send_owned(reply, self.version) {
                Ok(false) => true,
                Ok(true) => self.lane.watch_unsent(connection),
                Err(_) => false,
            }
        };
        record(|| Record::new(Event::ReplySent).link(connection.link));
        if !usable {
            self.lane.close_wherever(connection);
        }
        usable
    }
}

impl<H: RequestHandler> Drop for DeferredRequest<H> {
    fn drop(&mut self) {
        if self.connection.state.end_request() {
            self.lane.close_wherever(&self.connection);
        }
    }
}

impl<H: RequestHandler> Lane<H> {
    /// Closes a connection of this lane, or of the one that redispatched its request.
    fn close_wherever(&self, connection: &Arc<Connection<H>>) {
        self.close(connection);
        if !connection.state.is_closed() {
            self.for_each_sibling(|lane| lane.close(connection));
        }
    }
}
