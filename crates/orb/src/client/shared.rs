//! Calls over connections that several callers share: a lane's threads read the replies.

use std::{sync::Arc, time::Instant};

use punctual_flight::{Event, Record, record};
use punctual_giop::MessageType;
use punctual_lane::{
    CallEnd, CallTimeouts, NotSent, Outcome, ReceivedReply, Refused, ReplyBuffer, ReplyTable, ReplyWait,
    SharedConnectionSettings, Ticket, serve_until_ended,
};
use punctual_stub::{Call, Response};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind as Kind};

use super::{
    Reference, Route,
    attempts::Attempt,
    connection::connect,
    connection_cache::{ConnectionKey, Permit, Purpose},
    deadline::Deadlines,
    invoke::{Answer, Speech, Terms, closed},
    locate::located,
    request_buffer::RequestBuffer,
    route::char_set_in_force,
    thread_state::CallFrame,
};
use crate::{
    WaitStrategy, current,
    lane::{BlockedThread, Lane, ReplyLane, SharedConnection},
    orb_core::OrbCore,
};

/// The lane that reads the reply of one call.
pub(super) struct ReplyReader {
    lane: Arc<Lane>,
    /// It is the calling thread's own.
    _blocked: Option<BlockedThread>,
}

/// A request that goes over a shared connection.
pub(super) struct Outgoing<'o> {
    pub(super) shared: &'o SharedConnection,
    pub(super) lane: &'o Lane,
    pub(super) route: &'o Route,
    pub(super) priority: Priority,
    pub(super) terms: Terms<'o>,
}

impl Reference {
    /// The lane that is to read the reply; `None`: the call has to be an exclusive one.
    ///
    /// Fails with INV_POLICY where the calling thread serves no lane and there is no lane for its replies.
    #[cold]
    pub(super) fn lane_for_reply(&self, terms: Terms<'_>) -> Result<Option<ReplyReader>, SystemException> {
        let priority = current::thread_priority(&self.core);
        let serves = terms.policies.wait_strategy == WaitStrategy::Serving;
        match ReplyLane::of_calling_thread(priority, serves) {
            ReplyLane::CannotRead => Ok(None),
            ReplyLane::Reads(lane, blocked) => Ok(Some(ReplyReader {
                lane,
                _blocked: blocked,
            })),
            ReplyLane::None => Ok(Some(ReplyReader {
                lane: self.lane_of_reply_pool(priority)?,
                _blocked: None,
            })),
        }
    }

    /// For a caller that serves no lane, or one that cannot read its reply.
    pub(super) fn lane_of_reply_pool(&self, priority: Priority) -> Result<Arc<Lane>, SystemException> {
        let pool = self.core.reply_pool.load();
        let pool = pool.as_ref().ok_or_else(|| no_lane(Minor::NO_REPLY_THREADPOOL))?;
        let lane = pool.lane_for_reply(priority);
        let lane = lane.ok_or_else(|| no_lane(Minor::NO_LANE_FOR_REPLY))?;
        if !lane.reads_replies() {
            return Err(no_lane(Minor::NO_REPLY_THREADPOOL));
        }
        Ok(Arc::clone(lane))
    }

    /// As a call over a connection of its own, but that others may be outstanding on it.
    #[inline(never)]
    pub(super) fn call_over_shared(
        &self,
        lane: &ReplyReader,
        route: &Route,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
    ) -> Result<Attempt<()>, SystemException> {
        let priority = self.caller_priority(route)?;
        let connection = &self.shared_connection(&lane.lane, route, priority, terms)?;
        let outgoing = Outgoing {
            shared: connection,
            lane: &lane.lane,
            route,
            priority,
            terms,
        };
        let CallFrame {
            request,
            shared,
            seen,
            ..
        } = frame;
        let lent = shared.get_or_insert_default();
        let wanted = (call.response == Response::WithTarget).then_some(MessageType::Reply);
        let answer = self.exchange(&outgoing, wanted, request, lent, |buffer, speech| {
            self.encode(route, priority, terms, buffer, call, speech)
        })?;
        match answer {
            Attempt::Done(Some(ReceivedReply { header, reply })) => {
                let answer = Answer {
                    message: &lent.message[..header.total_size()],
                    header: &header,
                    fragment_starts: &lent.fragment_starts,
                    char_set: connection.char_set(),
                };
                self.let_see(seen, &answer, reply.map(|(_, body)| body));
                self.decode_reply(answer, reply, route, call)
            }
            Attempt::Done(None) => Ok(Attempt::Done(())),
            Attempt::Again(error) => Ok(Attempt::Again(error)),
            Attempt::Forward(ior) => Ok(Attempt::Forward(ior)),
        }
    }

    #[inline(never)]
    pub(super) fn locate_over_shared(
        &self,
        lane: &ReplyReader,
        route: &Route,
        frame: &mut CallFrame,
        terms: Terms<'_>,
    ) -> Result<Attempt<bool>, SystemException> {
        let priority = self.caller_priority(route)?;
        let connection = &self.shared_connection(&lane.lane, route, priority, terms)?;
        let outgoing = Outgoing {
            shared: connection,
            lane: &lane.lane,
            route,
            priority,
            terms,
        };
        let CallFrame { request, shared, .. } = frame;
        let lent = shared.get_or_insert_default();
        let wanted = Some(MessageType::LocateReply);
        let answer = self.exchange(&outgoing, wanted, request, lent, |buffer, speech| {
            self.encode_locate(route, buffer, speech)
        })?;
        match answer {
            Attempt::Done(Some(ReceivedReply { header, .. })) => {
                located(route, &lent.message[..header.total_size()], &header)
            }
            Attempt::Done(None) => Ok(Attempt::Done(false)),
            Attempt::Again(error) => Ok(Attempt::Again(error)),
            Attempt::Forward(ior) => Ok(Attempt::Forward(ior)),
        }
    }

    pub(super) fn shared_connection(
        &self,
        lane: &Lane,
        route: &Route,
        priority: Priority,
        terms: Terms<'_>,
    ) -> Result<SharedConnection, SystemException> {
        let find = |key: &ConnectionKey<'_>| lane.shared_connection(|purpose| purpose.is_for(key));
        self.bind(route, priority, terms, find, |key| {
            self.open_shared(lane, key, terms)
        })
    }

    #[cold]
    fn open_shared(
        &self,
        lane: &Lane,
        key: &ConnectionKey<'_>,
        terms: Terms<'_>,
    ) -> Result<SharedConnection, SystemException> {
        let exhausted = || {
            SystemException::new(
                Kind::ImpLimit,
                Minor::CLIENT_CONNECTIONS_EXHAUSTED,
                Completion::No,
            )
        };
        let permit = permit(lane, key).ok_or_else(exhausted)?;
        let protocols = &terms.policies.client_protocols;
        let stream = connect(key.endpoint, protocols, self.connect_timeout(terms))?;
        let properties = key.endpoint.properties(protocols);
        let char_set = key.endpoint.char_set;
        let settings = SharedConnectionSettings {
            properties: &properties,
            char_set: char_set_in_force(char_set),
            announces_code_sets: char_set.is_some(),
        };
        let matches = |purpose: &Purpose| purpose.is_for(key);
        lane.share(Purpose::new(key), matches, permit, stream, &settings)
            // The system cannot watch another descriptor.
            .map_err(|_| exhausted())
    }

    /// Sends a request and waits for its answer, which is in the buffer then; `None` for a request without one.
    fn exchange(
        &self,
        outgoing: &Outgoing<'_>,
        wanted: Option<MessageType>,
        request: &mut RequestBuffer,
        lent: &mut ReplyBuffer,
        encode: impl FnOnce(&mut RequestBuffer, Speech) -> Result<(), SystemException>,
    ) -> Result<Attempt<Option<ReceivedReply>>, SystemException> {
        let ticket = match self.send_over(outgoing, wanted, request, lent, encode)? {
            Attempt::Done(Some(ticket)) => ticket,
            Attempt::Done(None) => return Ok(Attempt::Done(None)),
            Attempt::Again(error) => return Ok(Attempt::Again(error)),
            Attempt::Forward(ior) => return Ok(Attempt::Forward(ior)),
        };
        let Outgoing {
            shared, lane, terms, ..
        } = *outgoing;
        let (replies, request_id) = (&shared.replies(), ticket.request_id);
        let is_unsent = || shared.is_congested();
        let wait = terms.wait(&is_unsent);
        if terms.policies.wait_strategy == WaitStrategy::Serving {
            serve_until_over(shared, &ticket, &wait, None);
        }
        let outcome = replies.wait(ticket, &wait, lent);
        let answer = self.conclude(lane, shared, request_id, outcome)?;
        Ok(answer.map(Some))
    }

    /// Sends a request; with a ticket, if it has an answer.
    pub(super) fn send_over(
        &self,
        outgoing: &Outgoing<'_>,
        wanted: Option<MessageType>,
        request: &mut RequestBuffer,
        lent: &mut ReplyBuffer,
        encode: impl FnOnce(&mut RequestBuffer, Speech) -> Result<(), SystemException>,
    ) -> Result<Attempt<Option<Ticket>>, SystemException> {
        let Outgoing {
            shared,
            lane,
            route,
            priority,
            terms,
        } = *outgoing;
        let replies = &shared.replies();
        terms.deadlines.check_unsent()?;
        let entered = match wanted {
            Some(wanted) => replies
                .enter(wanted, lent)
                .map(|ticket| (ticket.request_id, Some(ticket))),
            None => replies.id_without_reply().map(|id| (id, None)),
        };
        let (request_id, ticket) = match entered {
            Ok(entered) => entered,
            Err(Refused::Full) => {
                let minor = Minor::SHARED_CALLS_EXHAUSTED;
                return Err(SystemException::new(Kind::ImpLimit, minor, Completion::No));
            }
            Err(Refused::Ended) => {
                lane.forget(shared);
                return Ok(Attempt::Again(closed()));
            }
        };
        let mut entered = Entered { replies, ticket };
        let speech = Speech {
            request_id,
            char_set: shared.char_set(),
            announces_code_sets: shared.announces_code_sets(),
        };
        let link = shared.link();
        let sent = encode(request, speech).map_err(Err).and_then(|()| {
            record(|| Record::new(Event::Encoded).request(request_id).link(link));
            shared.set_network_priority(&*self.core.network_mapping, route.network_priority(priority));
            lane.send_request(shared, request.message(), route.version)
                .map_err(Ok)
        });
        let ticket = entered.ticket.take();
        if let Err(reason) = sent {
            if let Some(ticket) = ticket {
                replies.withdraw(ticket, lent);
            }
            return unsent(reason?);
        }
        record(|| Record::new(Event::Sent).request(request_id).link(link));
        Ok(Attempt::Done(ticket))
    }

    /// What a wait for a reply came to.
    pub(super) fn conclude(
        &self,
        lane: &Lane,
        shared: &SharedConnection,
        request_id: u32,
        outcome: Outcome,
    ) -> Result<Attempt<ReceivedReply>, SystemException> {
        match outcome {
            Outcome::Arrived(reply) => {
                let link = shared.link();
                record(|| Record::new(Event::ReplyReceived).request(request_id).link(link));
                Ok(Attempt::Done(reply))
            }
            Outcome::Ended(end) => {
                // The lane's thread may not have come to that yet.
                lane.forget(shared);
                ended(end)
            }
            Outcome::TimedOut => {
                self.core.count_late_reply();
                Err(maybe(Kind::Timeout, Minor::REPLY_TIMED_OUT))
            }
            Outcome::UnsentInTime => Err(maybe(Kind::Timeout, Minor::REQUEST_TIMED_OUT)),
        }
    }
}

impl Terms<'_> {
    pub(super) fn wait<'w>(&self, is_unsent: &'w dyn Fn() -> bool) -> ReplyWait<'w> {
        let Deadlines { request, reply } = self.deadlines;
        let [unsent, reply] = [request, reply].map(|deadline| deadline.map(|deadline| deadline.at));
        ReplyWait {
            timeouts: CallTimeouts { reply, unsent },
            is_unsent,
        }
    }
}

/// A call whose request is being written, by user code among others: should that panic, nothing has been sent.
struct Entered<'r> {
    replies: &'r ReplyTable,
    ticket: Option<Ticket>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.replies.withdraw(ticket, &mut ReplyBuffer::default());
        }
    }
}

/// Serves the lane of the calling thread, if it serves one, until the call is over or late; what it came to, says the wait that
/// has to follow. It fails for want of descriptors at most, and then that one is all there is.
pub(super) fn serve_until_over(
    shared: &SharedConnection,
    ticket: &Ticket,
    wait: &ReplyWait<'_>,
    give_up: Option<Instant>,
) {
    let (replies, CallTimeouts { reply, unsent }) = (&shared.replies(), wait.timeouts);
    let reply = reply.into_iter().chain(give_up).min();
    // For the request as long as it may not have been sent, then for the reply.
    let unsent = unsent.filter(|_| shared.is_congested());
    let first = [unsent, reply].into_iter().flatten().min();
    if let Some(Ok(false)) = serve_until_ended::<OrbCore>(replies, ticket, first)
        && unsent.is_some()
        && !shared.is_congested()
    {
        let _ = serve_until_ended::<OrbCore>(replies, ticket, reply);
    }
}

/// The right to open one more shared connection; an unused one is closed if there are too many. `None`: all are in use.
fn permit(lane: &Lane, key: &ConnectionKey<'_>) -> Option<Permit> {
    lane.close_obsolete(Purpose::is_orphan);
    loop {
        let calls = &lane.data.calls;
        let permit = calls.permit(key.band);
        if permit.is_some() || !(calls.close_oldest() || lane.close_oldest_unused()) {
            return permit;
        }
    }
}

fn ended<R>(end: CallEnd) -> Result<Attempt<R>, SystemException> {
    let minor = match end {
        CallEnd::InOrder => return Ok(Attempt::Again(closed())),
        CallEnd::Lost => Minor::CONNECTION_LOST,
        CallEnd::Rejected => Minor::PEER_REJECTED_MESSAGE,
        CallEnd::Stopped => Minor::REPLY_THREADPOOL_ENDED,
    };
    Err(maybe(Kind::CommFailure, minor))
}

fn unsent<R>(reason: NotSent) -> Result<Attempt<R>, SystemException> {
    match reason {
        NotSent::Closed => Ok(Attempt::Again(SystemException::new(
            Kind::CommFailure,
            Minor::WRITE_FAILED,
            Completion::No,
        ))),
        NotSent::Congested => Err(SystemException::new(
            Kind::Transient,
            Minor::SHARED_CONNECTION_CONGESTED,
            Completion::No,
        )),
        NotSent::Broken => Err(maybe(Kind::CommFailure, Minor::WRITE_FAILED)),
    }
}

fn maybe(kind: Kind, minor: Minor) -> SystemException {
    SystemException::new(kind, minor, Completion::Maybe)
}

fn no_lane(minor: Minor) -> SystemException {
    SystemException::new(Kind::InvPolicy, minor, Completion::No)
}
