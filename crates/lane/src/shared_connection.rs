//! Connections to servers that callers share: the lane's threads read the replies and pass them to their callers.
//!
//! System calls of a call: its caller writes and sleeps (2), a thread of the lane waits, reads and wakes it (3). A reply that
//! arrives before its caller sleeps saves the sleep and the wake-up.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use punctual_cdr::CharSet;
use punctual_flight::{Event, Link, Record, record};
use punctual_giop::{LocateReplyHeader, MessageHeader, MessageType, ReplyHeader, Version};
use punctual_os::{Interest, PiMutex, Trigger};
use punctual_sched::NetworkPriorityMapping;
use punctual_transport::{ProtocolProperties, Stream};
use punctual_types::Priority;

use crate::{
    CallEnd, Lane, ReceivedReply, ReplyTable, RequestHandler,
    connection::{Broken, Connection, Readiness, Role},
    reply_table::Delivery,
    worker::Worker,
};

/// State of a connection that this side opened.
pub(crate) struct ClientRole<H: RequestHandler> {
    purpose: H::Purpose,
    /// Released when the lane closes the connection, even if callers still refer to it.
    permit: PiMutex<Option<H::Permit>>,
    char_set: CharSet,
    /// The code sets were negotiated, and no request has told the server yet.
    announces_code_sets: AtomicBool,
    pub(crate) replies: ReplyTable,
    /// A write has failed: the connection is closed as soon as nothing can be read any more.
    write_failed: AtomicBool,
}

/// Connection of a lane that callers share.
pub struct SharedConnection<H: RequestHandler> {
    connection: Arc<Connection<H>>,
    client: Arc<ClientRole<H>>,
}

/// Properties of a new shared connection.
pub struct SharedConnectionSettings<'s> {
    /// Properties of its protocol.
    pub properties: &'s ProtocolProperties,
    /// Code set of `char` and `string`.
    pub char_set: CharSet,
    /// Whether the first request announces the code sets.
    pub announces_code_sets: bool,
}

/// Shared connections of a lane, the one that was unused for longest first.
pub(crate) struct SharedConnections<H: RequestHandler>(PiMutex<Vec<SharedConnection<H>>>);

/// Reason why a request was not sent.
pub enum NotSent {
    /// Too much waits for a server that does not read.
    Congested,
    /// The server closed the connection before the first octet of the request was sent.
    Closed,
    /// The connection broke inside the request.
    Broken,
}

impl<H: RequestHandler> Clone for SharedConnection<H> {
    fn clone(&self) -> Self {
        Self {
            connection: Arc::clone(&self.connection),
            client: Arc::clone(&self.client),
        }
    }
}

impl<H: RequestHandler> SharedConnection<H> {
    /// Identification of the connection for the flight recorder.
    pub fn link(&self) -> Link {
        self.connection.link
    }

    /// Code set of `char` and `string`.
    pub fn char_set(&self) -> CharSet {
        self.client.char_set
    }

    /// Whether the next request announces the code sets.
    pub fn announces_code_sets(&self) -> bool {
        self.client.announces_code_sets.load(Ordering::Relaxed)
    }

    /// Calls that wait for replies.
    pub fn replies(&self) -> &ReplyTable {
        &self.client.replies
    }

    /// Sets the mark of the next request's packets.
    pub fn set_network_priority(&self, mapping: &dyn NetworkPriorityMapping, priority: Option<Priority>) {
        let connection = &self.connection;
        connection.mark.set(connection.stream(), mapping, priority);
    }

    /// Whether part of what was to be sent waits for room.
    pub fn is_congested(&self) -> bool {
        self.connection.state.is_congested()
    }
}

impl<H: RequestHandler> Lane<H> {
    /// The shared connection whose purpose `matches`, if there is one.
    pub fn shared_connection(&self, matches: impl Fn(&H::Purpose) -> bool) -> Option<SharedConnection<H>> {
        let mut list = self.shared.0.lock();
        let position = list.iter().rposition(|shared| matches(&shared.client.purpose))?;
        // The last one is the one that was used last.
        list[position..].rotate_left(1);
        list.last().cloned()
    }

    /// Adds a connection to the poller, unless another caller was faster: then that caller's connection is returned.
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
        settings: &SharedConnectionSettings<'_>,
    ) -> io::Result<SharedConnection<H>> {
        stream.set_nonblocking(true)?;
        let mut list = self.shared.0.lock();
        if let Some(faster) = list.iter().find(|shared| matches(&shared.client.purpose)) {
            stream.shutdown();
            return Ok(faster.clone());
        }
        let client = Arc::new(ClientRole {
            purpose,
            permit: PiMutex::new(Some(permit)),
            char_set: settings.char_set,
            announces_code_sets: AtomicBool::new(settings.announces_code_sets),
            replies: ReplyTable::new(self.limits().max_shared_calls),
            write_failed: AtomicBool::new(false),
        });
        let connection = self.register(stream, settings.properties, &client)?;
        let shared = SharedConnection { connection, client };
        list.push(shared.clone());
        drop(list);
        // A thread that stops the lane marks it first and then searches for connections.
        if self.is_stopping() {
            self.close(&shared.connection);
        }
        Ok(shared)
    }

    fn register(
        &self,
        stream: Box<dyn Stream>,
        properties: &ProtocolProperties,
        client: &Arc<ClientRole<H>>,
    ) -> io::Result<Arc<Connection<H>>> {
        let mut connections = self.connections.slots.lock();
        let entry = connections.vacant_entry();
        let token = entry.key() as u64;
        let role = Role::Client(Arc::clone(client));
        let connection = Connection::new(token, stream, role, properties, &self.poller, self.limits());
        let connection = Arc::new(connection);
        self.poller
            .add(connection.stream(), token, Interest::READ, Trigger::Edge)?;
        // Tells a peer that shares memory with us to ring from now on.
        connection.stream().wait_readable(Duration::ZERO)?;
        entry.insert(Arc::clone(&connection));
        self.connections.open.store(connections.len(), Ordering::Relaxed);
        self.connections.opened.fetch_add(1, Ordering::Relaxed);
        Ok(connection)
    }

    /// Sends a request. What there is no room for follows later, and no thread waits.
    ///
    /// # Errors
    /// [`NotSent`].
    pub fn send_request(
        &self,
        shared: &SharedConnection<H>,
        request: &[u8],
        version: Version,
    ) -> Result<(), NotSent> {
        let SharedConnection { connection, client } = shared;
        match connection.send_request(request, version, self.limits().max_message_size) {
            Ok(()) => {
                if connection.state.is_congested() {
                    self.watch_congestion();
                }
                client.announces_code_sets.store(false, Ordering::Relaxed);
                Ok(())
            }
            Err(None) => Err(NotSent::Congested),
            Err(Some(Broken { begun: false })) => {
                // The server may have sent CloseConnection before: that is still to be read.
                client.write_failed.store(true, Ordering::SeqCst);
                self.forget_shared(connection);
                let readiness = Readiness {
                    peer_closed: true,
                    readable: true,
                };
                self.hand_over(connection, readiness);
                Err(NotSent::Closed)
            }
            Err(Some(Broken { begun: true })) => {
                self.close(connection);
                Err(NotSent::Broken)
            }
        }
    }

    /// A server that accepts nothing for the completion time of a message loses the connection.
    #[cold]
    fn watch_congestion(&self) {
        let incomplete = &self.pending_work.incomplete_messages;
        if !incomplete.swap(true, Ordering::SeqCst) {
            // Its threads compute how long they may wait.
            self.ring();
        }
    }

    /// Removes a connection that is of no further use from those that calls find.
    pub fn forget(&self, shared: &SharedConnection<H>) {
        self.forget_shared(&shared.connection);
    }

    fn forget_shared(&self, connection: &Arc<Connection<H>>) {
        let mut list = self.shared.0.lock();
        let forgotten: Option<SharedConnection<H>> = list
            .iter()
            .position(|shared| Arc::ptr_eq(&shared.connection, connection))
            .map(|position| list.remove(position));
        drop(list);
        drop(forgotten);
    }

    /// Releases what belongs to a connection that the lane has closed.
    pub(crate) fn end_opened(&self, connection: &Arc<Connection<H>>, client: &ClientRole<H>) {
        self.connections.opened.fetch_sub(1, Ordering::Relaxed);
        self.forget_shared(connection);
        drop(client.permit.lock().take());
        client.replies.end(CallEnd::Lost);
    }

    /// Ends all calls over shared connections, and admits no other one: the lane is stopping.
    pub(crate) fn end_shared_calls(&self) {
        let shared = std::mem::take(&mut *self.shared.0.lock());
        for SharedConnection { connection, client } in shared {
            if client.replies.end(CallEnd::Stopped) {
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
        let list = self.shared.0.lock();
        let is_meant = |shared: &&SharedConnection<H>| {
            among(&shared.client.purpose) && shared.client.replies.end_if_idle()
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

impl<H: RequestHandler> Default for SharedConnections<H> {
    fn default() -> Self {
        Self(PiMutex::new(Vec::new()))
    }
}

impl<H: RequestHandler> ClientRole<H> {
    pub(crate) fn has_write_failed(&self) -> bool {
        self.write_failed.load(Ordering::SeqCst)
    }
}

impl<H: RequestHandler> Worker<'_, H> {
    /// Passes the message in the buffers to the caller that waits for it. `false`: the connection is of no further use.
    pub(crate) fn deliver_reply(
        &mut self,
        connection: &Arc<Connection<H>>,
        client: &ClientRole<H>,
        header: &MessageHeader,
    ) -> bool {
        let octets = &self.buffers.message[..header.total_size()];
        let decoded = match header.message_type {
            MessageType::Reply => ReplyHeader::decode(octets, header)
                .map(|(reply, body)| (reply.request_id, Some((reply.status, body)))),
            MessageType::LocateReply => {
                LocateReplyHeader::decode(octets, header).map(|reply| (reply.request_id, None))
            }
            MessageType::CloseConnection => {
                client.replies.end(CallEnd::InOrder);
                return false;
            }
            MessageType::MessageError => {
                client.replies.end(CallEnd::Rejected);
                return false;
            }
            // A server may send nothing else.
            _ => return self.reject(connection, header.version),
        };
        let Ok((request_id, reply)) = decoded else {
            return self.reject(connection, header.version);
        };
        record(|| {
            Record::new(Event::Read)
                .link(connection.link)
                .detail(header.total_size() as u64)
        });
        let reply = ReceivedReply {
            header: *header,
            reply,
        };
        let buffers = &mut self.buffers;
        let counters = &self.lane.counters;
        let delivery = client.replies.deliver(
            request_id,
            reply,
            &mut buffers.message,
            &mut buffers.fragment_starts,
            || counters.replies.add_one(),
        );
        match delivery {
            Delivery::ToCaller => {}
            Delivery::Late => counters.late_replies.add_one(),
            Delivery::Unsolicited => return self.reject(connection, header.version),
        }
        true
    }
}
