//! Connections to servers that stand in the lane's waiting place: several callers share each, and the lane's threads read the
//! replies and hand them to their callers.
//!
//! System calls of a call: its caller writes and sleeps (2), a thread of the lane waits, reads and wakes it (3). A reply that is
//! there before its caller sleeps saves the sleep and the waking.

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
use punctual_transport::{Peer, ProtocolProperties, Stream};
use punctual_types::Priority;

use super::{
    Lane, Wake,
    connection::{Broken, Connection},
    replies::{Delivered, End, Replies, Reply},
    worker::{Desk, Worker},
};
use crate::{
    Limits,
    accepted_priorities::Origin,
    bound_band::BoundBand,
    client::{ConnectionKey, Permit, Purpose},
};

/// What a connection has that this side opened, beyond those that it accepted.
pub(crate) struct Opened {
    purpose: Purpose,
    /// One of the connections that the lane may have open; given back when the lane lets go of it, whoever else still knows it.
    permit: PiMutex<Option<Permit>>,
    pub(crate) char_set: CharSet,
    /// The code sets were negotiated, and no request has told the server yet.
    announces_code_sets: AtomicBool,
    pub(crate) replies: Replies,
    /// A write has failed: to be closed as soon as nothing can be read any more.
    doomed: AtomicBool,
}

/// A connection of a lane that callers share.
#[derive(Clone)]
pub(crate) struct SharedConnection {
    connection: Arc<Connection>,
    pub(crate) opened: Arc<Opened>,
}

/// Those of a lane, the one that was unused for longest first.
#[derive(Default)]
pub(super) struct SharedConnections(PiMutex<Vec<SharedConnection>>);

/// Why a request is not on its way.
pub(crate) enum Unsent {
    /// So much waits for a server that does not read that there is no room for it.
    Congested,
    /// The server has gone before an octet of it was sent.
    Gone,
    /// The connection broke inside it.
    Halfway,
}

impl SharedConnection {
    pub(crate) fn link(&self) -> Link {
        self.connection.link
    }

    pub(crate) fn announces_code_sets(&self) -> bool {
        self.opened.announces_code_sets.load(Ordering::Relaxed)
    }

    /// Says at which priority the next request travels.
    pub(crate) fn mark(&self, mapping: &dyn NetworkPriorityMapping, priority: Option<Priority>) {
        self.connection.mark(mapping, priority);
    }

    /// Whether part of what was to be sent waits for room.
    pub(crate) fn is_congested(&self) -> bool {
        self.connection.is_congested()
    }
}

impl Lane {
    /// Whether its threads block in `read`, each for one connection.
    pub(crate) fn is_blocking(&self) -> bool {
        self.blocking.is_some()
    }

    /// Whether its threads look after replies: those that block in `read` do not.
    pub(crate) fn reads_replies(&self) -> bool {
        self.blocking.is_none() && !self.is_stopping()
    }

    /// The connection that calls of this kind share.
    pub(crate) fn shared(&self, key: &ConnectionKey<'_>) -> Option<SharedConnection> {
        self.shared.find(key)
    }

    /// The right to open one more; closes another one that is unused where there are too many. `None`: all are in use.
    pub(crate) fn permit_shared(&self, key: &ConnectionKey<'_>) -> Option<Permit> {
        self.close_orphans();
        loop {
            let permit = self.calls.permit(key.band);
            if permit.is_some() || !(self.calls.close_oldest() || self.close_oldest_unused()) {
                return permit;
            }
        }
    }

    /// Puts a connection into the waiting place, unless another caller was faster: then that one's is the one to use.
    ///
    /// Nobody waits for a caller that connects: it might have a lower priority.
    pub(crate) fn share(
        &self,
        key: &ConnectionKey<'_>,
        permit: Permit,
        stream: Box<dyn Stream>,
        properties: &ProtocolProperties,
        (char_set, announces_code_sets): (CharSet, bool),
        limits: &Limits,
    ) -> io::Result<SharedConnection> {
        stream.set_nonblocking(true)?;
        let mut list = self.shared.0.lock();
        if let Some(faster) = list.iter().find(|shared| shared.opened.purpose.is_for(key)) {
            stream.shutdown();
            return Ok(faster.clone());
        }
        let opened = Arc::new(Opened {
            purpose: Purpose::new(key),
            permit: PiMutex::new(Some(permit)),
            char_set,
            announces_code_sets: AtomicBool::new(announces_code_sets),
            replies: Replies::new(limits.max_shared_calls),
            doomed: AtomicBool::new(false),
        });
        let connection = self.register(stream, properties, &opened, limits)?;
        let shared = SharedConnection { connection, opened };
        list.push(shared.clone());
        drop(list);
        // Whoever stops the lane marks it first and looks for connections then.
        if self.is_stopping() {
            self.close(&shared.connection);
        }
        Ok(shared)
    }

    fn register(
        &self,
        stream: Box<dyn Stream>,
        properties: &ProtocolProperties,
        opened: &Arc<Opened>,
        limits: &Limits,
    ) -> io::Result<Arc<Connection>> {
        let mut connections = self.connections.lock();
        let entry = connections.vacant_entry();
        let token = entry.key() as u64;
        // No request may come over it, so nobody asks from whom.
        let origin = Origin {
            peer: Peer::Unknown,
            highest: Priority::MIN,
            band: BoundBand::among(&self.by_band),
        };
        let connection = Connection::new(token, stream, origin, properties, &self.poller, limits);
        let connection = Arc::new(connection.opened_for(opened));
        self.poller
            .add(connection.stream(), token, Interest::READ, Trigger::Edge)?;
        // Tells a peer that shares memory with us to ring from now on.
        connection.stream().wait_readable(Duration::ZERO)?;
        entry.insert(Arc::clone(&connection));
        self.open.store(connections.len(), Ordering::Relaxed);
        self.opened.fetch_add(1, Ordering::Relaxed);
        Ok(connection)
    }

    /// Sends a request; what there is no room for follows when there is, and nobody waits.
    pub(crate) fn send_request(
        &self,
        shared: &SharedConnection,
        request: &[u8],
        version: Version,
    ) -> Result<(), Unsent> {
        let connection = &shared.connection;
        match connection.send_request(request, version, self.limits.max_message_size) {
            Ok(()) => {
                if connection.is_congested() {
                    self.watch_congestion();
                }
                shared.opened.announces_code_sets.store(false, Ordering::Relaxed);
                Ok(())
            }
            Err(None) => Err(Unsent::Congested),
            Err(Some(Broken { begun: false })) => {
                // The server may have said before that it closes: that is still to be read.
                shared.opened.doomed.store(true, Ordering::SeqCst);
                self.forget_shared(connection);
                let (ended, look) = (true, true);
                self.hand_over(connection, Wake { ended, look });
                Err(Unsent::Gone)
            }
            Err(Some(Broken { begun: true })) => {
                self.close(connection);
                Err(Unsent::Halfway)
            }
        }
    }

    /// A server that does not read for as long as a message may take loses the connection.
    #[cold]
    fn watch_congestion(&self) {
        if !self.incomplete.swap(true, Ordering::SeqCst) {
            // Its threads look how long they may wait.
            let _ = self.bell.ring();
        }
    }

    /// Lets no further call find a connection that is of no use any more.
    pub(crate) fn forget(&self, shared: &SharedConnection) {
        self.forget_shared(&shared.connection);
    }

    fn forget_shared(&self, connection: &Arc<Connection>) {
        let mut list = self.shared.0.lock();
        let forgotten: Option<SharedConnection> = list
            .iter()
            .position(|shared| Arc::ptr_eq(&shared.connection, connection))
            .map(|position| list.remove(position));
        drop(list);
        drop(forgotten);
    }

    /// What remains to be done for a connection that the lane has let go of.
    pub(super) fn end_opened(&self, connection: &Arc<Connection>, opened: &Opened) {
        self.opened.fetch_sub(1, Ordering::Relaxed);
        self.forget_shared(connection);
        drop(opened.permit.lock().take());
        opened.replies.end(End::Lost);
    }

    /// Ends all calls over shared connections, and lets no other one in: the lane is stopping.
    pub(super) fn end_shared_calls(&self) {
        let shared = std::mem::take(&mut *self.shared.0.lock());
        for SharedConnection { connection, opened } in shared {
            if opened.replies.end(End::Stopped) {
                connection.say_close();
            }
        }
    }

    fn close_oldest_unused(&self) -> bool {
        let list = self.shared.0.lock();
        let oldest = list.iter().find(|shared| shared.opened.replies.end_if_idle());
        let oldest = oldest.cloned();
        drop(list);
        oldest.is_some_and(|oldest| {
            oldest.connection.say_close();
            self.close(&oldest.connection);
            true
        })
    }

    /// Closes those whose references are gone.
    pub(crate) fn close_orphans(&self) {
        loop {
            let list = self.shared.0.lock();
            let orphan = |shared: &&SharedConnection| {
                shared.opened.purpose.is_orphan() && shared.opened.replies.end_if_idle()
            };
            let orphan = list.iter().find(orphan).cloned();
            drop(list);
            let Some(orphan) = orphan else { return };
            orphan.connection.say_close();
            self.close(&orphan.connection);
        }
    }
}

impl SharedConnections {
    fn find(&self, key: &ConnectionKey<'_>) -> Option<SharedConnection> {
        let mut list = self.0.lock();
        let position = list
            .iter()
            .rposition(|shared| shared.opened.purpose.is_for(key))?;
        // The last one is the one that was used last.
        list[position..].rotate_left(1);
        list.last().cloned()
    }
}

impl Opened {
    pub(super) fn is_doomed(&self) -> bool {
        self.doomed.load(Ordering::SeqCst)
    }
}

impl Worker<'_> {
    /// Hands the message on the desk to the caller that waits for it. `false`: the connection is of no further use.
    pub(super) fn take_reply(&mut self, connection: &Arc<Connection>, header: &MessageHeader) -> bool {
        let Some(opened) = connection.opened() else {
            return self.reject(connection, header.version);
        };
        let Desk { message, buffers, .. } = &mut self.desk;
        let octets = &message[..header.total_size()];
        let answer = match header.message_type {
            MessageType::Reply => ReplyHeader::decode(octets, header)
                .map(|(reply, body)| (reply.request_id, Some((reply.status, body)))),
            MessageType::LocateReply => {
                LocateReplyHeader::decode(octets, header).map(|reply| (reply.request_id, None))
            }
            MessageType::CloseConnection => {
                opened.replies.end(End::InOrder);
                return false;
            }
            MessageType::MessageError => {
                opened.replies.end(End::Rejected);
                return false;
            }
            // A server has no business to send anything else.
            _ => return self.reject(connection, header.version),
        };
        let Ok((request_id, reply)) = answer else {
            return self.reject(connection, header.version);
        };
        record(|| {
            Record::new(Event::Read)
                .link(connection.link)
                .detail(header.total_size() as u64)
        });
        let reply = Reply {
            header: *header,
            reply,
        };
        let starts = &mut buffers.fragment_starts;
        let counters = &self.lane.counters;
        let count = || counters.replies.add_one();
        let replies = &opened.replies;
        match replies.deliver(request_id, header.message_type, reply, message, starts, count) {
            Delivered::ToItsCaller => {}
            Delivered::Late => counters.late_replies.add_one(),
            Delivered::Unasked => return self.reject(connection, header.version),
        }
        true
    }
}
