//! Connections to servers that callers share: the lane's threads read the replies and pass them to their
//! callers.
//!
//! System calls of a call: its caller writes and sleeps (2), a thread of the lane waits, reads and wakes it
//! (3). A reply that arrives before its caller sleeps saves the sleep and the wake-up.

use std::{
    io,
    sync::{Arc, atomic::Ordering},
};

use punctual_cdr::CodeSets;
use punctual_flight::{Event, Record, record};
use punctual_giop::{
    Version,
    connection::{Parity, ReceivedReply, ReplyMatch},
};
use punctual_os::PiMutexGuard;
use punctual_transport::{ProtocolProperties, Stream};

use crate::{
    CallEnd, Lane, ReplyTable, RequestHandler, ServingSlot, SharedConnection,
    connections::{
        connection::{Broken, Connection, Inbound, Readiness},
        role::{AcceptedConnection, Calls, OpenedConnection, Role},
    },
    worker::Worker,
};

/// Properties of a new shared connection.
///
/// Shared connections are in the poller of a lane: the caller's lane, or a lane of the pool that reads
/// replies. The request id names a slot, and the thread that reads wakes only that caller. If no lane can
/// read the reply at the caller's priority, threads that serve a lane make the call an exclusive one, and
/// other threads get INV_POLICY. Writes never wait: octets that the server does not take at once are sent
/// when it does.
pub struct SharedConnectionSettings<'s, P> {
    /// Properties of its protocol.
    pub properties: &'s ProtocolProperties,
    /// Code sets of requests.
    pub code_sets: CodeSets,
    /// Whether the first request announces the code sets.
    pub announces_code_sets: bool,
    /// Makes the connection bidirectional: data for the requests of the server.
    pub serves: Option<P>,
}

/// Reason why a request was not sent.
pub enum NotSent {
    /// Too much waits for a server that does not read.
    Congested,
    /// The server closed the connection before the first octet of the request was sent.
    Closed,
    /// The connection broke inside the request. The lane still reads what the server sent before, and then
    /// ends the calls over the connection.
    Broken,
}

impl<H: RequestHandler> Lane<H> {
    /// Returns the shared connection whose purpose `matches`, if there is one.
    pub fn shared_connection(&self, matches: impl Fn(&H::Purpose) -> bool) -> Option<SharedConnection<H>> {
        let mut list = self.connections.shared.lock();
        let position = list.iter().rposition(|shared| matches(&shared.calls.purpose))?;
        // The last one is the one that was used last.
        list[position..].rotate_left(1);
        list.last().cloned()
    }

    /// Adds a connection to the poller, unless another caller was faster: then that caller's connection is
    /// returned.
    ///
    /// No caller waits for another one that connects: that one might have a lower priority.
    ///
    /// # Errors
    /// An error of the system, which cannot watch another descriptor.
    pub fn share(
        &self,
        purpose: H::Purpose,
        matches: impl Fn(&H::Purpose) -> bool,
        permit: H::Permit,
        stream: Box<dyn Stream>,
        settings: SharedConnectionSettings<'_, H::PeerData>,
    ) -> io::Result<SharedConnection<H>> {
        stream.set_nonblocking(true)?;
        let mut list = self.connections.shared.lock();
        if let Some(faster) = list.iter().find(|shared| matches(&shared.calls.purpose)) {
            stream.shutdown();
            return Ok(faster.clone());
        }
        let parity = match settings.serves {
            Some(_) => Parity::Even,
            None => Parity::Any,
        };
        let replies = ReplyTable::new(self.limits().max_shared_calls, parity);
        let calls = Calls::new(purpose, settings.code_sets, replies);
        let opened = OpenedConnection::new(&calls, permit, settings.serves, settings.announces_code_sets);
        let connection = self
            .connections
            .add_opened(stream, opened, settings.properties, self.limits())?;
        let shared = SharedConnection { connection, calls };
        list.push(shared.clone());
        drop(list);
        self.watch_idle(std::time::Instant::now());
        // A thread that stops the lane marks it first and then searches for connections.
        if self.is_stopping() {
            self.close(&shared.connection);
        }
        Ok(shared)
    }

    /// Sends a request. Octets for which there is no room follow later, and no thread waits.
    ///
    /// # Errors
    /// [`NotSent`].
    pub fn send_request(
        &self,
        shared: &SharedConnection<H>,
        request: &[u8],
        version: Version,
    ) -> Result<(), NotSent> {
        let SharedConnection { connection, calls } = shared;
        match connection.send_request(request, version, self.limits().max_message_size) {
            Ok(begins_to_wait) => {
                if begins_to_wait {
                    self.watch_congestion();
                }
                let opened = connection.role.opened();
                opened.into_iter().for_each(OpenedConnection::request_sent);
                Ok(())
            }
            Err(None) => Err(NotSent::Congested),
            Err(Some(Broken { begun })) => {
                // The server may have sent CloseConnection, or a reply to a request that it refuses before
                // its end: that is still to be read.
                self.note_write_failed(connection, calls);
                let readiness = Readiness {
                    peer_closed: true,
                    readable: true,
                };
                self.hand_over(connection, readiness);
                Err(if begun { NotSent::Broken } else { NotSent::Closed })
            }
        }
    }

    /// Calls find this connection no more; it is closed once nothing is left to read.
    #[cold]
    pub(crate) fn note_write_failed(&self, connection: &Arc<Connection<H>>, calls: &Calls<H>) {
        calls.note_write_failed();
        self.connections.forget_shared(connection);
    }

    /// A peer that does not accept its waiting octets in the completion time of a message is disconnected.
    #[cold]
    pub(crate) fn watch_congestion(&self) {
        let incomplete = &self.pending_work.incomplete_messages;
        if !incomplete.swap(true, Ordering::SeqCst) {
            // Its threads compute how long they may wait.
            self.ring();
        }
    }

    /// Removes a connection that is of no further use from those that calls find.
    pub fn forget(&self, shared: &SharedConnection<H>) {
        self.connections.forget_shared(&shared.connection);
    }

    /// Ends all calls over shared connections, and admits no other one: the lane is stopping.
    pub(crate) fn end_shared_calls(&self) {
        let shared = std::mem::take(&mut *self.connections.shared.lock());
        for SharedConnection { connection, calls } in shared {
            if calls.replies.end(CallEnd::Stopped) {
                connection.send_close();
            }
        }
    }

    /// Closes the shared connection that was unused for longest. `false`: none is unused.
    pub fn close_oldest_unused(&self) -> bool {
        self.close_first_unused(|_| true)
    }

    /// Closes the unused shared connections whose purpose is `obsolete`.
    pub fn close_obsolete(&self, obsolete: impl Fn(&H::Purpose) -> bool) {
        while self.close_first_unused(&obsolete) {}
    }

    fn close_first_unused(&self, among: impl Fn(&H::Purpose) -> bool) -> bool {
        let list = self.connections.shared.lock();
        let is_meant = |shared: &&SharedConnection<H>| {
            !shared.connection.is_server()
                && among(&shared.calls.purpose)
                && shared.calls.replies.end_if_idle()
        };
        let found = list.iter().find(is_meant).cloned();
        drop(list);
        found.is_some_and(|found| {
            found.connection.send_close();
            self.close(&found.connection);
            true
        })
    }
}

impl<H: ServingSlot> Worker<'_, H> {
    /// Decides about the peer's offer to serve requests over the connection that it has opened.
    #[cold]
    pub(crate) fn consider_offer(
        &self,
        connection: &Arc<Connection<H>>,
        mut inbound: PiMutexGuard<'_, Inbound>,
    ) {
        let Role::Server(AcceptedConnection { peer, callbacks }) = &connection.role else {
            return;
        };
        if !self.lane.reads_replies() {
            return;
        }
        let points = inbound.protocol.listen_points();
        let Some(purpose) = self.handler.accept_bidirectional(peer, points) else {
            return;
        };
        let replies = ReplyTable::new(self.lane.limits().max_shared_calls, Parity::Odd);
        // UTF-16 if the client has not stated a wide code set, as before any negotiation.
        let calls = Calls::new(purpose, inbound.protocol.code_sets(), replies);
        if callbacks.set(Arc::clone(&calls)).is_ok() {
            inbound.protocol.accept_bidirectional();
            let connection = Arc::clone(connection);
            let list = &self.lane.connections.shared;
            let shared = SharedConnection { connection, calls };
            list.lock().push(shared.clone());
            // A thread that closes it marks it first and then takes it off the list.
            if shared.connection.state.is_closed() {
                self.lane.forget(&shared);
                shared.calls.replies.end(CallEnd::Lost);
            }
        }
    }

    /// Passes the message in the buffers to the caller that waits for it. `false`: the connection is of no
    /// further use.
    pub(crate) fn deliver_reply(
        &mut self,
        connection: &Arc<Connection<H>>,
        calls: &Calls<H>,
        reply: ReceivedReply,
    ) -> bool {
        record(|| {
            Record::new(Event::Read)
                .link(connection.link)
                .detail(reply.header.total_size() as u64)
        });
        let buffers = &mut self.buffers;
        let counters = &self.lane.counters;
        let delivery =
            calls
                .replies
                .deliver(reply, &mut buffers.message, &mut buffers.fragment_starts, || {
                    counters.replies.add_one()
                });
        match delivery {
            ReplyMatch::Request(_) => {}
            ReplyMatch::Late => counters.late_replies.add_one(),
            ReplyMatch::Unknown => return self.reject(connection, reply.header.version),
        }
        true
    }
}
