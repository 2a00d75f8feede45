//! Step 6 of a call: a message is handed to the request handler, and its reply is sent.

use std::{
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_cdr::CodeSets;
use punctual_flight::{self as flight, Record, record};
use punctual_giop::{
    INVOCATION_POLICIES, MessageHeader, MessageType, RequestHeader, decode_invocation_policies,
};
use punctual_types::Priority;

use crate::{
    Disposition, Lane, LaneContext, MessageError, NotExecuted, RequestHandler, RequestMessage, ServingSlot,
    connections::connection::Connection, threads::mode::Mode, worker::Worker,
};

/// How a request reached the thread that serves it.
#[derive(Clone, Copy)]
pub(crate) struct Arrival {
    /// Time at which it was read from its connection; `None`: just now.
    pub(crate) read_at: Option<Instant>,
    /// It has not been in a queue yet, so another lane may serve it.
    pub(crate) may_move: bool,
    /// Code sets of text and wide text.
    pub(crate) code_sets: CodeSets,
}

impl<H: ServingSlot> Worker<'_, H> {
    /// Handles the Request or LocateRequest in the buffers. `false`: the connection is of no further use.
    #[inline(always)]
    pub(crate) fn handle(
        &mut self,
        connection: &Arc<Connection<H>>,
        header: &MessageHeader,
        code_sets: CodeSets,
    ) -> bool {
        record(|| {
            Record::new(flight::Event::Read)
                .link(connection.link)
                .detail(header.total_size() as u64)
        });
        let arrival = Arrival {
            read_at: None,
            may_move: true,
            code_sets,
        };
        let usable = match header.message_type {
            MessageType::Request => {
                self.lane.counters.requests.add_one();
                self.served = true;
                if let Mode::Buffered(limits) = self.lane.mode {
                    self.buffer(connection, header, code_sets, limits)
                } else {
                    self.count_loan();
                    self.answer(connection, header, arrival)
                }
            }
            _ => self.answer_locate(connection, header, arrival),
        };
        self.buffers.free_large(self.lane.limits().max_kept_buffer);
        usable
    }

    /// Counts the next request if this thread is lent for it.
    pub(crate) fn count_loan(&self) {
        if self.is_lent() {
            self.lane.counters.threads.borrowed.add_one();
            self.home.counters.threads.lent.add_one();
        }
    }

    /// Serves the request in the buffers and records its service time if that is configured; otherwise that
    /// costs one predictable branch. `false`: the connection is of no further use.
    pub(crate) fn answer(
        &mut self,
        connection: &Arc<Connection<H>>,
        header: &MessageHeader,
        arrival: Arrival,
    ) -> bool {
        if self.lane.counters.service_times.is_none() {
            return self.answer_request(connection, header, arrival);
        }
        self.answer_timed(connection, header, arrival)
    }

    #[inline(never)]
    fn answer_timed(
        &mut self,
        connection: &Arc<Connection<H>>,
        header: &MessageHeader,
        arrival: Arrival,
    ) -> bool {
        let began = arrival.read_at.unwrap_or_else(Instant::now);
        let wanted_for = wanted_for(&self.buffers.message, header);
        let usable = self.answer_request(connection, header, arrival);
        let took = began.elapsed();
        if let Some(times) = &self.lane.counters.service_times {
            times.record(took);
        }
        if wanted_for.is_some_and(|wanted_for| took > wanted_for) {
            self.lane.counters.late.add_one();
        }
        usable
    }

    /// Serves the request in the buffers and sends the reply. `false`: the connection is of no further use.
    pub(crate) fn answer_request(
        &mut self,
        connection: &Arc<Connection<H>>,
        header: &MessageHeader,
        arrival: Arrival,
    ) -> bool {
        let mut arrival = arrival;
        loop {
            let disposition = {
                let _busy = busy(self.home, self.handler);
                self.with_request(
                    connection,
                    header,
                    arrival,
                    |lane, handler, request, own, reply| handler.handle_request(lane, request, own, reply),
                )
            };
            return match disposition {
                Ok(Disposition::Reply(priority)) => self.send_reply(connection, header, priority),
                Ok(Disposition::NoReply) => {
                    record(|| Record::new(flight::Event::Finished).link(connection.link));
                    true
                }
                Ok(Disposition::NotExecuted(reply, reason)) => {
                    self.after_not_executed(connection, header, reply, reason)
                }
                Ok(Disposition::Hold(limits)) => match self.hold(connection, header, arrival, limits) {
                    ControlFlow::Break(usable) => usable,
                    ControlFlow::Continue(released) => {
                        arrival = released;
                        continue;
                    }
                },
                Ok(Disposition::Redispatch(target)) => self.redispatch(connection, header, arrival, target),
                Err(MessageError) => self.reject(connection, header.version),
            };
        }
    }

    fn answer_locate(
        &mut self,
        connection: &Arc<Connection<H>>,
        header: &MessageHeader,
        arrival: Arrival,
    ) -> bool {
        let located = self.with_request(connection, header, arrival, |lane, handler, request, _, reply| {
            handler.handle_locate(lane, request, reply)
        });
        match located {
            Ok(()) => {
                let lane = self.lane;
                let answer = || self.send_reply(connection, header, None);
                lane.charge(connection, NotExecuted::Elsewhere, true, answer)
            }
            Err(MessageError) => self.reject(connection, header.version),
        }
    }

    #[cold]
    fn after_not_executed(
        &mut self,
        connection: &Connection<H>,
        header: &MessageHeader,
        reply: Option<Option<Priority>>,
        reason: NotExecuted,
    ) -> bool {
        self.served = false;
        let lane = self.lane;
        let answer = || reply.is_none_or(|priority| self.send_reply(connection, header, priority));
        lane.charge(connection, reason, true, answer)
    }

    /// Calls the handler with the message in the buffers.
    #[inline(always)]
    pub(crate) fn with_request<R>(
        &mut self,
        connection: &Arc<Connection<H>>,
        header: &MessageHeader,
        arrival: Arrival,
        call: impl FnOnce(
            &LaneContext<H::LaneData>,
            &H,
            &RequestMessage<'_, H>,
            &mut H::Buffers,
            &mut Vec<u8>,
        ) -> Result<R, MessageError>,
    ) -> Result<R, MessageError> {
        // The state machine refuses requests of servers, unless the connection is bidirectional.
        let Some(peer) = connection.role.peer() else {
            return Err(MessageError);
        };
        let buffers = &mut self.buffers;
        let request = RequestMessage {
            octets: &buffers.message[..header.total_size()],
            header,
            fragment_starts: &buffers.fragment_starts,
            code_sets: arrival.code_sets,
            peer,
            link: connection.link,
            read_at: arrival.read_at,
            may_move: arrival.may_move,
            connection,
        };
        call(
            self.lane,
            self.handler,
            &request,
            &mut buffers.handler,
            &mut buffers.reply,
        )
    }

    /// Sends the reply in the buffers; its packets travel at this priority.
    pub(crate) fn send_reply(
        &mut self,
        connection: &Connection<H>,
        header: &MessageHeader,
        priority: Option<Priority>,
    ) -> bool {
        let mapping = self.handler.network_priority_mapping();
        connection.mark.set(connection.stream(), mapping, priority);
        let sent = connection.send_owned(&mut self.buffers.reply, header.version);
        record(|| Record::new(flight::Event::ReplySent).link(connection.link));
        match sent {
            Ok(false) => true,
            Ok(true) => self.lane.watch_unsent(connection),
            Err(_) => false,
        }
    }
}

impl<H: RequestHandler> Lane<H> {
    /// Watches whether the peer reads what has begun to wait. `false`: a thread has waited for that already.
    #[cold]
    pub(crate) fn watch_unsent(&self, connection: &Connection<H>) -> bool {
        if connection.state.is_dedicated() {
            self.counters.connections.unread_replies.add_one();
            return false;
        }
        self.watch_congestion();
        true
    }

    /// Charges a connection for a message without a served request, then answers it; `ends`: the message
    /// counts as one that ends. `false`: the connection is of no further use; the peer of an exhausted budget
    /// has been notified.
    #[cold]
    pub(crate) fn charge(
        &self,
        connection: &Connection<H>,
        reason: NotExecuted,
        ends: bool,
        answer: impl FnOnce() -> bool,
    ) -> bool {
        let state = &connection.state;
        state.set_unserved();
        let paid = connection.budgets.pay(reason, state.ended_requests(), ends);
        if !paid {
            // Of several threads, one answers the message for which nothing was left.
            if state.set_exhausted() {
                return false;
            }
            // Before the answer: a peer that has read it finds its connection counted.
            self.counters.connections.exhausted_budgets.add_one();
        }
        let sent = answer();
        if paid {
            return sent;
        }
        // CloseConnection states that nothing outstanding will be handled.
        if sent && state.serves_at_most(ends.into()) {
            connection.send_close();
        }
        false
    }
}

impl<H: RequestHandler> RequestMessage<'_, H> {
    /// Sends a reply before the request is served, as SYNC_WITH_SERVER demands; its packets travel at this
    /// priority. [`Disposition::NoReply`] follows.
    ///
    /// Octets for which the socket has no room are kept, as those of any reply. A broken connection is
    /// detected at its next use; the request is served regardless.
    #[cold]
    pub fn reply_early(&self, handler: &H, reply: &[u8], priority: Option<Priority>) {
        let connection = self.connection;
        let mapping = handler.network_priority_mapping();
        connection.mark.set(connection.stream(), mapping, priority);
        let _ = connection.send(reply, self.header.version);
        record(|| Record::new(flight::Event::ReplySent).link(connection.link));
    }
}

/// Relative timeout that the client states in the request.
fn wanted_for(message: &[u8], header: &MessageHeader) -> Option<Duration> {
    let (request, _) = RequestHeader::decode(message.get(..header.total_size())?, header).ok()?;
    let policies = request.contexts.find(INVOCATION_POLICIES)?;
    decode_invocation_policies(policies).ok()?.wanted_for()
}

/// Counts a thread of the lane as busy until the result is dropped; gets another thread if none is left
/// waiting.
#[inline(always)]
pub(crate) fn busy<'l, H: ServingSlot>(lane: &'l Arc<Lane<H>>, handler: &Arc<H>) -> impl Drop + use<'l, H> {
    struct Busy<'l, H: ServingSlot>(&'l Lane<H>);
    impl<H: ServingSlot> Drop for Busy<'_, H> {
        fn drop(&mut self) {
            self.0.threads.occupancy.end();
        }
    }
    if lane.threads.occupancy.begin() {
        lane.reinforce(handler);
    }
    Busy(lane)
}
