//! Step 5 of a call, over a connection that several callers share: the request is encoded (step 6) and sent,
//! and the thread waits until a lane thread passes the reply; step 7 follows.

use std::{sync::Arc, time::Instant};

use punctual_flight::{Event, Record, record};
use punctual_giop::{MessageType, Version, connection::ReceivedReply};
use punctual_lane::{
    CallDeadlines, NotSent, Outcome, Refused, ReplyBuffer, ReplyTable, ReplyWait, SharedConnectionSettings,
    Ticket, serve_until_ended,
};
use punctual_stub::{Call, Response};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind as Kind};

use super::{
    attempts::{Attempt, ended},
    call_context::CallContext,
    call_end::closed,
    call_frame::CallFrame,
    connection::connect,
    connection_cache::Permit,
    connection_key::ConnectionKey,
    deadline::Deadlines,
    endpoint::Cancellation,
    exclusive::may_repeat,
    reference::Reference,
    reply::decode_locate_reply,
    reply_view::ReplyView,
    request_buffer::{Announced, RequestBuffer, RequestEncoding},
    route::Route,
    shared_purpose::SharedPurpose,
};
use crate::{
    ConnectionMode, WaitStrategy,
    accepted_priorities::Origin,
    bound_band::BoundBand,
    current,
    lane::{BlockedThread, Lane, ReplyLane, SharedConnection},
    server::RequestDispatcher,
};

/// The lane that reads the reply to one call.
pub(super) struct ReplyReader {
    lane: Arc<Lane>,
    /// Set if it is the calling thread's own lane.
    _blocked: Option<BlockedThread>,
}

/// A request over a shared connection.
pub(super) struct Outgoing<'o> {
    pub(super) shared: &'o SharedConnection,
    pub(super) lane: &'o Lane,
    pub(super) route: &'o Route,
    pub(super) priority: Priority,
    pub(super) context: CallContext<'o>,
}

impl Reference {
    /// Returns the lane that reads the reply to a call over a shared connection; `None`: the call uses an
    /// exclusive one.
    ///
    /// Fails with INV_POLICY if the calling thread serves no lane and there is no lane for its replies.
    #[inline(always)]
    pub(super) fn lane_for_shared_call(
        &self,
        context: CallContext<'_>,
    ) -> Result<Option<ReplyReader>, SystemException> {
        let policies = context.policies;
        // Bands are bound over exclusive connections.
        if policies.connection_mode == ConnectionMode::Shared && !policies.binds_bands {
            self.lane_for_reply(context)
        } else {
            Ok(None)
        }
    }

    #[cold]
    fn lane_for_reply(&self, context: CallContext<'_>) -> Result<Option<ReplyReader>, SystemException> {
        let priority = current::thread_priority(&self.core.configuration);
        let serves = context.policies.wait_strategy == WaitStrategy::Serving;
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

    /// Returns the lane for a caller that serves no lane, or one that cannot read the reply.
    pub(super) fn lane_of_reply_pool(&self, priority: Priority) -> Result<Arc<Lane>, SystemException> {
        let pool = self.core.pools.reply_pool();
        let pool = pool.as_ref().ok_or_else(|| no_lane(Minor::NO_REPLY_THREADPOOL))?;
        let lane = pool.lane_for_reply(priority);
        let lane = lane.ok_or_else(|| no_lane(Minor::NO_LANE_FOR_REPLY))?;
        if !lane.reads_replies() {
            return Err(no_lane(Minor::NO_REPLY_THREADPOOL));
        }
        Ok(Arc::clone(lane))
    }

    /// Makes one attempt at a call; other calls may be outstanding on the connection.
    #[inline(never)]
    pub(super) fn call_over_shared(
        &self,
        lane: &ReplyReader,
        route: &Route,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        context: CallContext<'_>,
    ) -> Result<Attempt<()>, SystemException> {
        let priority = self.caller_priority(route)?;
        let connection = &self.shared_connection(&lane.lane, route, priority, context)?;
        let outgoing = Outgoing {
            shared: connection,
            lane: &lane.lane,
            route,
            priority,
            context,
        };
        let CallFrame {
            request,
            shared,
            seen,
            ..
        } = frame;
        let reply_buffer = shared.get_or_insert_default();
        let wanted = (context.response(call.response) != Response::None).then_some(MessageType::Reply);
        let result = self.exchange(&outgoing, wanted, request, reply_buffer, |buffer, encoding| {
            self.encode_request(route, priority, context, buffer, call, encoding)
        })?;
        match result {
            Attempt::Done(Some(ReceivedReply { header, body, .. })) => {
                let char_set = connection.code_sets().char;
                let view = ReplyView::of_shared(connection.purpose(), char_set, reply_buffer, &header);
                self.show_reply(seen, &view, body);
                self.decode_reply(view, body, route, call)
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
        context: CallContext<'_>,
    ) -> Result<Attempt<bool>, SystemException> {
        let priority = self.caller_priority(route)?;
        let connection = &self.shared_connection(&lane.lane, route, priority, context)?;
        let outgoing = Outgoing {
            shared: connection,
            lane: &lane.lane,
            route,
            priority,
            context,
        };
        let CallFrame { request, shared, .. } = frame;
        let reply_buffer = shared.get_or_insert_default();
        let wanted = Some(MessageType::LocateReply);
        let result = self.exchange(&outgoing, wanted, request, reply_buffer, |buffer, encoding| {
            self.encode_locate_request(route, buffer, encoding)
        })?;
        match result {
            Attempt::Done(Some(ReceivedReply { header, .. })) => {
                let char_set = connection.code_sets().char;
                let view = ReplyView::of_shared(connection.purpose(), char_set, reply_buffer, &header);
                decode_locate_reply(route, &view)
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
        context: CallContext<'_>,
    ) -> Result<SharedConnection, SystemException> {
        let bidirectional = context.policies.bidirectional;
        let find =
            |key: &ConnectionKey<'_>| lane.shared_connection(|purpose| purpose.is_for(key, bidirectional));
        self.bind(route, priority, context, find, |key| {
            self.open_shared(lane, route, key, context)
        })
    }

    #[cold]
    fn open_shared(
        &self,
        lane: &Lane,
        route: &Route,
        key: &ConnectionKey<'_>,
        context: CallContext<'_>,
    ) -> Result<SharedConnection, SystemException> {
        let exhausted = || {
            SystemException::new(
                Kind::ImpLimit,
                Minor::CLIENT_CONNECTIONS_EXHAUSTED,
                Completion::No,
            )
        };
        let permit = permit(lane, key).ok_or_else(exhausted)?;
        let protocols = &context.policies.client_protocols;
        let stream = connect(key.endpoint, protocols, self.connect_timeout(context))?;
        let properties = key.endpoint.properties(protocols);
        let bidirectional = context.policies.bidirectional;
        let serves = (bidirectional && route.version >= Version::V1_2).then(|| Origin {
            peer: stream.origin().peer,
            highest: Priority::MAX,
            band: BoundBand::among(&lane.data.by_band),
        });
        let settings = SharedConnectionSettings {
            properties: &properties,
            code_sets: key.endpoint.code_sets(),
            announces_code_sets: key.endpoint.announces_code_sets(),
            serves,
        };
        let purpose = SharedPurpose::opened(key, bidirectional);
        let matches = |purpose: &SharedPurpose| purpose.is_for(key, bidirectional);
        lane.share(purpose, matches, permit, stream, settings)
            // The system cannot watch another descriptor.
            .map_err(|_| exhausted())
    }

    /// Sends a request and waits for its reply, which is in the buffer then; `None` for a request without
    /// reply.
    fn exchange(
        &self,
        outgoing: &Outgoing<'_>,
        wanted: Option<MessageType>,
        request: &mut RequestBuffer,
        reply_buffer: &mut ReplyBuffer,
        encode: impl FnOnce(&mut RequestBuffer, RequestEncoding<'_>) -> Result<(), SystemException>,
    ) -> Result<Attempt<Option<ReceivedReply>>, SystemException> {
        if wanted.is_some() && outgoing.context.deadlines.reply.is_none() {
            outgoing.shared.purpose().ensure_served()?;
        }
        let ticket = match self.send_over(outgoing, wanted, request, reply_buffer, encode)? {
            Attempt::Done(Some(ticket)) => ticket,
            Attempt::Done(None) => return Ok(Attempt::Done(None)),
            Attempt::Again(error) => return Ok(Attempt::Again(error)),
            Attempt::Forward(ior) => return Ok(Attempt::Forward(ior)),
        };
        let Outgoing {
            shared,
            lane,
            context,
            ..
        } = *outgoing;
        let (replies, request_id) = (&shared.replies(), ticket.request_id);
        let is_unsent = || shared.is_congested();
        let wait = context.wait(&is_unsent);
        if context.policies.wait_strategy == WaitStrategy::Serving {
            serve_until_over(shared, &ticket, &wait, None);
        }
        let outcome = replies.wait(ticket, &wait, reply_buffer);
        match self.conclude(lane, shared, request_id, outcome) {
            Err(error) if wanted.is_some_and(|wanted| may_repeat(error, wanted)) => Ok(Attempt::Again(error)),
            result => Ok(result?.map(Some)),
        }
    }

    /// Sends a request; returns a ticket if it has a reply.
    pub(super) fn send_over(
        &self,
        outgoing: &Outgoing<'_>,
        wanted: Option<MessageType>,
        request: &mut RequestBuffer,
        reply_buffer: &mut ReplyBuffer,
        encode: impl FnOnce(&mut RequestBuffer, RequestEncoding<'_>) -> Result<(), SystemException>,
    ) -> Result<Attempt<Option<Ticket>>, SystemException> {
        let Outgoing {
            shared,
            lane,
            route,
            priority,
            context,
        } = *outgoing;
        let replies = &shared.replies();
        context.deadlines.check_unsent()?;
        let entered = match wanted {
            Some(wanted) => replies
                .enter(wanted, reply_buffer)
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
                return Ok(Attempt::Again(shared.purpose().named_in(closed())));
            }
        };
        let mut entered = Entered { replies, ticket };
        let encoding = RequestEncoding {
            request_id,
            code_sets: shared.code_sets(),
            announced: Announced {
                code_sets: shared.announces_code_sets(),
                listen_points_of: shared.announces_listen_points().then(|| &**lane.acceptors()),
            },
        };
        let link = shared.link();
        let sent = encode(request, encoding).map_err(Err).and_then(|()| {
            record(|| Record::new(Event::Encoded).request(request_id).link(link));
            shared.set_network_priority(
                &*self.core.configuration.network_mapping,
                route.network_priority(priority),
            );
            lane.send_request(shared, request.message(), route.version)
                .map_err(Ok)
        });
        let ticket = entered.ticket.take();
        // A server that refuses a request before its end answers it nevertheless.
        let sent = match sent {
            Err(Ok(NotSent::Broken)) if ticket.is_some() => Ok(()),
            sent => sent,
        };
        if let Err(reason) = sent {
            if let Some(ticket) = ticket {
                replies.withdraw(ticket, reply_buffer);
            }
            let named = |error| shared.purpose().named_in(error);
            return match unsent(reason?) {
                Ok(Attempt::Again(error)) => Ok(Attempt::Again(named(error))),
                other => other.map_err(named),
            };
        }
        record(|| Record::new(Event::Sent).request(request_id).link(link));
        Ok(Attempt::Done(ticket))
    }

    /// Converts the outcome of a wait for a reply.
    pub(super) fn conclude(
        &self,
        lane: &Lane,
        shared: &SharedConnection,
        request_id: u32,
        outcome: Outcome,
    ) -> Result<Attempt<ReceivedReply>, SystemException> {
        let failed = match outcome {
            Outcome::Received(reply) => {
                let link = shared.link();
                record(|| Record::new(Event::ReplyReceived).request(request_id).link(link));
                return Ok(Attempt::Done(reply));
            }
            Outcome::Ended(end) => {
                // The lane thread may not have removed it yet.
                lane.forget(shared);
                ended(end, Completion::Maybe)
            }
            Outcome::TimedOut => {
                self.core.count_late_reply();
                cancel(shared, request_id);
                Err(maybe(Kind::Timeout, Minor::REPLY_TIMED_OUT))
            }
            Outcome::UnsentInTime => {
                cancel(shared, request_id);
                Err(maybe(Kind::Timeout, Minor::REQUEST_TIMED_OUT))
            }
        };
        failed.map_err(|error| shared.purpose().named_in(error))
    }
}

/// Cancels a request, unless that would end the other calls over the connection.
#[cold]
pub(super) fn cancel(shared: &SharedConnection, request_id: u32) {
    if !matches!(shared.purpose().cancellation(), Cancellation::None) {
        shared.cancel(request_id);
    }
}

impl CallContext<'_> {
    pub(super) fn wait<'w>(&self, is_unsent: &'w dyn Fn() -> bool) -> ReplyWait<'w> {
        let Deadlines { request, reply } = self.deadlines;
        let [unsent, reply] = [request, reply].map(|deadline| deadline.map(|deadline| deadline.at));
        ReplyWait {
            deadlines: CallDeadlines { reply, unsent },
            is_unsent,
        }
    }
}

/// A call whose request is being encoded, in part by user code: if that panics, nothing has been sent.
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

/// Serves the lane of the calling thread, if it serves one, until the call has ended or timed out; the wait
/// that has to follow returns its result. Without free descriptors it does nothing, and the call only waits.
pub(super) fn serve_until_over(
    shared: &SharedConnection,
    ticket: &Ticket,
    wait: &ReplyWait<'_>,
    deadline: Option<Instant>,
) {
    let (replies, CallDeadlines { reply, unsent }) = (&shared.replies(), wait.deadlines);
    let reply = reply.into_iter().chain(deadline).min();
    // First for the request, while it may not have been sent, then for the reply.
    let unsent = unsent.filter(|_| shared.is_congested());
    let first = [unsent, reply].into_iter().flatten().min();
    if let Some(Ok(false)) = serve_until_ended::<RequestDispatcher>(replies, ticket, first)
        && unsent.is_some()
        && !shared.is_congested()
    {
        let _ = serve_until_ended::<RequestDispatcher>(replies, ticket, reply);
    }
}

/// Returns the right to open one more shared connection; an unused one is closed if there are too many.
/// `None`: all are in use.
fn permit(lane: &Lane, key: &ConnectionKey<'_>) -> Option<Permit> {
    lane.close_obsolete(SharedPurpose::is_orphan);
    loop {
        let calls = &lane.data.calls;
        let permit = calls.permit(key.band);
        if permit.is_some() || !(calls.close_oldest() || lane.close_oldest_unused()) {
            return permit;
        }
    }
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
