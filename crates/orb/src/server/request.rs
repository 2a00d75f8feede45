use punctual_cdr::{CdrError, CharSet, Decoder, Encode, Endian};
use punctual_flight::{Event, Record, model, operation_id, record};
use punctual_giop::{
    BIND_PRIORITY_BAND, MessageHeader, MessageType, MessageWriter, RT_CORBA_PRIORITY, ReplyStatus,
    RequestHeader, ResponseFlags, ServiceContext, Version, align_body, encode_reply_header,
    encode_system_exception,
};
use punctual_stub::{Outcome, Upcall};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    Answer, Arrival, Buffers, Demultiplexed, Unintelligible, band_binding, dispatch, expiry, run_servant,
};
use crate::{PriorityModel, accepted_priorities::Origin, current, lane::Lane, orb_core::OrbCore};

/// Serves a request and writes the reply into the buffers.
pub(crate) fn answer_request(
    core: &OrbCore,
    lane: &Lane,
    (origin, arrival): (&Origin, Arrival),
    char_set: CharSet,
    message: &[u8],
    header: &MessageHeader,
    buffers: &mut Buffers,
) -> Result<Answer, Unintelligible> {
    let Buffers {
        fragment_starts,
        last,
        reply,
        arena,
        pool,
        orb,
        link,
        served_at,
    } = buffers;
    let incoming = last.decode(message, header).map_err(|_| Unintelligible)?;
    let request = incoming.header;
    record(|| {
        Record::new(Event::Served)
            .request(request.request_id)
            .link(*link)
            .priority(lane.priority.map(Priority::value))
            .detail(operation_id(request.operation))
    });
    arena.reset();
    *served_at = lane.priority;
    let (encoder, reply_header) = begin_reply(core, lane, char_set, &request, header, reply)?;
    if expiry::has_expired(lane.expired_requests, request.contexts, arrival.read_at) {
        lane.count_expired();
        let exception = SystemException::new(
            SystemExceptionKind::Timeout,
            Minor::REQUEST_EXPIRED,
            Completion::No,
        );
        return fail(encoder, reply_header, &exception, request.response);
    }
    let object = match request.target.object_key().map(|key| core.demultiplex(key)) {
        Some(Demultiplexed::Object(object)) => object,
        Some(Demultiplexed::Published(ior)) => {
            return forward(encoder, reply_header, &ior, request.response);
        }
        Some(Demultiplexed::Unknown) | None => {
            let (kind, minor) = (SystemExceptionKind::ObjectNotExist, Minor::TARGET_KEY_UNKNOWN);
            let exception = SystemException::new(kind, minor, Completion::No);
            return fail(encoder, reply_header, &exception, request.response);
        }
    };
    if object.poa.pool_id() != lane.pool {
        // An old reference, or one that was made by hand: the lanes of another pool are responsible.
        let ior = object.ior.clone();
        drop(object);
        return forward(encoder, reply_header, &ior, request.response);
    }
    let run = if request.operation.starts_with('_') {
        // Adapters without a priority model leave it to their servants, which do not know it.
        if request.operation == BIND_PRIORITY_BAND && object.model.is_some() {
            return match band_binding::bind(&object, lane, origin, request.contexts) {
                Ok(()) => finish(encoder, request.response),
                Err(exception) => fail(encoder, reply_header, &exception, request.response),
            };
        }
        run_servant
    } else {
        dispatch
    };
    let placement = match incoming.priority.transpose() {
        Ok(priority) => object.placement(core, lane, origin, arrival.may_move, priority),
        Err(error) => Err(error.system_exception(Completion::No)),
    };
    let placement = match placement {
        Ok(placement) => placement,
        Err(exception) => return fail(encoder, reply_header, &exception, request.response),
    };
    if let Some((lane, limits)) = placement.elsewhere {
        return Ok(Answer::Elsewhere(lane, limits));
    }
    *served_at = placement.current;
    record(|| {
        let model = match object.model {
            None => model::NONE,
            Some(PriorityModel::ClientPropagated { .. }) => model::CLIENT_PROPAGATED,
            Some(PriorityModel::ServerDeclared(_)) => model::SERVER_DECLARED,
        };
        let priority = placement.current.map(Priority::value);
        Record::new(Event::Placed).priority(priority).detail(model)
    });

    let arguments = Decoder::new(message, header.endian)
        .with_char_set(char_set)
        .with_arena(arena)
        .with_nesting_limit(core.limits.max_nesting)
        .with_context(orb)
        .with_fragments(fragment_starts)
        .at(incoming.body);
    let alignment = if header.version >= Version::V1_2 { 8 } else { 1 };
    let two_way = request.response == ResponseFlags::WithTarget;
    let mut upcall = Upcall::new(request.operation, arguments, encoder, alignment, two_way, pool);
    let result = {
        let _native = placement.enter();
        let _current = current::during_upcall(placement.current, object.transform.as_ref());
        run(&*object.servant, &mut upcall)
    };
    drop(object);
    let outcome = upcall.outcome();
    let mut encoder = upcall.into_reply();
    match (result, outcome) {
        // A oneway call with a reply from the server, whatever becomes of it.
        _ if request.response == ResponseFlags::WithServer => {
            encoder.truncate(reply_header.end);
            finish(encoder, request.response)
        }
        (Ok(()), Outcome::NoException) => finish(encoder, request.response),
        (Ok(()), Outcome::UserException) => {
            reply_header.set_status(&mut encoder, ReplyStatus::UserException);
            finish(encoder, request.response)
        }
        (Err(exception), _) => fail(encoder, reply_header, &exception, request.response),
    }
}

/// Writes a reply that says why the request is not served, where its client waits for one.
pub(crate) fn refuse_request(
    core: &OrbCore,
    lane: &Lane,
    char_set: CharSet,
    message: &[u8],
    header: &MessageHeader,
    exception: &SystemException,
    buffers: &mut Buffers,
) -> Result<Answer, Unintelligible> {
    let (request, _) = RequestHeader::decode(message, header).map_err(|_| Unintelligible)?;
    let (encoder, reply_header) = begin_reply(core, lane, char_set, &request, header, &mut buffers.reply)?;
    fail(encoder, reply_header, exception, request.response)
}

/// Starts a reply with the header that it has where all goes well.
fn begin_reply<'b>(
    core: &OrbCore,
    lane: &Lane,
    char_set: CharSet,
    request: &RequestHeader<'_>,
    header: &MessageHeader,
    reply: &'b mut Vec<u8>,
) -> Result<(Encoder<'b>, ReplyHeaderAt), Unintelligible> {
    reply.clear();
    let writer = MessageWriter::new(
        reply,
        header.version,
        MessageType::Reply,
        Endian::NATIVE,
        char_set,
        core.limits.max_message_size,
    );
    let mut encoder = writer.into_encoder();
    // A pool without lanes says at which priority it ran; with lanes the endpoint says it already.
    let echo = match lane.priority {
        Some(_) => None,
        None => request.contexts.find(RT_CORBA_PRIORITY),
    };
    let echo = echo.map(|data| ServiceContext::Raw {
        id: RT_CORBA_PRIORITY,
        data,
    });
    encode_reply_header(
        &mut encoder,
        header.version,
        request.request_id,
        ReplyStatus::NoException,
        echo.as_slice(),
    )
    .map_err(|_| Unintelligible)?;
    let at = ReplyHeaderAt {
        end: encoder.position(),
        version: header.version,
    };
    Ok((encoder, at))
}

type Encoder<'b> = punctual_cdr::Encoder<'b>;

/// The header of a reply that has been written.
#[derive(Clone, Copy)]
struct ReplyHeaderAt {
    end: usize,
    version: Version,
}

impl ReplyHeaderAt {
    fn set_status(self, encoder: &mut Encoder<'_>, status: ReplyStatus) {
        // From GIOP 1.2 on behind the request id, before at the end of the header.
        let position = if self.version >= Version::V1_2 {
            punctual_giop::HEADER_SIZE + 4
        } else {
            self.end - 4
        };
        encoder.patch_u32(position, status as u32);
    }
}

fn fail(
    mut encoder: Encoder<'_>,
    header: ReplyHeaderAt,
    exception: &SystemException,
    response: ResponseFlags,
) -> Result<Answer, Unintelligible> {
    encoder.truncate(header.end);
    header.set_status(&mut encoder, ReplyStatus::SystemException);
    let written = align_body(&mut encoder, header.version)
        .and_then(|()| encode_system_exception(&mut encoder, exception));
    written.map_err(|_: CdrError| Unintelligible)?;
    finish(encoder, response)
}

fn forward(
    mut encoder: Encoder<'_>,
    header: ReplyHeaderAt,
    ior: &punctual_cdr::Ior,
    response: ResponseFlags,
) -> Result<Answer, Unintelligible> {
    header.set_status(&mut encoder, ReplyStatus::LocationForward);
    let written = align_body(&mut encoder, header.version).and_then(|()| ior.encode(&mut encoder));
    written.map_err(|_| Unintelligible)?;
    finish(encoder, response)
}

fn finish(encoder: Encoder<'_>, response: ResponseFlags) -> Result<Answer, Unintelligible> {
    MessageWriter::from_encoder(encoder)
        .finish()
        .map_err(|_| Unintelligible)?;
    Ok(Answer::reply_if(response.expects_reply()))
}
