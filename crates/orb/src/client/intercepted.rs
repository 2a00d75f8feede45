//! Calls of an ORB with interceptors: each attempt passes through them.

use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use punctual_cdr::{Decoder, Endian};
use punctual_giop::connection::ReplyBody;
use punctual_stub::{Call, ObjectRef, OrbContext, Response};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{
    call::{Attempt, AttemptHistory, CallFrame, too_many_forwards},
    call_context::CallContext,
    call_end::broken,
    reference::Reference,
    reply::ReplyView,
    route::Route,
};
use crate::interception::{
    Arguments, CallKind, CallTarget, ClientEnd, ClientEnding, ClientRequest, ClientRequestInfo, SeenCall,
};

/// Part of a call between a starting and an ending point of interceptors.
pub(super) struct InterceptedPart<'w> {
    pub(super) request: ClientRequest<'w>,
    pub(super) point: Point,
    pub(super) history: AttemptHistory,
    /// Set if the reply is a user exception.
    pub(super) raised: &'w mut bool,
}

/// Starting point of a part.
#[derive(Clone, Copy)]
pub(super) enum Point {
    Send,
    Poll,
}

impl CallTarget for Reference {
    fn to_object(&self) -> ObjectRef {
        Reference::to_object(self)
    }

    fn context(&self) -> &OrbContext {
        &self.orb
    }
}

impl Reference {
    /// Makes a call whose attempts interceptors observe.
    pub(super) fn call_intercepted(
        &self,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        context: &CallContext<'_>,
        attempt: impl Fn(&Route, &mut CallFrame, &mut Call<'_>) -> Result<Attempt<()>, SystemException>,
    ) -> Result<(), SystemException> {
        let (mut raised, mut failure) = (false, None);
        let result = self.with_slots(frame, |frame| {
            self.deliver(|route, history| {
                if raised {
                    forget_exception(call);
                }
                let response = context.response(call.response);
                let kind = call.response.into();
                let request_id = self.core.interceptors.new_request_id();
                let part = InterceptedPart {
                    request: self.request(route, call.operation, kind, response, context, request_id),
                    point: Point::Send,
                    history,
                    raised: &mut raised,
                };
                let attempt = |frame: &mut CallFrame, call: &mut Call<'_>| attempt(route, frame, call);
                let observed =
                    self.run_intercepted(part, frame, call, attempt, |(), raised| match response {
                        Response::None => ClientEnd::Sent,
                        _ => ClientEnd::Replied { raised },
                    });
                match observed {
                    ControlFlow::Continue(result) => result,
                    ControlFlow::Break(error) => {
                        failure = Some(error);
                        Ok(Attempt::Done(()))
                    }
                }
            })
        });
        failure.map_or(result, Err)
    }

    /// Runs part of a call with the slots that the thread has now.
    pub(super) fn with_slots<R>(&self, frame: &mut CallFrame, run: impl FnOnce(&mut CallFrame) -> R) -> R {
        let interceptors = &self.core.interceptors;
        if interceptors.client.is_empty() {
            return run(frame);
        }
        interceptors
            .slots
            .copy_into(&mut frame.seen.get_or_insert_default().slots);
        let result = run(frame);
        frame.request.added.clear();
        if let Some(seen) = &mut frame.seen {
            seen.slots.clear();
        }
        result
    }

    /// Returns the properties of a request that interceptors see.
    pub(super) fn request<'r>(
        &'r self,
        route: &'r Route,
        operation: &'r str,
        kind: CallKind,
        response: Response,
        context: &CallContext<'r>,
        request_id: u32,
    ) -> ClientRequest<'r> {
        ClientRequest {
            request_id,
            operation,
            kind,
            response_expected: response != Response::None,
            target: self,
            effective: route.ior(),
            is_collocated: route.is_collocated(context.policies),
            orb_type: route.orb_type,
            deadline: context.deadlines.of(response),
            policies: context.policies,
            slot_table: &self.core.interceptors.slots,
        }
    }

    /// Runs a part of a call between a starting and an ending point; `end_of` returns how a successful part
    /// ended. `Break`: the call has ended with this error, without a further attempt that interceptors would
    /// see.
    pub(super) fn run_intercepted<R>(
        &self,
        InterceptedPart {
            request,
            point,
            history,
            raised,
        }: InterceptedPart<'_>,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        part: impl FnOnce(&mut CallFrame, &mut Call<'_>) -> Result<Attempt<R>, SystemException>,
        end_of: impl FnOnce(&R, bool) -> ClientEnd,
    ) -> ControlFlow<SystemException, Result<Attempt<R>, SystemException>> {
        let interceptors = &self.core.interceptors;
        frame.request.added.clear();
        let seen = frame.seen.get_or_insert_default();
        seen.forget_reply();
        *raised = false;
        let SeenCall { slots, arguments, .. } = &mut **seen;
        let mut info = ClientRequestInfo {
            request,
            slots,
            added: &mut frame.request.added,
            arguments: None,
            ending: ClientEnding::NONE,
        };
        let (started, begun) = match point {
            Point::Send => {
                info.arguments = Some(Arguments {
                    perform: &mut *call.perform,
                    octets: arguments,
                    limit: self.core.configuration.limits.max_message_size,
                });
                interceptors.send_request(&mut info)
            }
            Point::Poll => interceptors.send_poll(&mut info),
        };
        let (mut panic, mut done) = (None, None);
        let end = match begun {
            Err(interrupt) => interrupt.into(),
            Ok(()) => {
                let part = AssertUnwindSafe(|| note_exception(frame, call, raised, part));
                match catch_unwind(part) {
                    Ok(result) => {
                        self.end_of_attempt(history, result, |result| end_of(done.insert(result), *raised))
                    }
                    Err(payload) => {
                        panic = Some(payload);
                        ClientEnd::Failed(panicked())
                    }
                }
            }
        };
        let end = match end {
            ClientEnd::Forward(_) if !history.may_forward(&self.core.configuration.limits) => {
                ClientEnd::Failed(too_many_forwards())
            }
            end => end,
        };
        let (added, seen) = (&mut frame.request.added, frame.seen.get_or_insert_default());
        let end = interceptors.end_request(started, request, added, seen, end);
        if let Some(payload) = panic {
            // From user code in a stub, a servant or a transform: it belongs to the caller, regardless of
            // what interceptors decide.
            resume_unwind(payload);
        }
        ControlFlow::Continue(match (end, done) {
            (ClientEnd::Failed(error), _) => return ControlFlow::Break(error),
            (ClientEnd::Forward(ior), _) => Ok(Attempt::Forward(ior)),
            (ClientEnd::Again(error), _) => Ok(Attempt::Again(error)),
            (ClientEnd::AgainAtHome(error), _) => Err(error),
            (_, Some(done)) => Ok(Attempt::Done(done)),
            // Interceptors cannot turn a failure into success.
            (_, None) => return ControlFlow::Break(broken()),
        })
    }

    /// How the result of an attempt appears to interceptors; `end_of` returns it for a successful one.
    fn end_of_attempt<R>(
        &self,
        history: AttemptHistory,
        result: Result<Attempt<R>, SystemException>,
        end_of: impl FnOnce(R) -> ClientEnd,
    ) -> ClientEnd {
        match result {
            Ok(Attempt::Done(result)) => end_of(result),
            Ok(Attempt::Forward(ior)) => ClientEnd::Forward(ior),
            Ok(Attempt::Again(error)) if history.may_repeat() => ClientEnd::Again(error),
            Err(error) if history.may_go_home(&self.core.configuration.limits, &error) => {
                ClientEnd::AgainAtHome(error)
            }
            Ok(Attempt::Again(error)) | Err(error) => ClientEnd::Failed(error),
        }
    }

    /// Keeps the service contexts of a reply for interceptors, if any are registered.
    #[inline]
    pub(super) fn show_reply(&self, seen: &mut Option<Box<SeenCall>>, view: &ReplyView<'_>, body: ReplyBody) {
        if self.core.interceptors.client.is_empty() {
            return;
        }
        if let Some(seen) = seen {
            seen.keep_reply(view.message, view.header, body.offset);
        }
    }
}

/// Exception that represents a panic to interceptors.
fn panicked() -> SystemException {
    SystemException::new(SystemExceptionKind::Unknown, Minor::NONE, Completion::Maybe)
}

/// Resets the user exception of an attempt that is repeated.
pub(super) fn forget_exception(call: &mut Call<'_>) {
    // No operation declares this one.
    let _ = (call.raised)("", &mut Decoder::new(&[], Endian::NATIVE));
}

/// Runs part of a call, and notes which user exception the reply states.
fn note_exception<R>(
    frame: &mut CallFrame,
    call: &mut Call<'_>,
    raised: &mut bool,
    run: impl FnOnce(&mut CallFrame, &mut Call<'_>) -> R,
) -> R {
    // Out of the frame, which the run needs whole.
    let mut repository_id = std::mem::take(&mut frame.seen.get_or_insert_default().raised);
    let caught = &mut *call.raised;
    let mut watched = |id: &str, decoder: &mut Decoder<'_>| {
        *raised = true;
        repository_id.clear();
        repository_id.push_str(id);
        caught(id, decoder)
    };
    let result = run(
        frame,
        &mut Call {
            operation: call.operation,
            response: call.response,
            perform: &mut *call.perform,
            raised: &mut watched,
        },
    );
    frame.seen.get_or_insert_default().raised = repository_id;
    result
}
