//! The path of one request: decode, admit, find its object and priority, call the servant, write the reply.

use punctual_cdr::{Decoder, Encoder, Ior};
use punctual_flight::{Event, Record, model, operation_id, record};
use punctual_giop::{
    BIND_PRIORITY_BAND, IncomingRequest, ReplyStatus, RequestHeader, ResponseFlags, Version,
};
use punctual_lane::{Disposition, MessageError, Redispatch};
use punctual_poa::InFlight;
use punctual_stub::{Outcome, ReusePool, Servant, Upcall};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    ActiveObject, Buffers, Demultiplexed, Placement, band_binding, expiry,
    intercepted::Lent,
    reply::{ReplyHeaderAt, begin_reply, fail, finish, forward},
    run_servant,
};
use crate::{
    PriorityModel, current,
    lane::{LaneContext, RequestMessage},
    orb_core::OrbCore,
};

/// Serves a request and writes the reply.
pub(super) fn answer_request(
    core: &OrbCore,
    lane: &LaneContext,
    message: &RequestMessage<'_>,
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
        core,
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
        .with_nesting_limit(core.limits.max_nesting)
        .with_context(orb)
        .with_fragments(message.fragment_starts)
        .at(body);
    if !core.interceptors.server.is_empty() && request.operation != BIND_PRIORITY_BAND {
        let lent = Lent {
            reply,
            pool,
            orb,
            seen,
        };
        return serving.answer_intercepted(arguments, lent);
    }
    let (encoder, reply_header) = serving.begin_reply(reply)?;
    let (object, placement) = match serving.find() {
        Found::Here(object, placement) => (object, placement),
        Found::Redispatch(target) => return Ok(Disposition::Redispatch(target)),
        Found::Bound => return sent_at(lane.priority(), finish(encoder, request.response)),
        Found::Forward(ior) => {
            let written = forward(encoder, reply_header, &ior, request.response);
            return sent_at(lane.priority(), written);
        }
        Found::Refused(exception) => {
            let written = fail(encoder, reply_header, &exception, request.response);
            return sent_at(lane.priority(), written);
        }
    };
    let (end, mut encoder) = {
        let _native = placement.enter();
        let _current = current::during_upcall(placement.current, object.transform.as_ref());
        serving.run(&*object.servant, arguments, encoder, pool)
    };
    drop(object);
    let written = match end {
        // A oneway call with a reply from the server, whatever its result is.
        _ if request.response == ResponseFlags::WithServer => {
            encoder.truncate(reply_header.end);
            finish(encoder, request.response)
        }
        Ok(Outcome::NoException) => finish(encoder, request.response),
        Ok(Outcome::UserException) => {
            reply_header.set_status(&mut encoder, ReplyStatus::UserException);
            finish(encoder, request.response)
        }
        Err(exception) => fail(encoder, reply_header, &exception, request.response),
    };
    sent_at(placement.current, written)
}

/// Disposition of a request whose reply was written, if its client expects one; its packets travel at this priority.
#[inline(always)]
pub(super) fn sent_at(
    priority: Option<Priority>,
    written: Result<bool, MessageError>,
) -> Result<Disposition, MessageError> {
    written.map(|expected| match expected {
        true => Disposition::Reply(priority),
        false => Disposition::NoReply,
    })
}

/// A request that is being served.
pub(super) struct Serving<'r> {
    pub(super) core: &'r OrbCore,
    pub(super) lane: &'r LaneContext,
    pub(super) message: &'r RequestMessage<'r>,
    pub(super) incoming: &'r IncomingRequest<'r>,
}

/// What a request leads to.
pub(super) enum Found<'c> {
    /// Its object, to be called at these priorities.
    Here(InFlight<'c, ActiveObject>, Placement),
    /// Nothing more to do: it has bound its connection to a band.
    Bound,
    /// Another lane of the pool, which should serve it.
    Redispatch(Redispatch),
    /// Another place, which the client is to ask.
    Forward(Ior),
    /// It is not served.
    Refused(SystemException),
}

impl<'r> Serving<'r> {
    #[inline(always)]
    pub(super) fn find(&self) -> Found<'r> {
        let Self {
            core, lane, message, ..
        } = *self;
        let origin = message.peer;
        let request = &self.incoming.header;
        let object = match request.target.object_key().map(|key| core.demultiplex(key)) {
            Some(Demultiplexed::Object(object)) => object,
            Some(Demultiplexed::Published(ior)) => return Found::Forward((*ior).clone()),
            Some(Demultiplexed::Unknown) | None => {
                let (kind, minor) = (SystemExceptionKind::ObjectNotExist, Minor::TARGET_KEY_UNKNOWN);
                return Found::Refused(SystemException::new(kind, minor, Completion::No));
            }
        };
        if object.poa.pool_id() != lane.pool() {
            // An old reference, or one that was made by hand: the lanes of another pool are responsible.
            return Found::Forward(object.ior.clone());
        }
        // Adapters without a priority model leave it to their servants, which do not know it.
        if request.operation == BIND_PRIORITY_BAND && object.model.is_some() {
            return match band_binding::bind(&object, lane, origin, request.contexts) {
                Ok(()) => Found::Bound,
                Err(exception) => Found::Refused(exception),
            };
        }
        let placement = match self.incoming.priority.transpose() {
            Ok(priority) => object.placement(core, lane, origin, message.may_move, priority),
            Err(error) => Err(error.system_exception(Completion::No)),
        };
        let mut placement = match placement {
            Ok(placement) => placement,
            Err(exception) => return Found::Refused(exception),
        };
        if let Some(target) = placement.elsewhere.take() {
            return Found::Redispatch(target);
        }
        record(|| {
            let model = match object.model {
                None => model::NONE,
                Some(PriorityModel::ClientPropagated { .. }) => model::CLIENT_PROPAGATED,
                Some(PriorityModel::ServerDeclared(_)) => model::SERVER_DECLARED,
            };
            let priority = placement.current.map(Priority::value);
            Record::new(Event::Placed).priority(priority).detail(model)
        });
        Found::Here(object, placement)
    }

    /// Calls the servant, who writes its results behind the reply's header.
    #[inline(always)]
    pub(super) fn run<'b>(
        &self,
        servant: &dyn Servant,
        arguments: Decoder<'_>,
        reply: Encoder<'b>,
        pool: &'b mut ReusePool,
    ) -> (Result<Outcome, SystemException>, Encoder<'b>) {
        let request = &self.incoming.header;
        let alignment = if self.message.header.version >= Version::V1_2 {
            8
        } else {
            1
        };
        let two_way = request.response == ResponseFlags::WithTarget;
        let mut upcall = Upcall::new(request.operation, arguments, reply, alignment, two_way, pool)
            .from_peer(self.message.peer.peer);
        let result = run_servant(servant, &mut upcall);
        let outcome = upcall.outcome();
        (result.map(|()| outcome), upcall.into_reply())
    }

    /// Starts a reply with the header that it has where all goes well.
    #[inline(always)]
    pub(super) fn begin_reply<'b>(
        &self,
        reply: &'b mut Vec<u8>,
    ) -> Result<(Encoder<'b>, ReplyHeaderAt), MessageError> {
        let Self {
            core,
            lane,
            message,
            incoming,
        } = *self;
        begin_reply(
            core,
            lane,
            message.char_set,
            &incoming.header,
            message.header,
            reply,
        )
    }
}

/// Writes the reply to a request that is not served. Returns whether its client expects one.
pub(super) fn refuse_request(
    core: &OrbCore,
    lane: &LaneContext,
    message: &RequestMessage<'_>,
    exception: &SystemException,
    reply: &mut Vec<u8>,
) -> Result<bool, MessageError> {
    let header = message.header;
    let (request, _) = RequestHeader::decode(message.octets, header).map_err(|_| MessageError)?;
    let (encoder, reply_header) = begin_reply(core, lane, message.char_set, &request, header, reply)?;
    fail(encoder, reply_header, exception, request.response)
}
