//! Step 8 of a call: the messages of a connection are read one after the other and handled.

use std::{
    ops::ControlFlow,
    sync::{Arc, atomic::Ordering},
};

use punctual_giop::{
    MessageHeader, Version,
    connection::{Event, ReceivedReply, Refused},
    write_too_large,
};
use punctual_os::PiMutexGuard;

use crate::{
    CallEnd, NotExecuted, ServingSlot,
    connections::{
        connection::{Connection, Inbound, Readiness, Received},
        role::{Calls, Role},
    },
    threads::serving_thread,
    worker::Worker,
};

/// Messages of one connection that a thread serves before it checks whether others wait.
pub(crate) const MAX_CONSECUTIVE: usize = 16;

/// Whether the thread continues with the connection.
type Flow = ControlFlow<AfterServing>;

/// Octets after which the thread checks whether others wait although a message is not complete.
const LARGE_PART: usize = 32 << 10;

/// Next state of the connection when the thread stops serving it.
enum AfterServing {
    Keep,
    Close,
    /// It continues behind the others that wait.
    Yield,
}

impl<H: ServingSlot> Worker<'_, H> {
    /// Serves the messages of a connection until none is left, another thread has taken over, or others have
    /// waited long enough. `false`: it has been closed.
    pub(crate) fn serve(&mut self, connection: &Arc<Connection<H>>, readiness: Readiness) -> bool {
        if connection.state.is_unserved() {
            return self.serve_within_budget(connection, readiness);
        }
        self.serve_turn(connection, readiness)
    }

    /// Serves a connection regardless of its earlier cost.
    pub(crate) fn serve_turn(&mut self, connection: &Arc<Connection<H>>, readiness: Readiness) -> bool {
        let open = self.serve_messages(connection, readiness);
        // Another thread may have closed it meanwhile.
        !connection.end_if_closed() && open
    }

    fn serve_messages(&mut self, connection: &Arc<Connection<H>>, mut readiness: Readiness) -> bool {
        // A lent thread serves one request.
        let at_most = if self.is_lent() { 1 } else { MAX_CONSECUTIVE };
        for _ in 0..at_most {
            match self.serve_next(connection, &mut readiness) {
                Flow::Continue(()) => {}
                Flow::Break(AfterServing::Keep) => return true,
                Flow::Break(AfterServing::Yield) => break,
                Flow::Break(AfterServing::Close) => {
                    self.lane.close(connection);
                    return false;
                }
            }
        }
        // A peer that sends without a pause must not keep this thread from the others.
        self.lane.hand_over(connection, readiness);
        true
    }

    fn serve_next(&mut self, connection: &Arc<Connection<H>>, readiness: &mut Readiness) -> Flow {
        match connection.flush() {
            Ok(true) => {}
            // The server does not read requests: its replies are still wanted.
            Ok(false) if matches!(connection.role, Role::Client(_)) => {}
            Ok(false) if connection.accepts_more() => self.lane.watch_congestion(),
            // The peer does not read its replies: its requests can wait, too.
            Ok(false) => {
                self.lane.watch_congestion();
                return Flow::Break(AfterServing::Keep);
            }
            Err(_) => match &connection.role {
                // The server may have sent replies before it closed the connection.
                Role::Client(opened) => self.lane.note_write_failed(connection, &opened.calls),
                _ => return Flow::Break(AfterServing::Close),
            },
        }
        let Some(mut inbound) = connection.claim(*readiness) else {
            return Flow::Break(AfterServing::Keep);
        };
        // The connection has been closed, or dedicated to a thread, since this one was woken for it.
        if connection.state.is_closed_or_dedicated() {
            return Flow::Break(AfterServing::Keep);
        }
        if readiness.readable {
            inbound.drained = false;
        }
        let received = inbound.receive(connection.stream());
        if inbound.protocol.needs_watching() {
            connection.memory.set_received(inbound.protocol.held());
            let pending = &self.lane.pending_work;
            pending.incomplete_messages.store(true, Ordering::SeqCst);
        }
        match received {
            Received::Event(event) => self.serve_event(connection, inbound, event, readiness),
            Received::Part(octets) => {
                self.note_part(connection, inbound);
                connection.add_missed(readiness);
                if octets < LARGE_PART {
                    Flow::Continue(())
                } else {
                    Flow::Break(AfterServing::Yield)
                }
            }
            Received::Nothing => {
                // Waking a lane for nothing costs it as much as a part of a message does.
                self.note_part(connection, inbound);
                self.after_last_message(connection, readiness)
            }
            Received::EndOfStream => {
                // Replies on which other threads are working are still to be sent; then the last of them
                // closes.
                let idle = connection.state.peer_closed();
                drop(inbound);
                Flow::Break(if idle {
                    AfterServing::Close
                } else {
                    AfterServing::Keep
                })
            }
            Received::Refused(refused) => {
                drop(inbound);
                if let Some(calls) = connection.role.calls() {
                    calls.replies.end(refused.into());
                }
                self.reject_received(connection, &refused);
                Flow::Break(AfterServing::Close)
            }
        }
    }

    fn serve_event(
        &mut self,
        connection: &Arc<Connection<H>>,
        inbound: PiMutexGuard<'_, Inbound>,
        event: Event,
        readiness: &mut Readiness,
    ) -> Flow {
        match event {
            Event::Request(header) | Event::LocateRequest(header) => {
                self.serve_request(connection, inbound, &header, readiness)
            }
            Event::Reply(reply) => match connection.role.calls() {
                Some(calls) => self.take_reply(connection, calls, inbound, reply, readiness),
                // The state machine refuses replies to servers.
                None => Flow::Break(AfterServing::Close),
            },
            Event::BidirectionalOffer => {
                self.consider_offer(connection, inbound);
                connection.add_missed(readiness);
                Flow::Continue(())
            }
            Event::Cancelled(request_id) => {
                drop(inbound);
                let cancelled = self.lane.cancel(connection, request_id);
                // One that is kept counts itself out.
                let _ = cancelled || self.lane.cancel_deferred(connection, request_id);
                let usable = self
                    .lane
                    .charge(connection, NotExecuted::Elsewhere, cancelled, || true);
                if cancelled && connection.state.end_request() || !usable {
                    return Flow::Break(AfterServing::Close);
                }
                connection.add_missed(readiness);
                Flow::Continue(())
            }
            Event::Progress => {
                self.note_part(connection, inbound);
                connection.add_missed(readiness);
                Flow::Continue(())
            }
            Event::CloseConnection | Event::MessageError => {
                if let Some(calls) = connection.role.calls() {
                    calls.replies.end(match event {
                        Event::MessageError => CallEnd::Rejected,
                        _ => CallEnd::InOrder,
                    });
                }
                Flow::Break(AfterServing::Close)
            }
        }
    }

    fn serve_request(
        &mut self,
        connection: &Arc<Connection<H>>,
        mut inbound: PiMutexGuard<'_, Inbound>,
        header: &MessageHeader,
        readiness: &mut Readiness,
    ) -> Flow {
        let code_sets = inbound.protocol.code_sets();
        inbound.begin_request();
        let buffers = &mut self.buffers;
        inbound
            .protocol
            .take(&mut buffers.message, &mut buffers.fragment_starts);
        let more = readiness.peer_closed || inbound.has_more();
        connection.state.begin_request();
        drop(inbound);
        let others = self.lane.is_shared();
        let mut rest = Readiness {
            readable: false,
            ..*readiness
        };
        // Threads that were woken for the next request meanwhile rely on this one, which may serve for long.
        connection.add_missed(&mut rest);
        let more = more || rest.readable;
        if more && others {
            self.lane.hand_over(connection, rest);
        }
        let usable = {
            // If its upcall waits for a reply, the thread serves the rest meanwhile.
            let _pending = (more && !others).then(|| serving_thread::set_pending_input(connection, rest));
            self.handle(connection, header, code_sets)
        };
        let last = connection.state.end_request();
        if !usable || last {
            return Flow::Break(AfterServing::Close);
        }
        if connection.state.is_congested() && !connection.accepts_more() || more && others {
            return Flow::Break(AfterServing::Keep);
        }
        readiness.peer_closed |= rest.peer_closed;
        let flow = continue_if_ready(connection, more, readiness);
        readiness.readable |= rest.readable;
        flow
    }

    /// Counts part of a message as work without service, and releases the connection.
    #[cold]
    pub(crate) fn note_part(&self, connection: &Connection<H>, mut inbound: PiMutexGuard<'_, Inbound>) {
        if inbound.is_in_parts() {
            connection.state.set_unserved();
        }
    }

    fn take_reply(
        &mut self,
        connection: &Arc<Connection<H>>,
        calls: &Calls<H>,
        mut inbound: PiMutexGuard<'_, Inbound>,
        reply: ReceivedReply,
        readiness: &mut Readiness,
    ) -> Flow {
        // While it is claimed: the end of the stream must not overtake a reply.
        let buffers = &mut self.buffers;
        inbound
            .protocol
            .take(&mut buffers.message, &mut buffers.fragment_starts);
        let usable = self.deliver_reply(connection, calls, reply);
        let more = readiness.peer_closed || inbound.has_more();
        inbound.used |= usable;
        drop(inbound);
        self.served = usable;
        if !usable {
            return Flow::Break(AfterServing::Close);
        }
        continue_if_ready(connection, more, readiness)
    }

    fn after_last_message(&mut self, connection: &Connection<H>, readiness: &mut Readiness) -> Flow {
        if readiness.peer_closed {
            // Read once more, to the end of the stream.
            *readiness = Readiness {
                peer_closed: false,
                readable: true,
            };
            return Flow::Continue(());
        }
        readiness.readable = false;
        connection.add_missed(readiness);
        if readiness.readable {
            return Flow::Continue(());
        }
        let calls = connection.role.calls();
        Flow::Break(if calls.is_some_and(|calls| calls.has_write_failed()) {
            AfterServing::Close
        } else {
            AfterServing::Keep
        })
    }

    /// Answers a request that is too large, and sends CloseConnection, so that the client sends its next
    /// request over another connection. MessageError for everything else, and if the lane still works on an
    /// earlier request, which CloseConnection would declare as not executed.
    #[cold]
    pub(crate) fn reject_received(&mut self, connection: &Connection<H>, refused: &Refused) {
        let Refused {
            version, request_id, ..
        } = *refused;
        let reply = &mut self.buffers.reply;
        let answered = request_id.is_some_and(|request_id| {
            write_too_large(reply, version, request_id).is_ok() && connection.send(reply, version).is_ok()
        });
        if answered && !connection.state.is_in_service() {
            connection.send_close();
            self.lane.counters.connections.protocol_errors.add_one();
        } else {
            self.reject(connection, version);
        }
    }

    /// Sends MessageError; the connection is of no further use then, hence `false`.
    pub(crate) fn reject(&self, connection: &Connection<H>, version: Version) -> bool {
        self.lane.refuse(connection, version);
        false
    }
}

fn continue_if_ready<H: ServingSlot>(
    connection: &Connection<H>,
    more: bool,
    readiness: &mut Readiness,
) -> Flow {
    readiness.readable = readiness.peer_closed;
    connection.add_missed(readiness);
    if more || readiness.readable {
        Flow::Continue(())
    } else {
        Flow::Break(AfterServing::Keep)
    }
}
