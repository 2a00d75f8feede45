use std::sync::Arc;

use punctual_cdr::{CharSet, Decoder, Encoder, Ior};
use punctual_flight::{Event, Record, model, operation_id, record};
use punctual_giop::{
    BIND_PRIORITY_BAND, IncomingRequest, MessageHeader, ReplyStatus, RequestHeader, ResponseFlags, Version,
};
use punctual_poa::InFlight;
use punctual_stub::{Outcome, ReusePool, Servant, Upcall};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    ActiveObject, Answer, Arrival, Buffers, Demultiplexed, Placement, Unintelligible, band_binding, expiry,
    intercepted::Lent,
    reply::{ReplyHeaderAt, begin_reply, fail, finish, forward},
    run_servant,
};
use crate::{
    PriorityModel, QueueLimits, accepted_priorities::Origin, current, lane::Lane, orb_core::OrbCore,
};

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
        seen,
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
    let body = incoming.body;
    let serving = Serving {
        core,
        lane,
        origin,
        arrival,
        char_set,
        header,
        incoming: &incoming,
    };
    if expiry::has_expired(lane.expired_requests, request.contexts, arrival.read_at) {
        lane.count_expired();
        let exception = SystemException::new(
            SystemExceptionKind::Timeout,
            Minor::REQUEST_EXPIRED,
            Completion::No,
        );
        let (encoder, reply_header) = serving.begin_reply(reply)?;
        return fail(encoder, reply_header, &exception, request.response);
    }
    let arguments = Decoder::new(message, header.endian)
        .with_char_set(char_set)
        .with_arena(arena)
        .with_nesting_limit(core.limits.max_nesting)
        .with_context(orb)
        .with_fragments(fragment_starts)
        .at(body);
    if !core.interceptors.server.is_empty() && request.operation != BIND_PRIORITY_BAND {
        let lent = Lent {
            reply,
            pool,
            orb,
            served_at,
            seen,
        };
        return serving.answer_intercepted(arguments, lent);
    }
    let (encoder, reply_header) = serving.begin_reply(reply)?;
    let (object, placement) = match serving.find() {
        Found::Here(object, placement) => (object, placement),
        Found::Bound => return finish(encoder, request.response),
        Found::Elsewhere(lane, limits) => return Ok(Answer::Elsewhere(lane, limits)),
        Found::Forward(ior) => return forward(encoder, reply_header, &ior, request.response),
        Found::Refused(exception) => return fail(encoder, reply_header, &exception, request.response),
    };
    *served_at = placement.current;
    let (end, mut encoder) = {
        let _native = placement.enter();
        let _current = current::during_upcall(placement.current, object.transform.as_ref());
        serving.run(&*object.servant, arguments, encoder, pool)
    };
    drop(object);
    match end {
        // A oneway call with a reply from the server, whatever becomes of it.
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
    }
}

/// A request that is being served.
pub(super) struct Serving<'r> {
    pub(super) core: &'r OrbCore,
    pub(super) lane: &'r Lane,
    pub(super) origin: &'r Origin,
    pub(super) arrival: Arrival,
    pub(super) char_set: CharSet,
    pub(super) header: &'r MessageHeader,
    pub(super) incoming: &'r IncomingRequest<'r>,
}

/// What a request leads to.
pub(super) enum Found<'c> {
    /// Its object, to be called at these priorities.
    Here(InFlight<'c, ActiveObject>, Placement),
    /// Nothing more to do: it has bound its connection to a band.
    Bound,
    /// This lane, which may take it within these limits.
    Elsewhere(Arc<Lane>, QueueLimits),
    /// Another place, which the client is to ask.
    Forward(Ior),
    /// It is not served.
    Refused(SystemException),
}

impl<'r> Serving<'r> {
    #[inline(always)]
    pub(super) fn find(&self) -> Found<'r> {
        let Self {
            core,
            lane,
            origin,
            arrival,
            ..
        } = *self;
        let request = &self.incoming.header;
        let object = match request.target.object_key().map(|key| core.demultiplex(key)) {
            Some(Demultiplexed::Object(object)) => object,
            Some(Demultiplexed::Published(ior)) => return Found::Forward((*ior).clone()),
            Some(Demultiplexed::Unknown) | None => {
                let (kind, minor) = (SystemExceptionKind::ObjectNotExist, Minor::TARGET_KEY_UNKNOWN);
                return Found::Refused(SystemException::new(kind, minor, Completion::No));
            }
        };
        if object.poa.pool_id() != lane.pool {
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
            Ok(priority) => object.placement(core, lane, origin, arrival.may_move, priority),
            Err(error) => Err(error.system_exception(Completion::No)),
        };
        let mut placement = match placement {
            Ok(placement) => placement,
            Err(exception) => return Found::Refused(exception),
        };
        if let Some((lane, limits)) = placement.elsewhere.take() {
            return Found::Elsewhere(lane, limits);
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
        let alignment = if self.header.version >= Version::V1_2 {
            8
        } else {
            1
        };
        let two_way = request.response == ResponseFlags::WithTarget;
        let mut upcall = Upcall::new(request.operation, arguments, reply, alignment, two_way, pool)
            .sent_by(self.origin.peer);
        let result = run_servant(servant, &mut upcall);
        let outcome = upcall.outcome();
        (result.map(|()| outcome), upcall.into_reply())
    }

    /// Starts a reply with the header that it has where all goes well.
    #[inline(always)]
    pub(super) fn begin_reply<'b>(
        &self,
        reply: &'b mut Vec<u8>,
    ) -> Result<(Encoder<'b>, ReplyHeaderAt), Unintelligible> {
        let Self {
            core,
            lane,
            char_set,
            header,
            ..
        } = *self;
        begin_reply(core, lane, char_set, &self.incoming.header, header, reply)
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
