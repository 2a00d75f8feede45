//! Calls whose callers do not wait: they use shared connections, and the lane thread that reads the reply
//! wakes a task.
//!
//! System calls: one write of the caller. The lane thread waits and reads; waking the task may cost more.

mod arguments;
mod sending;
mod waiting;

use std::{ops::ControlFlow, sync::Arc, task::Poll};

use punctual_flight::{Event, Record, record, record_operation};
use punctual_stub::{Call, PendingCall, Response, WaitMode};
use punctual_types::{Priority, SystemException};

use self::{
    sending::{CallProgress, SentRequest},
    waiting::Polled,
};
use super::{
    call::{Attempt, AttemptHistory, CallFrame, with_frame},
    call_context::{CallContext, Deadlines},
    call_end::broken,
    intercepted::{InterceptedPart, Point, forget_exception},
    policy_scopes::HeldPolicies,
    reference::Reference,
    route::Route,
};
use crate::{
    current,
    interception::{CallKind, ClientEnd},
};

/// A call that has been sent, and what is needed to send its request again.
///
/// Asynchronous calls use shared connections; the slot of such a call holds a waker instead of a waiting
/// thread. The lane thread that reads the reply wakes the task: the only user code there, and never under a
/// lock. The arguments are kept as octets, so a task that polls can follow a forward. Timeouts need no
/// thread: lane threads wait at most until the next one.
struct Outstanding {
    /// `None` while it is polled, and once the call has ended. Declared before the reference, which closes
    /// unused private connections.
    sent: Option<SentRequest>,
    progress: CallProgress,
    policies: HeldPolicies,
    deadlines: Deadlines,
    reference: Arc<Reference>,
}

impl Reference {
    /// Sends a request and returns; `None` if the call has ended already.
    pub(super) fn start_call(
        self: Arc<Self>,
        call: &mut Call<'_>,
    ) -> Result<Option<Box<dyn PendingCall>>, SystemException> {
        record_operation(call.operation, || {
            let priority = current::explicit_priority().map(Priority::value);
            Record::new(Event::CallBegin).priority(priority)
        });
        let policies = self.policies.in_force(&self.core.policies);
        let context = CallContext::start(&policies);
        let deadlines = context.deadlines;
        let mut progress = CallProgress::default();
        let sent = with_frame(&self.core.configuration.limits, |frame| {
            self.with_slots(frame, |frame| {
                self.send_until_under_way(&mut progress, frame, call, &context)
            })
            .map_err(|error| context.named_in(error, call.operation))
        });
        record(|| Record::new(Event::CallEnd).detail(sent.is_err().into()));
        let policies = policies.hold();
        Ok(sent?.map(|sent| {
            Box::new(Outstanding {
                sent: Some(sent),
                progress,
                policies,
                deadlines,
                reference: self,
            }) as Box<dyn PendingCall>
        }))
    }

    /// Takes the reply, if it has arrived or arrives in time, and sends the request again if the reply
    /// demands it.
    fn advance_call(
        &self,
        (sent, progress): (&mut Option<SentRequest>, &mut CallProgress),
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        context: &CallContext<'_>,
        mode: WaitMode<'_>,
    ) -> Poll<Result<(), SystemException>> {
        let mut raised = false;
        loop {
            let Some(under_way) = sent.take() else {
                return Poll::Ready(Err(broken()));
            };
            let attempt = if self.core.interceptors.client.is_empty() {
                self.poll_reply(under_way, frame, call, context, mode)
            } else {
                let way = &under_way.1;
                let (route, request_id) = (Arc::clone(&way.route), way.request_id);
                let request = (&*route, request_id);
                let part = self.intercepted_part(
                    request,
                    call.operation,
                    context,
                    Point::Poll,
                    progress.history,
                    &mut raised,
                );
                let poll = |frame: &mut CallFrame, call: &mut Call<'_>| {
                    self.poll_reply(under_way, frame, call, context, mode)
                };
                let observed = self.run_intercepted(part, frame, call, poll, |over, raised| match over {
                    Polled::Replied => ClientEnd::Replied { raised },
                    Polled::Waiting(_) => ClientEnd::NotYet,
                });
                match observed {
                    ControlFlow::Continue(attempt) => attempt,
                    ControlFlow::Break(error) => return Poll::Ready(Err(error)),
                }
            };
            let attempt = match attempt {
                Ok(Attempt::Done(Polled::Waiting(under_way))) => {
                    *sent = Some(under_way);
                    return Poll::Pending;
                }
                attempt => attempt.map(|attempt| attempt.map(|_| ())),
            };
            if let ControlFlow::Break(result) = self.evaluate(attempt, &mut progress.history) {
                return Poll::Ready(result);
            }
            if raised {
                forget_exception(call);
            }
            match self.send_until_under_way(progress, frame, call, context) {
                Ok(Some(again)) => *sent = Some(again),
                Ok(None) => return Poll::Ready(Ok(())),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn intercepted_part<'w>(
        &'w self,
        (route, request_id): (&'w Route, u32),
        operation: &'w str,
        context: &CallContext<'w>,
        point: Point,
        history: AttemptHistory,
        raised: &'w mut bool,
    ) -> InterceptedPart<'w> {
        let (kind, response) = (CallKind::Asynchronous, Response::WithTarget);
        InterceptedPart {
            request: self.request(route, operation, kind, response, context, request_id),
            point,
            history,
            raised,
        }
    }
}

impl PendingCall for Outstanding {
    fn advance(&mut self, call: &mut Call<'_>, mode: WaitMode<'_>) -> Poll<Result<(), SystemException>> {
        let Self {
            sent,
            progress,
            policies,
            deadlines,
            reference,
        } = self;
        let context = CallContext {
            policies: reference.policies.held(policies),
            deadlines: *deadlines,
        };
        let step = with_frame(&reference.core.configuration.limits, |frame| {
            Ok(reference.with_slots(frame, |frame| {
                reference.advance_call((sent, progress), frame, call, &context, mode)
            }))
        });
        let step = step.unwrap_or_else(|error| Poll::Ready(Err(error)));
        step.map_err(|error| context.named_in(error, call.operation))
    }

    fn priority(&self) -> Option<Priority> {
        self.progress.priority()
    }
}
