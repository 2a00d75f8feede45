//! Step 3 of a call, over a connection that several callers share: the request is encoded (step 4) and sent,
//! and the thread waits until a lane thread passes the reply; then step 9.

use std::{ops::ControlFlow, sync::Arc, time::Instant};

use punctual_flight::{Event, Record, record};
use punctual_giop::{MessageHeader, MessageType, Peer, Version};
use punctual_lane::{
    Acceptors, CallDeadlines, CallEnd, NotSent, Outcome, Refused, ReplyBuffer, ReplyWait,
    SharedConnectionSettings, Ticket, serve_until_ended,
};
use punctual_os::Notice;
use punctual_stub::{Call, Response};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind as Kind};

use scopeguard::ScopeGuard;

use super::{
    call::{Attempt, CallFrame},
    call_context::{CallContext, Deadlines},
    call_end::{closed, exception},
    connection::{ConnectionKey, connect},
    connection_cache::Permit,
    endpoint::Cancellation,
    exclusive::may_repeat,
    reference::Reference,
    reply::{AwaitedReply, Location, ReplyView, decode_locate_reply},
    request::{Announced, RequestBuffer, RequestEncoding},
    route::Route,
    shared_purpose::SharedPurpose,
};
use crate::{
    ConnectionMode, WaitStrategy,
    bound_band::BoundBand,
    config::bidirectional::{are_out_of_reach, listen_points},
    current,
    pools::{
        accepted_priorities::Origin,
        lane::{BlockedThread, Lane, ReplyLane, SharedConnection},
    },
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
    pub(super) shared: SharedConnection,
    lane: &'o Lane,
    route: &'o Route,
    priority: Priority,
    context: &'o CallContext<'o>,
}

/// Why a request was not sent.
enum Unsent {
    NotEncoded(SystemException),
    NotSent(NotSent),
}

impl Outgoing<'_> {
    fn reply_view<'r>(&'r self, buffer: &'r ReplyBuffer, header: &'r MessageHeader) -> ReplyView<'r> {
        let char_set = self.shared.code_sets().char;
        ReplyView::of_shared(self.shared.purpose(), char_set, buffer, header)
    }

    fn record_sent(&self, request_id: u32) {
        let link = self.shared.link();
        record(|| Record::new(Event::Sent).request(request_id).link(link));
    }

    /// Ends an attempt whose call could not enter the table of calls.
    #[cold]
    fn not_entered<R>(&self, refused: Refused) -> Result<Attempt<R>, SystemException> {
        match refused {
            Refused::Full => {
                let minor = Minor::SHARED_CALLS_EXHAUSTED;
                Err(SystemException::new(Kind::ImpLimit, minor, Completion::No))
            }
            Refused::Ended => {
                self.lane.forget(&self.shared);
                Ok(Attempt::Again(self.shared.purpose().named_in(closed())))
            }
        }
    }

    /// Ends an attempt whose request was not sent.
    #[cold]
    fn not_sent<R>(&self, unsent: Unsent) -> Result<Attempt<R>, SystemException> {
        let reason = match unsent {
            Unsent::NotSent(reason) => reason,
            Unsent::NotEncoded(error) => return Err(error),
        };
        let named = |error| self.shared.purpose().named_in(error);
        match reason {
            NotSent::Closed => Ok(Attempt::Again(named(SystemException::new(
                Kind::CommFailure,
                Minor::WRITE_FAILED,
                Completion::No,
            )))),
            NotSent::Congested => Err(named(SystemException::new(
                Kind::Transient,
                Minor::SHARED_CONNECTION_CONGESTED,
                Completion::No,
            ))),
            NotSent::Broken => Err(named(maybe(Kind::CommFailure, Minor::WRITE_FAILED))),
        }
    }
}

impl Reference {
    /// Returns the lane that reads the reply to a call over a shared connection; `None`: the call uses an
    /// exclusive one.
    ///
    /// Fails with INV_POLICY if the calling thread serves no lane and there is no lane for its replies.
    #[inline(always)]
    pub(super) fn lane_for_shared_call(
        &self,
        context: &CallContext<'_>,
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
    fn lane_for_reply(&self, context: &CallContext<'_>) -> Result<Option<ReplyReader>, SystemException> {
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
        context: &CallContext<'_>,
    ) -> Result<Attempt<()>, SystemException> {
        let priority = self.caller_priority(route)?;
        let outgoing = self.outgoing(&lane.lane, route, priority, context)?;
        let CallFrame {
            request,
            shared,
            seen,
            ..
        } = frame;
        let reply_buffer = shared.get_or_insert_default();
        let has_reply = context.response(call.response) != Response::None;
        let encode = |buffer: &mut RequestBuffer, encoding: RequestEncoding<'_>| {
            self.encode_request(route, priority, context, buffer, call, encoding)
        };
        if !has_reply {
            return self.send_without_reply(&outgoing, request, encode);
        }
        match self
            .exchange(&outgoing, request, reply_buffer, encode)?
            .into_step()
        {
            ControlFlow::Continue((header, body)) => {
                let view = outgoing.reply_view(reply_buffer, &header);
                self.show_reply(seen, &view, body);
                self.decode_reply(view, body, route, call)
            }
            ControlFlow::Break(instead) => Ok(instead),
        }
    }

    #[inline(never)]
    pub(super) fn locate_over_shared(
        &self,
        lane: &ReplyReader,
        route: &Route,
        frame: &mut CallFrame,
        context: &CallContext<'_>,
    ) -> Result<Attempt<bool>, SystemException> {
        let priority = self.caller_priority(route)?;
        let outgoing = self.outgoing(&lane.lane, route, priority, context)?;
        let CallFrame { request, shared, .. } = frame;
        let reply_buffer = shared.get_or_insert_default();
        let result = self.exchange(&outgoing, request, reply_buffer, |buffer, encoding| {
            self.encode_locate_request(route, buffer, encoding)
        })?;
        match result.into_step() {
            ControlFlow::Continue((header, Location)) => {
                let view = outgoing.reply_view(reply_buffer, &header);
                decode_locate_reply(route, &view)
            }
            ControlFlow::Break(instead) => Ok(instead),
        }
    }

    /// Begins a request of this priority: finds or opens its connection.
    pub(super) fn outgoing<'o>(
        &self,
        lane: &'o Lane,
        route: &'o Route,
        priority: Priority,
        context: &'o CallContext<'o>,
    ) -> Result<Outgoing<'o>, SystemException> {
        let bidirectional = context.policies.bidirectional;
        let find =
            |key: &ConnectionKey<'_>| lane.shared_connection(|purpose| purpose.is_for(key, bidirectional));
        let open = |key: &ConnectionKey<'_>| self.open_shared(lane, route, key, context);
        Ok(Outgoing {
            shared: self.bind(route, priority, context, find, open)?,
            lane,
            route,
            priority,
            context,
        })
    }

    #[cold]
    fn open_shared(
        &self,
        lane: &Lane,
        route: &Route,
        key: &ConnectionKey<'_>,
        context: &CallContext<'_>,
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

    /// Sends a request and waits for its reply, which is in the buffer then.
    fn exchange<B: AwaitedReply>(
        &self,
        outgoing: &Outgoing<'_>,
        request: &mut RequestBuffer,
        reply_buffer: &mut ReplyBuffer,
        encode: impl FnOnce(&mut RequestBuffer, RequestEncoding<'_>) -> Result<(), SystemException>,
    ) -> Result<Attempt<(MessageHeader, B)>, SystemException> {
        let Outgoing {
            shared,
            lane,
            context,
            ..
        } = outgoing;
        if context.deadlines.reply.is_none() {
            shared.purpose().ensure_served()?;
        }
        let sent = self.send_with_reply(outgoing, B::MESSAGE_TYPE, request, reply_buffer, encode)?;
        let ticket = match sent.into_step() {
            ControlFlow::Continue(ticket) => ticket,
            ControlFlow::Break(instead) => return Ok(instead),
        };
        let (replies, request_id) = (shared.replies(), ticket.request_id);
        let is_unsent = || shared.is_congested();
        let wait = context.wait(&is_unsent);
        if context.policies.wait_strategy == WaitStrategy::Serving {
            serve_until_over(shared, &ticket, &wait, None);
        }
        let outcome = replies.wait(ticket, &wait, reply_buffer);
        match self.conclude(lane, shared, request_id, outcome) {
            Err(error) if may_repeat(error, B::MESSAGE_TYPE) => Ok(Attempt::Again(error)),
            result => result,
        }
    }

    /// Sends a request whose reply has the type `wanted`.
    pub(super) fn send_with_reply(
        &self,
        outgoing: &Outgoing<'_>,
        wanted: MessageType,
        request: &mut RequestBuffer,
        reply_buffer: &mut ReplyBuffer,
        encode: impl FnOnce(&mut RequestBuffer, RequestEncoding<'_>) -> Result<(), SystemException>,
    ) -> Result<Attempt<Ticket>, SystemException> {
        outgoing.context.deadlines.check_unsent()?;
        let replies = outgoing.shared.replies();
        let ticket = match replies.enter(wanted, reply_buffer) {
            Ok(ticket) => ticket,
            Err(refused) => return outgoing.not_entered(refused),
        };
        // User code encodes: if it panics, nothing has been sent.
        let entered = scopeguard::guard(ticket, |ticket| {
            replies.withdraw(ticket, &mut ReplyBuffer::default());
        });
        let sent = self.send_over_shared(outgoing, entered.request_id, request, encode);
        let ticket = ScopeGuard::into_inner(entered);
        match sent {
            // A server that refuses a request before its end answers it nevertheless.
            Ok(()) | Err(Unsent::NotSent(NotSent::Broken)) => {
                outgoing.record_sent(ticket.request_id);
                Ok(Attempt::Done(ticket))
            }
            Err(unsent) => {
                replies.withdraw(ticket, reply_buffer);
                outgoing.not_sent(unsent)
            }
        }
    }

    fn send_without_reply(
        &self,
        outgoing: &Outgoing<'_>,
        request: &mut RequestBuffer,
        encode: impl FnOnce(&mut RequestBuffer, RequestEncoding<'_>) -> Result<(), SystemException>,
    ) -> Result<Attempt<()>, SystemException> {
        outgoing.context.deadlines.check_unsent()?;
        let request_id = match outgoing.shared.replies().id_without_reply() {
            Ok(request_id) => request_id,
            Err(refused) => return outgoing.not_entered(refused),
        };
        match self.send_over_shared(outgoing, request_id, request, encode) {
            Ok(()) => {
                outgoing.record_sent(request_id);
                Ok(Attempt::Done(()))
            }
            Err(unsent) => outgoing.not_sent(unsent),
        }
    }

    fn send_over_shared(
        &self,
        outgoing: &Outgoing<'_>,
        request_id: u32,
        request: &mut RequestBuffer,
        encode: impl FnOnce(&mut RequestBuffer, RequestEncoding<'_>) -> Result<(), SystemException>,
    ) -> Result<(), Unsent> {
        let Outgoing {
            shared,
            lane,
            route,
            priority,
            ..
        } = outgoing;
        let encoding = RequestEncoding {
            request_id,
            code_sets: shared.code_sets(),
            announced: Announced {
                code_sets: shared.announces_code_sets(),
                listen_points_of: shared.announces_listen_points().then(|| &**lane.acceptors()),
            },
        };
        if let Some(acceptors) = encoding.announced.listen_points_of {
            report_local_addresses(acceptors, shared.peer());
        }
        encode(request, encoding).map_err(Unsent::NotEncoded)?;
        record(|| {
            Record::new(Event::Encoded)
                .request(request_id)
                .link(shared.link())
        });
        shared.set_network_priority(
            &*self.core.configuration.network_mapping,
            route.network_priority(*priority),
        );
        lane.send_request(shared, request.message(), route.version)
            .map_err(Unsent::NotSent)
    }

    /// Converts the outcome of a wait for a reply.
    pub(super) fn conclude<B: AwaitedReply>(
        &self,
        lane: &Lane,
        shared: &SharedConnection,
        request_id: u32,
        outcome: Outcome,
    ) -> Result<Attempt<(MessageHeader, B)>, SystemException> {
        let failed = match outcome {
            Outcome::Received(reply) => {
                let link = shared.link();
                record(|| Record::new(Event::ReplyReceived).request(request_id).link(link));
                match B::of(reply.content) {
                    Some(body) => return Ok(Attempt::Done((reply.header, body))),
                    // The table passes replies of the type only that the call has entered with.
                    None => Err(exception(CallEnd::Malformed, Completion::Maybe)),
                }
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

/// Converts the end of a connection over which a call waited for its reply.
/// `rejected`: see [`exception`].
#[cold]
fn ended<R>(end: CallEnd, rejected: Completion) -> Result<Attempt<R>, SystemException> {
    match end {
        CallEnd::InOrder => Ok(Attempt::Again(closed())),
        end => Err(exception(end, rejected)),
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

fn maybe(kind: Kind, minor: Minor) -> SystemException {
    SystemException::new(kind, minor, Completion::Maybe)
}

fn no_lane(minor: Minor) -> SystemException {
    SystemException::new(Kind::InvPolicy, minor, Completion::No)
}

/// Reports once per process that a client offers to be called back by a server of another host, which cannot
/// reach its objects: their only addresses are loopback addresses.
#[cold]
fn report_local_addresses(acceptors: &Acceptors, server: Peer) {
    static NOTICE: Notice = Notice::new(
        "punctual: objects of this ORB have addresses of the loopback interface only, and are passed to a \
         server on another host, which cannot call them there; let the ORB listen at an address of this \
         host, such as `Orb::builder().listen(\"iiop://192.0.2.7\")`\n",
    );
    if are_out_of_reach(&listen_points(acceptors), server) {
        NOTICE.send();
    }
}
