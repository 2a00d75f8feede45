//! Calls of an ORB with interceptors: each attempt goes through them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use punctual_cdr::{Decoder, Endian};
use punctual_stub::{Call, Response};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{
    Reference, Route,
    invoke::{Answer, Attempt, Before, Terms, too_many_forwards},
    thread_state::CallFrame,
};
use crate::interceptors::{Arguments, ClientEnd, ClientEnding, ClientRequest, ClientRequestInfo, SeenCall};

/// What attempts at a call have come to.
#[derive(Default)]
struct Seen {
    /// The last one, to a user exception.
    raised: bool,
    /// It is over with this one.
    failure: Option<SystemException>,
}

impl Reference {
    #[inline(never)]
    pub(super) fn invoke_intercepted(
        &self,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
    ) -> Result<(), SystemException> {
        let slots = &self.core.interceptors.slots;
        slots.copy_into(&mut frame.seen.get_or_insert_default().slots);
        let mut seen = Seen::default();
        let result = self.deliver(|route, before| {
            if seen.raised {
                // It was that of an attempt that has been made anew: no operation declares it.
                let _ = (call.raised)("", &mut Decoder::new(&[], Endian::NATIVE));
            }
            self.attempt_intercepted((route, before), frame, call, terms, &mut seen)
        });
        frame.request.added.clear();
        if let Some(seen) = &mut frame.seen {
            seen.slots.clear();
        }
        seen.failure.map_or(result, Err)
    }

    /// As [`Self::attempt`], through the interceptors.
    fn attempt_intercepted(
        &self,
        (route, before): (&Route, Before),
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
        Seen { raised, failure }: &mut Seen,
    ) -> Result<Attempt<()>, SystemException> {
        let interceptors = &self.core.interceptors;
        let request = ClientRequest {
            request_id: interceptors.new_request_id(),
            operation: call.operation,
            kind: call.response.into(),
            reference: self,
            route,
            deadline: terms.deadlines.of(call.response),
            slot_table: &interceptors.slots,
        };
        frame.request.added.clear();
        let seen = frame.seen.get_or_insert_default();
        seen.forget_reply();
        *raised = false;
        let SeenCall { slots, arguments, .. } = &mut **seen;
        let mut info = ClientRequestInfo {
            request,
            slots,
            added: &mut frame.request.added,
            arguments: Some(Arguments {
                perform: &mut *call.perform,
                octets: arguments,
                limit: self.core.limits.max_message_size,
            }),
            ending: ClientEnding::NONE,
        };
        let (started, begun) = interceptors.send_request(&mut info);
        let mut panic = None;
        let end = match begun {
            Err(interrupt) => interrupt.into(),
            Ok(()) => {
                let attempt = AssertUnwindSafe(|| self.attempt_watched(route, frame, call, terms, raised));
                match catch_unwind(attempt) {
                    Ok(Ok(Attempt::Done(()))) if call.response == Response::None => ClientEnd::Sent,
                    Ok(Ok(Attempt::Done(()))) => ClientEnd::Replied { raised: *raised },
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
        match end {
            ClientEnd::Replied { .. } | ClientEnd::Sent => Ok(Attempt::Done(())),
            ClientEnd::Forward(ior) => Ok(Attempt::Forward(ior)),
            ClientEnd::Again(error) => Ok(Attempt::Again(error)),
            ClientEnd::AgainAtHome(error) => Err(error),
            ClientEnd::Failed(error) => {
                // That it is made anew, interceptors would have been told.
                *failure = Some(error);
                Ok(Attempt::Done(()))
            }
        }
    }

    /// As [`Self::attempt`], and notes which user exception the reply says.
    fn attempt_watched(
        &self,
        route: &Route,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        terms: Terms<'_>,
        raised: &mut bool,
    ) -> Result<Attempt<()>, SystemException> {
        // Out of the frame, which the attempt needs whole.
        let mut repository_id = std::mem::take(&mut frame.seen.get_or_insert_default().raised);
        let caught = &mut *call.raised;
        let mut watched = |id: &str, decoder: &mut Decoder<'_>| {
            *raised = true;
            repository_id.clear();
            repository_id.push_str(id);
            caught(id, decoder)
        };
        let result = self.attempt(
            route,
            frame,
            &mut Call {
                operation: call.operation,
                response: call.response,
                perform: &mut *call.perform,
                raised: &mut watched,
            },
            terms,
        );
        frame.seen.get_or_insert_default().raised = repository_id;
        result
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
