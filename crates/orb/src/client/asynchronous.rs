//! Calls whose callers do not wait: they go over shared connections, and a lane's thread that reads the reply wakes a task.
//!
//! System calls: one write of the caller. The lane's thread waits and reads, and whatever waking the task costs follows.

mod arguments;
mod sending;
mod waiting;

use std::{ops::ControlFlow, sync::Arc, task::Poll};

use punctual_flight::{Event, Record, operation_id, record};
use punctual_stub::{Call, Patience, PendingCall, Response};
use punctual_types::{Priority, SystemException};

use self::sending::{Course, Sent};
use super::{
    Reference, Route,
    attempts::{Attempt, Before},
    deadline::Deadlines,
    intercepted::{Point, Watch, forget_exception},
    invoke::{Terms, broken},
    policies::Kept,
    thread_state::{CallFrame, with_frame},
};
use crate::{
    current,
    interceptors::{CallKind, ClientEnd},
};

/// A call that is under way, and what it takes to send its request again.
struct Outstanding {
    /// Before the reference, which closes private connections that nobody uses.
    sent: Option<Sent>,
    course: Course,
    policies: Kept,
    deadlines: Deadlines,
    reference: Arc<Reference>,
}

impl Reference {
    /// Sends a request and returns; with nothing where the call is over already.
    pub(super) fn start_call(
        self: Arc<Self>,
        call: &mut Call<'_>,
    ) -> Result<Option<Box<dyn PendingCall>>, SystemException> {
        record(|| {
            let priority = current::explicit_priority().map(Priority::value);
            Record::new(Event::CallBegin)
                .priority(priority)
                .detail(operation_id(call.operation))
        });
        let policies = self.policies.in_force(&self.core.policies);
        let deadlines = Deadlines::start(&policies);
        let terms = Terms {
            policies: &policies,
            deadlines,
        };
        let mut course = Course::default();
        let sent = with_frame(self.core.limits.max_nested_calls, |frame| {
            self.with_slots(frame, |frame| {
                self.send_until_under_way(&mut course, frame, call, terms)
            })
        });
        record(|| Record::new(Event::CallEnd).detail(sent.is_err().into()));
        let policies = policies.keep();
        Ok(sent?.map(|sent| {
            Box::new(Outstanding {
                sent: Some(sent),
                course,
                policies,
                deadlines,
                reference: self,
            }) as Box<dyn PendingCall>
        }))
    }

    /// Takes the reply, if it is there or comes in time, and sends the request again where it asks for that.
    fn go_on(
        &self,
        (sent, course): (&mut Option<Sent>, &mut Course),
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
        patience: Patience<'_>,
    ) -> Poll<Result<(), SystemException>> {
        let mut raised = false;
        loop {
            let (Some(under_way), Some(lane)) = (&mut *sent, course.lane()) else {
                return Poll::Ready(Err(broken()));
            };
            let route = Arc::clone(&under_way.route);
            let attempt = if self.core.interceptors.client.is_empty() {
                self.look(under_way, lane, frame, call, terms, patience)
            } else {
                let request = (&*route, under_way.request_id);
                let watch = self.watch_asynchronous(
                    request,
                    call.operation,
                    terms,
                    Point::Poll,
                    course.before,
                    &mut raised,
                );
                let look = |frame: &mut CallFrame, call: &mut Call<'_>| {
                    self.look(under_way, lane, frame, call, terms, patience)
                };
                let watched = self.watch(watch, frame, call, look, |over, raised| match over {
                    Some(()) => ClientEnd::Replied { raised },
                    None => ClientEnd::NotYet,
                });
                match watched {
                    ControlFlow::Continue(attempt) => attempt,
                    ControlFlow::Break(error) => return Poll::Ready(Err(error)),
                }
            };
            let attempt = match attempt {
                Ok(Attempt::Done(None)) => return Poll::Pending,
                attempt => attempt.map(|attempt| attempt.map(drop)),
            };
            if let ControlFlow::Break(result) = self.judge(attempt, &mut course.before) {
                return Poll::Ready(result);
            }
            if raised {
                forget_exception(call);
            }
            match self.send_until_under_way(course, frame, call, terms) {
                Ok(Some(again)) => *sent = Some(again),
                Ok(None) => return Poll::Ready(Ok(())),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn watch_asynchronous<'w>(
        &'w self,
        (route, request_id): (&'w Route, u32),
        operation: &'w str,
        terms: Terms<'_>,
        point: Point,
        before: Before,
        raised: &'w mut bool,
    ) -> Watch<'w> {
        let deadline = terms.deadlines.of(Response::WithTarget);
        Watch {
            request: self.request(route, operation, CallKind::Asynchronous, deadline, request_id),
            point,
            before,
            raised,
        }
    }
}

impl PendingCall for Outstanding {
    fn advance(&mut self, call: &mut Call<'_>, patience: Patience<'_>) -> Poll<Result<(), SystemException>> {
        let Self {
            sent,
            course,
            policies,
            deadlines,
            reference,
        } = self;
        let terms = Terms {
            policies: reference.policies.kept(policies),
            deadlines: *deadlines,
        };
        let step = with_frame(reference.core.limits.max_nested_calls, |frame| {
            Ok(reference.with_slots(frame, |frame| {
                reference.go_on((sent, course), frame, call, terms, patience)
            }))
        });
        step.unwrap_or_else(|error| Poll::Ready(Err(error)))
    }
}
