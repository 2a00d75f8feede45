//! Serving of requests in an ORB with interceptors.

use std::sync::Arc;

use punctual_cdr::{CdrError, Decoder, Encoder, Endian};
use punctual_giop::{MessageWriter, Peer, ReplyStatus, ResponseFlags};
use punctual_stub::{ContextProperties, OrbContext, PendingResponse, RequestOrigin, ReusePool};
use punctual_types::{Completion, Priority, SystemException};

use punctual_lane::{Disposition, MessageError, NotExecuted};

use super::{
    reply::sent_at,
    reply::{ReplyHeaderAt, fail, finish, forward, is_refusal},
    reply_contexts,
    serving::{NotCalled, Serving},
};
use crate::{
    current,
    interception::{
        AddedContexts, CallKind, Contexts, SeenRequest, ServerEnd, ServerFlow, ServerRequest, ServingLane,
        enter_slots,
    },
};

/// Buffers of the serving thread that a request uses.
pub(super) struct ServingBuffers<'l> {
    pub(super) reply: &'l mut Vec<u8>,
    pub(super) pool: &'l mut ReusePool,
    pub(super) orb: &'l OrbContext,
    pub(super) seen: &'l mut SeenRequest,
}

/// Request whose interceptors have been called: what they have added belongs to a deferred reply, too.
struct Intercepted<'i, 'r> {
    serving: &'i Serving<'r>,
    added: &'i AddedContexts,
}

impl RequestOrigin for Intercepted<'_, '_> {
    fn peer(&self) -> Option<Peer> {
        self.serving.peer()
    }

    fn set_context_properties(&self, properties: Option<ContextProperties>) {
        current::set_context_properties(properties);
    }

    fn object_key(&self) -> Option<&[u8]> {
        self.serving.object_key()
    }

    fn defer(&self, response_expected: bool) -> Result<Arc<dyn PendingResponse>, SystemException> {
        self.serving.defer_reply(response_expected, Some(self.added))
    }
}

impl Serving<'_> {
    /// Serves the request through the interceptors. A request that moves to another lane ends here and starts
    /// there as a new one: its lane is known only when its object has been found, and interceptors see it
    /// before.
    #[inline(never)]
    pub(super) fn answer_intercepted(
        &self,
        arguments: Decoder<'_>,
        buffers: ServingBuffers<'_>,
    ) -> Result<Disposition, MessageError> {
        let ServingBuffers {
            reply,
            pool,
            orb,
            seen,
        } = buffers;
        let request = &self.incoming.header;
        let reply_header = self.begin_reply(reply)?.1;
        let mut called = false;
        let mut not_executed = None;
        let mut served_at = self.lane.priority();
        let end = {
            let interceptors = &self.dispatcher.interceptors;
            let _slots = enter_slots(&interceptors.slots, &mut seen.slots);
            let (flow, started) = ServerFlow::start(interceptors, self.seen_request(), &mut seen.added);
            match started {
                Err(end) => flow.end(uncalled(end, &mut not_executed), None),
                Ok(()) => match self.resolve() {
                    Ok((object, placement)) => {
                        served_at = placement.current;
                        let _native = (!flow.keeps_native_priority()).then(|| placement.enter());
                        let _current = current::during_upcall(placement.current, object.transform.as_ref());
                        let servant = &*object.servant;
                        let (id, policies) = (servant.repository_id(), &object.poa.policies.user);
                        let (flow, ready) = flow.receive_request(id, policies, arguments.clone());
                        let end = match ready {
                            Err(end) => uncalled(end, &mut not_executed),
                            Ok(()) => {
                                let (added, head) = (flow.added(), &mut seen.reply_head);
                                match self.answer_early(reply_header, added, reply, head, served_at) {
                                    Ok(()) => {
                                        called = true;
                                        let encoder = self.resume(reply);
                                        let origin = Intercepted { serving: self, added };
                                        let result = self.run(servant, arguments, encoder, pool, &origin).0;
                                        let end = ServerEnd::of(result, self.body(reply_header, reply, orb));
                                        not_executed = reason_to_charge(&end);
                                        end
                                    }
                                    Err(error) => ServerEnd::Failed(error.system_exception(Completion::No)),
                                }
                            }
                        };
                        flow.end(end, self.body(reply_header, reply, orb).as_ref())
                    }
                    Err(NotCalled::Bound) => flow.end(ServerEnd::Replied, None),
                    Err(NotCalled::Moved(disposition)) => flow.end(ServerEnd::Moved(disposition), None),
                    Err(NotCalled::NotServing(exception)) => {
                        flow.end(uncalled(ServerEnd::Failed(exception), &mut not_executed), None)
                    }
                    Err(NotCalled::Forward(ior)) => {
                        not_executed = Some(NotExecuted::Elsewhere);
                        flow.end(ServerEnd::Forward(ior), None)
                    }
                    Err(NotCalled::Refused(exception, reason)) => {
                        not_executed = Some(reason);
                        flow.end(ServerEnd::Failed(exception), None)
                    }
                },
            }
        };
        let mut disposition = self.write(end, called, reply_header, reply, served_at)?;
        if matches!(disposition, Disposition::Reply(_)) && !seen.added.is_empty() {
            let inserted =
                reply_contexts::insert(self, reply_header, &seen.added, reply, &mut seen.reply_head);
            if let Err(error) = inserted {
                let completed = if called { Completion::Yes } else { Completion::No };
                let exception = error.system_exception(completed);
                let written = fail(self.resume(reply), reply_header, &exception, request.response);
                disposition = sent_at(served_at, written)?;
            }
        }
        Ok(not_executed.map_or(disposition, |reason| charged(disposition, reason)))
    }

    /// Returns the properties of the request that interceptors see.
    fn seen_request(&self) -> ServerRequest<'_> {
        let request = &self.incoming.header;
        ServerRequest {
            request_id: request.request_id,
            operation: request.operation,
            kind: match request.response {
                ResponseFlags::WithTarget => CallKind::TwoWay,
                ResponseFlags::None | ResponseFlags::WithServer => CallKind::Oneway,
            },
            object_key: request.target.object_key(),
            contexts: Contexts::Received(request.contexts),
            peer: Some(self.message.peer.peer),
            lane: Some(ServingLane {
                priority: self.lane.waits_at(),
                scheduling: self.lane.scheduling(),
            }),
            endian: self.message.header.endian,
            is_collocated: false,
            slot_table: &self.dispatcher.interceptors.slots,
        }
    }

    /// Returns the results that the servant has written, if a reply is expected.
    fn body<'b>(&self, header: ReplyHeaderAt, reply: &'b [u8], orb: &'b OrbContext) -> Option<Decoder<'b>> {
        (self.incoming.header.response == ResponseFlags::WithTarget).then(|| {
            Decoder::new(reply, Endian::NATIVE)
                .with_code_sets(self.message.code_sets)
                .with_nesting_limit(self.dispatcher.configuration.limits.max_nesting)
                .with_decoded_limit(self.dispatcher.configuration.limits.max_decoded_size)
                .with_context(orb)
                .at(header.body().min(reply.len()))
        })
    }

    /// Returns whether the client of the request waits until the server has accepted it, and not for the
    /// servant.
    fn is_answered_early(&self) -> bool {
        self.incoming.header.response == ResponseFlags::WithServer
    }

    /// Sends the reply to such a client, with the contexts that starting points have added.
    fn answer_early(
        &self,
        header: ReplyHeaderAt,
        added: &AddedContexts,
        reply: &mut Vec<u8>,
        head: &mut Vec<u8>,
        priority: Option<Priority>,
    ) -> Result<(), CdrError> {
        if !self.is_answered_early() {
            return Ok(());
        }
        MessageWriter::from_encoder(self.resume(reply)).finish()?;
        if !added.is_empty() {
            reply_contexts::insert(self, header, added, reply, head)?;
        }
        self.message.reply_early(self.dispatcher, reply, priority);
        Ok(())
    }

    /// Resumes a reply that has been begun.
    pub(super) fn resume<'b>(&self, reply: &'b mut Vec<u8>) -> Encoder<'b> {
        Encoder::resume(reply, Endian::NATIVE)
            .with_code_sets(self.message.code_sets)
            .with_limit(self.dispatcher.configuration.limits.max_message_size)
            .with_nesting_limit(self.dispatcher.configuration.limits.max_nesting)
    }

    /// Completes the reply according to how the request ended; `called`: the servant has been called.
    fn write(
        &self,
        end: ServerEnd,
        called: bool,
        header: ReplyHeaderAt,
        reply: &mut Vec<u8>,
        served_at: Option<Priority>,
    ) -> Result<Disposition, MessageError> {
        let response = self.incoming.header.response;
        let mut encoder = self.resume(reply);
        let written = match end {
            ServerEnd::Moved(disposition) => return Ok(disposition),
            ServerEnd::Deferred => return Ok(Disposition::NoReply),
            _ if called && self.is_answered_early() => return Ok(Disposition::NoReply),
            ServerEnd::Replied => finish(encoder, response),
            ServerEnd::Raised => {
                header.set_status(&mut encoder, ReplyStatus::UserException);
                finish(encoder, response)
            }
            ServerEnd::Forward(ior) => {
                encoder.truncate(header.end);
                forward(encoder, header, &ior, response)
            }
            ServerEnd::Failed(exception) => fail(encoder, header, &exception, response),
        };
        sent_at(served_at, written)
    }
}

/// Why the connection is charged for a request that has reached a servant, if so.
fn reason_to_charge(end: &ServerEnd) -> Option<NotExecuted> {
    match end {
        ServerEnd::Failed(exception) if is_refusal(exception) => Some(NotExecuted::Refused),
        ServerEnd::Forward(_) => Some(NotExecuted::Elsewhere),
        _ => None,
    }
}

/// Returns the end of a request for which no servant was called, and notes why its connection is charged.
fn uncalled(end: ServerEnd, not_executed: &mut Option<NotExecuted>) -> ServerEnd {
    *not_executed = Some(match &end {
        ServerEnd::Failed(exception) if is_refusal(exception) => NotExecuted::Refused,
        _ => NotExecuted::Elsewhere,
    });
    end
}

/// Disposition of a request for which its connection is charged.
fn charged(disposition: Disposition, reason: NotExecuted) -> Disposition {
    match disposition {
        Disposition::Reply(priority) => Disposition::NotExecuted(Some(priority), reason),
        Disposition::NoReply => Disposition::NotExecuted(None, reason),
        disposition => disposition,
    }
}
