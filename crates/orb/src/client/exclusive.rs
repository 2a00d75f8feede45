//! Step 3 of a call, over an exclusive connection: the request is encoded (step 4) and sent, and the thread
//! waits for the reply in its own `read`; then step 9.

use std::{ops::ControlFlow, time::Duration};

use punctual_flight::{Event, Record, record};
use punctual_giop::{
    MessageHeader, MessageType,
    connection::{self, ReplyBody},
};
use punctual_lane::{CallEnd, serve_until_readable};
use punctual_os::Notice;
use punctual_stub::{Call, Response};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    call::{Attempt, CallFrame, Step},
    call_context::{CallContext, Deadline},
    call_end::{broken, closed, exception},
    connection::{ANSWER, ClientConnection, ServeWhileWaiting, timed_out},
    connection_cache::PooledConnection,
    endpoint::Cancellation,
    reference::Reference,
    reply::{AwaitedReply, ReplyView},
    request::RequestEncoding,
    route::Route,
};
use crate::{WaitStrategy, pools::lane::BlockedThread, server::RequestDispatcher};

/// A connection with a reply in its buffer.
pub(super) type Replied<B> = (Box<PooledConnection>, MessageHeader, B);

/// Why a wait ended without a reply.
enum NoReply {
    /// The server has ended the connection.
    Ended(CallEnd),
    Failed(SystemException),
}

impl Reference {
    /// Makes one attempt at a call over this connection.
    #[inline(always)]
    pub(super) fn call_over_exclusive(
        &self,
        mut connection: Box<PooledConnection>,
        route: &Route,
        priority: Priority,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        context: &CallContext<'_>,
    ) -> Result<Attempt<()>, SystemException> {
        let has_reply = context.response(call.response) != Response::None;
        if !has_reply && connection.is_abandoned() {
            return Ok(Attempt::Again(self.closed_by(&connection)));
        }
        let _blocked = match has_reply {
            true => self.enter_wait(&mut connection, context)?,
            false => None,
        };
        let encoding = RequestEncoding::over_exclusive(&mut connection);
        let request_id = encoding.request_id;
        let encoded = context
            .deadlines
            .check_unsent()
            .and_then(|()| self.encode_request(route, priority, context, &mut frame.request, call, encoding));
        if let Err(error) = encoded {
            self.keep(connection);
            return Err(error);
        }
        let link = connection.link;
        record(|| Record::new(Event::Encoded).request(request_id).link(link));
        connection.set_network_priority(
            &*self.core.configuration.network_mapping,
            route.network_priority(priority),
        );
        let received = match self.send(&mut connection, frame.request.message(), context) {
            Ok(ControlFlow::Continue(())) => {
                record(|| Record::new(Event::Sent).request(request_id).link(link));
                connection.send_half().request_sent();
                if !has_reply {
                    self.keep(connection);
                    return Ok(Attempt::Done(()));
                }
                if self.core.pools.have_unserved_objects() {
                    report_unserved_objects(&mut connection, context);
                }
                self.receive::<ReplyBody, _>(connection, request_id, context)?
            }
            Ok(ControlFlow::Break(unsent)) => return Ok(unsent),
            Err(error) if has_reply && error.minor == Minor::WRITE_FAILED => {
                self.receive_early(connection, request_id, context, error)?
            }
            Err(error) => return Err(error),
        };
        let (connection, header, body) = match received {
            ControlFlow::Continue(replied) => replied,
            ControlFlow::Break(closed) => return Ok(closed),
        };
        record(|| Record::new(Event::ReplyReceived).request(request_id).link(link));
        let view = ReplyView::of_exclusive(&connection, &header);
        self.show_reply(&mut frame.seen, &view, body);
        let attempt = self.decode_reply(view, body, route, call);
        self.keep(connection);
        attempt
    }

    /// Prepares a wait for a reply over this connection. Fails if the calling thread itself would have to
    /// send the reply.
    #[inline(always)]
    pub(super) fn enter_wait(
        &self,
        connection: &mut ClientConnection,
        context: &CallContext<'_>,
    ) -> Result<Option<BlockedThread>, SystemException> {
        connection.ensure_served(&context.deadlines)?;
        match context.policies.wait_strategy {
            WaitStrategy::Blocking => {
                let endpoint = connection.endpoint();
                BlockedThread::enter_call(|acceptor| {
                    endpoint.leads_to(&*acceptor.transport, acceptor.address())
                })
            }
            WaitStrategy::Serving => Ok(None),
        }
    }

    /// Sends a message. `Break`: the server had closed the connection and no octet was sent, so the call can
    /// be attempted again.
    #[inline(always)]
    pub(super) fn send<R>(
        &self,
        connection: &mut ClientConnection,
        message: &[u8],
        context: &CallContext<'_>,
    ) -> Result<Step<(), R>, SystemException> {
        let waits = connection.wait_until(&context.deadlines);
        waits.map_err(|_| connection.endpoint().named_in(broken()))?;
        match connection.send(message, context.deadlines.request) {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(error) => self.not_sent(connection, error),
        }
    }

    /// Converts the failure of a send, in the form of [`Self::send`].
    #[cold]
    fn not_sent<R>(
        &self,
        connection: &ClientConnection,
        error: SystemException,
    ) -> Result<Step<(), R>, SystemException> {
        let named = connection.endpoint().named_in(error);
        if error.completed == Completion::No && error.kind == SystemExceptionKind::CommFailure {
            self.forget(connection);
            return Ok(ControlFlow::Break(Attempt::Again(named)));
        }
        Err(named)
    }

    /// Returns the reply of a server that refused a request, and closed the connection, before it had
    /// received the whole request; without such a reply, the error of the send.
    #[cold]
    fn receive_early<B: AwaitedReply, R>(
        &self,
        mut connection: Box<PooledConnection>,
        request_id: u32,
        context: &CallContext<'_>,
        unsent: SystemException,
    ) -> Result<Step<Replied<B>, R>, SystemException> {
        let context = &CallContext {
            deadlines: context.deadlines.within(ANSWER),
            ..*context
        };
        if connection.wait_until(&context.deadlines).is_err() {
            return Err(unsent);
        }
        match await_reply(&mut connection, request_id, context) {
            Ok((header, body)) => Ok(ControlFlow::Continue((connection, header, body))),
            Err(NoReply::Ended(end)) => self.ended(&connection, end),
            Err(NoReply::Failed(_)) => Err(unsent),
        }
    }

    /// Waits for the reply to a request. `Break`: the server has closed the connection without executing the
    /// request, or the request can safely be repeated. After a timeout, the request is cancelled; other
    /// errors close the connection.
    #[inline(always)]
    pub(super) fn receive<B: AwaitedReply, R>(
        &self,
        mut connection: Box<PooledConnection>,
        request_id: u32,
        context: &CallContext<'_>,
    ) -> Result<Step<Replied<B>, R>, SystemException> {
        match await_reply(&mut connection, request_id, context) {
            Ok((header, body)) => Ok(ControlFlow::Continue((connection, header, body))),
            Err(NoReply::Ended(end)) => self.ended(&connection, end),
            Err(NoReply::Failed(error)) if may_repeat(error, B::MESSAGE_TYPE) => {
                Ok(ControlFlow::Break(Attempt::Again(self.closed_by(&connection))))
            }
            Err(NoReply::Failed(error)) => Err(self.not_received(connection, request_id, error)),
        }
    }

    /// Names the server in the error of a wait; after a timeout, cancels the request.
    #[cold]
    fn not_received(
        &self,
        connection: Box<PooledConnection>,
        request_id: u32,
        error: SystemException,
    ) -> SystemException {
        let error = connection.not_received(request_id, error);
        if error.kind == SystemExceptionKind::Timeout {
            self.core.count_late_reply();
            self.cancel(connection, request_id);
        }
        error
    }
}

impl Reference {
    /// The server has closed this connection without executing the request.
    #[cold]
    fn closed_by(&self, connection: &ClientConnection) -> SystemException {
        self.forget(connection);
        connection.endpoint().named_in(closed())
    }

    /// Converts the end of this connection, in the form of [`Self::receive`].
    #[cold]
    fn ended<B, R>(
        &self,
        connection: &ClientConnection,
        end: CallEnd,
    ) -> Result<Step<Replied<B>, R>, SystemException> {
        match end {
            CallEnd::InOrder => Ok(ControlFlow::Break(Attempt::Again(self.closed_by(connection)))),
            end => Err(connection.endpoint().named_in(exception(end, Completion::No))),
        }
    }

    /// Cancels a request. The connection is kept if its server is known to answer over it afterwards: a late
    /// reply is recognised by its id and dropped.
    #[cold]
    fn cancel(&self, mut connection: Box<PooledConnection>, request_id: u32) {
        match connection.endpoint().cancellation() {
            Cancellation::Sent if !connection.cancel(request_id) => {}
            Cancellation::Sent | Cancellation::None => self.keep(connection),
            Cancellation::SentAndClosed => {
                connection.cancel(request_id);
                connection.close();
            }
        }
    }
}

/// Returns whether the same request can be sent again after this error: it was not executed, or only asks
/// where an object is.
#[cold]
pub(super) fn may_repeat(error: SystemException, wanted: MessageType) -> bool {
    match error.minor {
        Minor::CLOSED_BEFORE_REQUEST => true,
        Minor::CONNECTION_LOST => wanted == MessageType::LocateReply,
        _ => false,
    }
}

/// Waits for the reply to a request, or the end of the connection.
#[inline(always)]
fn await_reply<B: AwaitedReply>(
    connection: &mut ClientConnection,
    request_id: u32,
    context: &CallContext<'_>,
) -> Result<(MessageHeader, B), NoReply> {
    let serve: Option<ServeWhileWaiting> = match context.policies.wait_strategy {
        WaitStrategy::Blocking => None,
        WaitStrategy::Serving => Some(serve_until_readable::<RequestDispatcher>),
    };
    let mut late_replies = false;
    let failed = |error: SystemException, late_replies: bool| {
        NoReply::Failed(match late_replies {
            true => only_late_replies(error),
            false => error,
        })
    };
    loop {
        let event = connection.receive(context.deadlines.reply, serve);
        match event.map_err(|error| failed(error, late_replies))? {
            connection::Event::Reply(reply)
                if reply.request_id == request_id
                    && let Some(body) = B::of(reply.content) =>
            {
                return Ok((reply.header, body));
            }
            connection::Event::CloseConnection => return Err(NoReply::Ended(CallEnd::InOrder)),
            connection::Event::MessageError => return Err(NoReply::Ended(CallEnd::Rejected)),
            // The late reply to a call that has timed out, or part of a reply. The connection refuses
            // anything else. The server may have sent many of them before the next read checks the time.
            event => {
                late_replies |= matches!(event, connection::Event::Reply(_));
                check_reply_time(context).map_err(|error| failed(error, late_replies))?;
            }
        }
    }
}

/// Reports once per process that a call has had no reply for a while, and that no thread serves the objects
/// of its ORB: a server that calls them back would wait for this thread, which waits for the server.
#[cold]
fn report_unserved_objects(connection: &mut ClientConnection, context: &CallContext<'_>) {
    const WAIT: Duration = Duration::from_secs(2);
    static NOTICE: Notice = Notice::new(
        "punctual: a call has had no reply for a while, and no thread serves the objects of this ORB; if the \
         server calls one of them before it replies, both wait for each other: call `orb.run()` on another \
         thread, or give the adapter a thread pool\n",
    );
    let half = |deadline: Deadline| deadline.left() / 2;
    let wait = context.deadlines.reply.map_or(WAIT, half).min(WAIT);
    let waits_here = context.policies.wait_strategy == WaitStrategy::Blocking;
    if waits_here && connection.is_silent_for(wait) {
        NOTICE.send();
    }
}

/// Returns the exception of a wait in which only late replies to earlier calls have arrived.
#[cold]
fn only_late_replies(mut error: SystemException) -> SystemException {
    if error.minor == Minor::REPLY_TIMED_OUT {
        error.minor = Minor::REPLIES_LATE;
    }
    error
}

#[cold]
fn check_reply_time(context: &CallContext<'_>) -> Result<(), SystemException> {
    match context.deadlines.reply {
        Some(deadline) if deadline.left().is_zero() => Err(timed_out()),
        _ => Ok(()),
    }
}
