//! Path of one request: decode, admit, find its object and priority, call the servant, write the reply.

use punctual_cdr::Decoder;
use punctual_flight::{Event, Record, operation_id, record};
use punctual_giop::{BIND_PRIORITY_BAND, ReplyStatus, RequestHeader, ResponseFlags};
use punctual_lane::{Disposition, MessageError, RequestMessage, Unserved};
use punctual_stub::Outcome;
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    Buffers, RequestDispatcher, expiry,
    intercepted::ServingBuffers,
    reply::{begin_reply, fail, finish, forward, is_refusal, sent_at, unserved},
    serving::{Resolved, Serving},
};
use crate::{current, lane_data::LaneContext};

/// Serves a request and writes the reply.
pub(super) fn answer_request(
    dispatcher: &RequestDispatcher,
    lane: &LaneContext,
    message: &RequestMessage<'_, RequestDispatcher>,
    buffers: &mut Buffers,
    reply: &mut Vec<u8>,
) -> Result<Disposition, MessageError> {
    let Buffers {
        last,
        arena,
        pool,
        orb,
        seen,
    } = buffers;
    let header = message.header;
    let incoming = last.decode(message.octets, header).map_err(|_| MessageError)?;
    let request = incoming.header;
    record(|| {
        Record::new(Event::Served)
            .request(request.request_id)
            .link(message.link)
            .priority(lane.priority().map(Priority::value))
            .detail(operation_id(request.operation))
    });
    arena.reset();
    let body = incoming.body;
    let serving = Serving {
        dispatcher,
        lane,
        message,
        incoming: &incoming,
    };
    if expiry::has_expired(lane.data.expired_requests, request.contexts, message.read_at) {
        lane.count_expired();
        let exception = SystemException::new(
            SystemExceptionKind::Timeout,
            Minor::REQUEST_EXPIRED,
            Completion::No,
        );
        let (encoder, reply_header) = serving.begin_reply(reply)?;
        return sent_at(
            lane.priority(),
            fail(encoder, reply_header, &exception, request.response),
        );
    }
    let arguments = Decoder::new(message.octets, header.endian)
        .with_char_set(message.char_set)
        .with_arena(arena)
        .with_nesting_limit(dispatcher.configuration.limits.max_nesting)
        .with_decoded_limit(dispatcher.configuration.limits.max_decoded_size)
        .with_context(orb)
        .with_fragments(message.fragment_starts)
        .at(body);
    if !dispatcher.interceptors.server.is_empty() && request.operation != BIND_PRIORITY_BAND {
        let buffers = ServingBuffers {
            reply,
            pool,
            orb,
            seen,
        };
        return serving.answer_intercepted(arguments, buffers);
    }
    let (encoder, reply_header) = serving.begin_reply(reply)?;
    let (object, placement) = match serving.resolve() {
        Resolved::Here(object, placement) => (object, placement),
        Resolved::Redispatch(target) => return Ok(Disposition::Redispatch(target)),
        Resolved::Bound => return sent_at(lane.priority(), finish(encoder, request.response)),
        Resolved::Forward(ior) => {
            let written = forward(encoder, reply_header, &ior, request.response);
            return unserved(lane.priority(), written, Unserved::Elsewhere);
        }
        Resolved::Refused(exception, reason) => {
            let written = fail(encoder, reply_header, &exception, request.response);
            return unserved(lane.priority(), written, reason);
        }
    };
    // The client of such a oneway call waits until the server has accepted it, and not for the servant.
    let is_answered = request.response == ResponseFlags::WithServer;
    let encoder = if is_answered {
        finish(encoder, request.response)?;
        message.reply_early(dispatcher, reply, placement.current);
        serving.resume(reply)
    } else {
        encoder
    };
    let (end, mut encoder) = {
        let _native = placement.enter();
        let _current = current::during_upcall(placement.current, object.transform.as_ref());
        serving.run(&*object.servant, arguments, encoder, pool)
    };
    drop(object);
    let written = match end {
        Err(exception) if is_refusal(&exception) => {
            let written = if is_answered {
                Ok(false)
            } else {
                fail(encoder, reply_header, &exception, request.response)
            };
            return unserved(placement.current, written, Unserved::Refused);
        }
        _ if is_answered => return Ok(Disposition::NoReply),
        Ok(Outcome::NoException) => finish(encoder, request.response),
        Ok(Outcome::UserException) => {
            reply_header.set_status(&mut encoder, ReplyStatus::UserException);
            finish(encoder, request.response)
        }
        Err(exception) => fail(encoder, reply_header, &exception, request.response),
    };
    sent_at(placement.current, written)
}

/// Writes the reply to a request that is not served. Returns whether its client expects one.
pub(super) fn refuse_request(
    dispatcher: &RequestDispatcher,
    lane: &LaneContext,
    message: &RequestMessage<'_, RequestDispatcher>,
    exception: &SystemException,
    reply: &mut Vec<u8>,
) -> Result<bool, MessageError> {
    let header = message.header;
    let (request, _) = RequestHeader::decode(message.octets, header).map_err(|_| MessageError)?;
    let (encoder, reply_header) = begin_reply(dispatcher, lane, message.char_set, &request, header, reply)?;
    fail(encoder, reply_header, exception, request.response)
}
