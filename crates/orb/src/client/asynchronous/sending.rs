//! Sending of asynchronous calls: from the call to a request that waits for its reply.

use std::{cell::Cell, ops::ControlFlow, sync::Arc};

use punctual_giop::MessageType;
use punctual_lane::Ticket;
use punctual_stub::{Call, Phase};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind as Kind};

use scopeguard::ScopeGuard;

use super::arguments::{Arguments, Context};
use crate::{
    WaitStrategy,
    client::{
        call::{Attempt, AttemptHistory, CallFrame},
        call_context::CallContext,
        intercepted::{Point, forget_exception},
        reference::Reference,
        route::Route,
        shared::cancel,
    },
    current,
    interception::ClientEnd,
    pools::lane::{Lane, ReplyLane, SharedConnection},
};

/// A request that waits for its reply; dropped before that, it is cancelled.
pub(super) type SentRequest = ScopeGuard<(Ticket, Way), fn((Ticket, Way))>;

/// Way that a request has taken.
pub(super) struct Way {
    pub(super) shared: SharedConnection,
    /// Lane that reads the reply.
    pub(super) lane: Arc<Lane>,
    pub(super) route: Arc<Route>,
    /// The id that interceptors know.
    pub(super) request_id: u32,
}

impl Way {
    pub(super) fn await_reply(self, ticket: Ticket) -> SentRequest {
        scopeguard::guard((ticket, self), |(ticket, way)| {
            if way.shared.replies().abandon(&ticket) {
                cancel(&way.shared, ticket.request_id);
            }
        })
    }
}

/// State of a call between its attempts.
#[derive(Default)]
pub(super) struct CallProgress {
    pub(super) history: AttemptHistory,
    /// Origin of the first request that was sent to another process.
    origin: Option<Origin>,
    /// Arguments of the first request that was sent.
    arguments: Option<Arguments>,
}

/// The thread that made the call.
struct Origin {
    /// Lane that reads the reply.
    lane: Arc<Lane>,
    /// Its priority.
    own: Priority,
    /// Priority that requests carry if priorities are propagated.
    priority: Result<Priority, SystemException>,
}

impl CallProgress {
    /// Priority of the thread that made the call.
    pub(super) fn priority(&self) -> Option<Priority> {
        self.origin.as_ref().map(|origin| origin.own)
    }
}

impl Reference {
    /// Makes attempts until a request is sent. `None`: the object belongs to this ORB, and the call has
    /// ended.
    pub(super) fn send_until_under_way(
        &self,
        progress: &mut CallProgress,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        context: &CallContext<'_>,
    ) -> Result<Option<SentRequest>, SystemException> {
        let interceptors = &self.core.interceptors;
        let (kept, misfit) = (progress.arguments.take(), Cell::new(false));
        let Call { perform, raised, .. } = call;
        // Interceptors may ask for arguments, too, whose caller has continued meanwhile.
        let mut perform = |phase: Phase<'_, '_>| match (phase, &kept) {
            (Phase::Arguments(encoder), Some(kept)) => kept.write(encoder).inspect_err(|_| misfit.set(true)),
            (phase, _) => perform(phase),
        };
        let call = &mut Call {
            operation: call.operation,
            response: call.response,
            perform: &mut perform,
            raised: &mut **raised,
        };
        loop {
            let forwarded = self.next_attempt(&mut progress.history)?;
            let route = forwarded.as_ref().unwrap_or(&self.route);
            let mut raised = false;
            let attempt = if interceptors.client.is_empty() {
                self.send_once(progress, (route, 0), frame, (call, &misfit), context)
            } else {
                let id = interceptors.new_request_id();
                let part = self.intercepted_part(
                    (route, id),
                    call.operation,
                    context,
                    Point::Send,
                    progress.history,
                    &mut raised,
                );
                let send = |frame: &mut CallFrame, call: &mut Call<'_>| {
                    self.send_once(progress, (route, id), frame, (call, &misfit), context)
                };
                let observed = self.run_intercepted(part, frame, call, send, |sent, raised| match sent {
                    Some(_) => ClientEnd::Sent,
                    None => ClientEnd::Replied { raised },
                });
                match observed {
                    ControlFlow::Continue(attempt) => attempt,
                    ControlFlow::Break(error) => return Err(error),
                }
            };
            if let ControlFlow::Break(result) = self.evaluate(attempt, &mut progress.history) {
                return result;
            }
            if raised {
                forget_exception(call);
            }
        }
    }

    fn send_once(
        &self,
        progress: &mut CallProgress,
        (route, request_id): (&Arc<Route>, u32),
        frame: &mut CallFrame,
        (call, misfit): (&mut Call<'_>, &Cell<bool>),
        context: &CallContext<'_>,
    ) -> Result<Attempt<Option<SentRequest>>, SystemException> {
        let written = Cell::new(None);
        misfit.set(false);
        let Call { perform, raised, .. } = call;
        let mut perform = |phase: Phase<'_, '_>| match phase {
            Phase::Arguments(encoder) => {
                let (context, start) = (Context::of(encoder), encoder.position());
                perform(Phase::Arguments(encoder))?;
                written.set(Some((context, start..encoder.position())));
                Ok(())
            }
            results => perform(results),
        };
        let call = &mut Call {
            operation: call.operation,
            response: call.response,
            perform: &mut perform,
            raised: &mut **raised,
        };
        if route.is_collocated(context.policies) {
            let attempt = self.call_locally(route, frame, call, context);
            return attempt.map(|attempt| attempt.map(|()| None));
        }
        let origin = match &mut progress.origin {
            Some(origin) => origin,
            origin => origin.insert(self.origin(context)?),
        };
        let sent = self.send_from(origin, route, frame, call, context);
        if misfit.get() {
            let minor = Minor::MOVED_WHILE_ASYNCHRONOUS;
            return Err(SystemException::new(Kind::Transient, minor, Completion::No));
        }
        let sent = sent?.map(|(ticket, shared)| {
            let way = Way {
                shared,
                lane: Arc::clone(&origin.lane),
                route: Arc::clone(route),
                request_id,
            };
            way.await_reply(ticket)
        });
        if let (Attempt::Done(_), Some((context, range))) = (&sent, written.take()) {
            // Without arguments, the request has no padding for them.
            let octets = frame.request.message().get(range).unwrap_or_default();
            let octets = octets.into();
            progress.arguments = Some(Arguments { octets, context });
        }
        Ok(sent.map(Some))
    }

    fn send_from(
        &self,
        origin: &Origin,
        route: &Route,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        context: &CallContext<'_>,
    ) -> Result<Attempt<(Ticket, SharedConnection)>, SystemException> {
        let Origin { lane, priority, .. } = origin;
        let priority = if route.propagates_priority() {
            (*priority)?
        } else {
            Priority::MIN
        };
        if !lane.reads_replies() {
            let minor = Minor::REPLY_THREADPOOL_ENDED;
            return Err(SystemException::new(Kind::CommFailure, minor, Completion::No));
        }
        let outgoing = self.outgoing(lane, route, priority, context)?;
        let CallFrame {
            request,
            shared: reply_buffer,
            ..
        } = frame;
        let reply_buffer = reply_buffer.get_or_insert_default();
        let wanted = MessageType::Reply;
        let sent = self.send_with_reply(&outgoing, wanted, request, reply_buffer, |buffer, encoding| {
            self.encode_request(route, priority, context, buffer, call, encoding)
        })?;
        Ok(sent.map(|ticket| (ticket, outgoing.shared)))
    }

    /// Returns the origin of a call. Fails with INV_POLICY if no lane may read the reply.
    fn origin(&self, context: &CallContext<'_>) -> Result<Origin, SystemException> {
        if context.policies.binds_bands {
            let minor = Minor::BANDS_BOUND_ASYNCHRONOUSLY;
            return Err(SystemException::new(Kind::InvPolicy, minor, Completion::No));
        }
        let own = current::thread_priority(&self.core.configuration);
        let serves = context.policies.wait_strategy == WaitStrategy::Serving;
        let lane = match ReplyLane::of_calling_thread(own, serves) {
            // No thread waits yet.
            ReplyLane::Reads(lane, _) => lane,
            ReplyLane::None => self.lane_of_reply_pool(own)?,
            ReplyLane::CannotRead => match (self.lane_of_reply_pool(own), Lane::of_calling_thread(own)) {
                (Ok(lane), _) | (Err(_), Some(lane)) => lane,
                (Err(error), None) => return Err(error),
            },
        };
        Ok(Origin {
            lane,
            own,
            priority: current::transformed(own),
        })
    }
}
