//! A request in service: its object and priorities, and the call of its servant.

use punctual_cdr::{Decoder, Encoder, Ior};
use punctual_flight::{Event, Record, model, record};
use punctual_giop::{BIND_PRIORITY_BAND, IncomingRequest, ResponseFlags, Version};
use punctual_lane::{MessageError, Redispatch, RequestMessage};
use punctual_poa::InFlight;
use punctual_stub::{Outcome, ReusePool, Servant, Upcall};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    ActiveObject, Demultiplexed, Placement, RequestDispatcher, band_binding,
    reply::{ReplyHeaderAt, begin_reply},
    run_servant,
};
use crate::{PriorityModel, lane_data::LaneContext};

/// A request that is being served.
pub(super) struct Serving<'r> {
    pub(super) dispatcher: &'r RequestDispatcher,
    pub(super) lane: &'r LaneContext,
    pub(super) message: &'r RequestMessage<'r, RequestDispatcher>,
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
            dispatcher,
            lane,
            message,
            ..
        } = *self;
        let origin = message.peer;
        let request = &self.incoming.header;
        let object = match request
            .target
            .object_key()
            .map(|key| dispatcher.objects.demultiplex(key))
        {
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
            Ok(priority) => object.placement(
                &dispatcher.configuration,
                lane,
                origin,
                message.may_move,
                priority,
            ),
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
            dispatcher,
            lane,
            message,
            incoming,
        } = *self;
        begin_reply(
            dispatcher,
            lane,
            message.char_set,
            &incoming.header,
            message.header,
            reply,
        )
    }
}
