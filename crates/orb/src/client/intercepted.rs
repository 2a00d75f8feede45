//! Calls of an ORB with interceptors: each attempt goes through them.

use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    time::Instant,
};

use punctual_cdr::{Decoder, Endian};
use punctual_stub::Call;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{
    Reference, Route,
    attempts::{Attempt, Before, too_many_forwards},
    invoke::{Answer, Terms, broken},
    thread_state::CallFrame,
};
use crate::interceptors::{
    Arguments, CallKind, ClientEnd, ClientEnding, ClientRequest, ClientRequestInfo, SeenCall,
};

/// A part of a call, as interceptors see it.
pub(super) struct Watch<'w> {
    pub(super) request: ClientRequest<'w>,
    pub(super) point: Point,
    pub(super) before: Before,
    /// Whether it came to a user exception.
    pub(super) raised: &'w mut bool,
}

/// Where such a part starts.
#[derive(Clone, Copy)]
pub(super) enum Point {
    Send,
    Poll,
}

impl Reference {
    #[inline(never)]
    pub(super) fn invoke_intercepted(
        &self,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
    ) -> Result<(), SystemException> {
        let (mut raised, mut failure) = (false, None);
        let result = self.with_slots(frame, |frame| {
            self.deliver(|route, before| {
                if raised {
                    forget_exception(call);
                }
                let (kind, deadline) = (call.response.into(), terms.deadlines.of(call.response));
                let request_id = self.core.interceptors.new_request_id();
                let watch = Watch {
                    request: self.request(route, call.operation, kind, deadline, request_id),
                    point: Point::Send,
                    before,
                    raised: &mut raised,
                };
                let attempt =
                    |frame: &mut CallFrame, call: &mut Call<'_>| self.attempt(route, frame, call, terms);
                let watched = self.watch(watch, frame, call, attempt, |(), raised| match kind {
                    CallKind::Oneway => ClientEnd::Sent,
                    _ => ClientEnd::Replied { raised },
                });
                match watched {
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

    /// Runs what interceptors see with the slots that the thread has now.
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

    /// What interceptors are told of a request.
    pub(super) fn request<'r>(
        &'r self,
        route: &'r Route,
        operation: &'r str,
        kind: CallKind,
        deadline: Option<Instant>,
        request_id: u32,
    ) -> ClientRequest<'r> {
        ClientRequest {
            request_id,
            operation,
            kind,
            reference: self,
            route,
            deadline,
            slot_table: &self.core.interceptors.slots,
        }
    }

    /// Runs a part of a call between a starting point and an ending point; `came_to` says how it ended, where it did well, and
    /// whether with a user exception. `Break`: the call is over with this; that it is made anew, interceptors would have been told.
    pub(super) fn watch<R>(
        &self,
        Watch {
            request,
            point,
            before,
            raised,
        }: Watch<'_>,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        part: impl FnOnce(&mut CallFrame, &mut Call<'_>) -> Result<Attempt<R>, SystemException>,
        came_to: impl FnOnce(&R, bool) -> ClientEnd,
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
                    limit: self.core.limits.max_message_size,
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
                    Ok(Ok(Attempt::Done(result))) => came_to(done.insert(result), *raised),
                    Ok(Ok(Attempt::Forward(ior))) => ClientEnd::Forward(ior),
                    Ok(Ok(Attempt::Again(error))) if before.may_repeat() => ClientEnd::Again(error),
                    Ok(Err(error)) if before.may_go_home(&self.core, &error) => ClientEnd::AgainAtHome(error),
                    Ok(Ok(Attempt::Again(error)) | Err(error)) => ClientEnd::Failed(error),
                    Err(payload) => {
                        panic = Some(payload);
                        let (kind, minor) = (SystemExceptionKind::Unknown, Minor::NONE);
                        ClientEnd::Failed(SystemException::new(kind, minor, Completion::Maybe))
                    }
                }
            }
        };
        let end = match end {
            ClientEnd::Forward(_) if !before.may_forward(&self.core) => {
                ClientEnd::Failed(too_many_forwards())
            }
            end => end,
        };
        let CallFrame {
            request: buffer,
            seen,
            ..
        } = frame;
        let added = &mut buffer.added;
        let end = interceptors.end_request(started, request, added, seen.get_or_insert_default(), end);
        if let Some(payload) = panic {
            // User code in a stub, a servant or a transform: the caller's, whatever interceptors say.
            resume_unwind(payload);
        }
        ControlFlow::Continue(match (end, done) {
            (ClientEnd::Failed(error), _) => return ControlFlow::Break(error),
            (ClientEnd::Forward(ior), _) => Ok(Attempt::Forward(ior)),
            (ClientEnd::Again(error), _) => Ok(Attempt::Again(error)),
            (ClientEnd::AgainAtHome(error), _) => Err(error),
            (_, Some(done)) => Ok(Attempt::Done(done)),
            // Interceptors cannot make it well again.
            (_, None) => return ControlFlow::Break(broken()),
        })
    }

    /// Keeps what interceptors may ask of a reply, where there are any.
    #[inline]
    pub(super) fn let_see(&self, seen: &mut Option<Box<SeenCall>>, answer: &Answer<'_>, body: Option<usize>) {
        if self.core.interceptors.client.is_empty() {
            return;
        }
        if let (Some(seen), Some(body)) = (seen, body) {
            seen.keep_reply(answer.message, answer.header, body);
        }
    }
}

/// Makes the caller forget a user exception of an attempt that is made anew.
pub(super) fn forget_exception(call: &mut Call<'_>) {
    // No operation declares this one.
    let _ = (call.raised)("", &mut Decoder::new(&[], Endian::NATIVE));
}

/// Runs it, and notes which user exception the reply says.
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
