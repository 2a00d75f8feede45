//! Step 7 of a call: the request handler of the ORB's lanes decodes the request, unless its deadline has
//! passed, and has it served (step 8).

use std::{cell::RefCell, sync::Arc, thread::LocalKey, time::Instant};

use punctual_cdr::Decoder;
use punctual_flight::{Event, Record, record_operation};
use punctual_giop::{BIND_PRIORITY_BAND, ListenPoint, RequestHeader};
use punctual_lane::{
    ConnectionData, ConnectionId, Disposition, MessageError, RequestHandler, RequestMessage, ServingSlot,
    ServingThread,
};
use punctual_sched::NetworkPriorityMapping;
use punctual_transport::Peer;
use punctual_types::{Priority, SystemException};

use super::{
    Buffers, RequestDispatcher,
    intercepted::ServingBuffers,
    locate,
    reply::{begin_reply, fail},
    serving::Serving,
};
use crate::{
    bound_band::BoundBand,
    client::{self, Permit, SharedPurpose},
    poa_state::servant_manager_turn,
    pools::{
        accepted_priorities::Origin,
        lane_data::{LaneContext, LaneData},
    },
};

thread_local! {
    static SERVING: RefCell<Option<ServingThread<RequestDispatcher>>> = const { RefCell::new(None) };
}

impl RequestHandler for RequestDispatcher {
    type LaneData = LaneData;
    type Buffers = Buffers;

    fn new_buffers(self: &Arc<Self>) -> Buffers {
        Buffers::new(self.orb.clone(), self.configuration.limits.max_kept_buffer)
    }

    fn network_priority_mapping(&self) -> &dyn NetworkPriorityMapping {
        &*self.configuration.network_mapping
    }

    #[inline]
    fn handle_request(
        &self,
        lane: &LaneContext,
        request: &RequestMessage<'_, Self>,
        buffers: &mut Buffers,
        reply: &mut Vec<u8>,
    ) -> Result<Disposition, MessageError> {
        let answered = answer_request(self, lane, request, buffers, reply);
        buffers.free_large(self.configuration.limits.max_kept_buffer);
        answered
    }

    fn handle_locate(
        &self,
        lane: &LaneContext,
        request: &RequestMessage<'_, Self>,
        reply: &mut Vec<u8>,
    ) -> Result<(), MessageError> {
        locate::answer_locate(self, lane, request, reply)
    }

    fn refuse_request(
        &self,
        lane: &LaneContext,
        message: &RequestMessage<'_, Self>,
        exception: &SystemException,
        reply: &mut Vec<u8>,
    ) -> Result<bool, MessageError> {
        let header = message.header;
        let (request, _) = RequestHeader::decode(message.octets, header).map_err(|_| MessageError)?;
        let (encoder, reply_header) = begin_reply(self, lane, message.code_sets, &request, header, reply)?;
        fail(encoder, reply_header, exception, request.response)
    }

    fn is_held(&self, message: &RequestMessage<'_, Self>) -> bool {
        let Ok((request, _)) = RequestHeader::decode(message.octets, message.header) else {
            return false;
        };
        let key = request.target.object_key().unwrap_or_default();
        self.objects.is_held(key)
    }

    fn accepted(lane: &LaneData, peer: Peer, highest: Priority) -> Origin {
        Origin {
            peer,
            highest,
            band: BoundBand::among(&lane.by_band),
        }
    }

    fn accept_bidirectional(&self, origin: &Origin, points: &[ListenPoint]) -> Option<SharedPurpose> {
        let rules = self.configuration.bidirectional.iter();
        let mut permitted = rules.map(|rule| rule.permitted(origin.peer, points));
        let addresses = permitted.find(|addresses| !addresses.is_empty())?;
        Some(SharedPurpose::Accepted(addresses))
    }

    fn enter_lane(lane: &LaneData) -> impl Drop {
        client::use_connections_of(&lane.calls)
    }

    fn set_apart() -> impl Drop {
        servant_manager_turn::set_apart()
    }

    fn lane_ended(lane: &LaneData) {
        lane.calls.clear();
    }

    fn cancel_deferred(lane: &LaneData, connection: ConnectionId, request_id: u32) -> bool {
        lane.deferred.cancel(connection, request_id)
    }

    fn expire_deferred(lane: &LaneData, now: Instant) -> Option<Instant> {
        lane.deferred.expire(now)
    }

    fn end_deferred(lane: &LaneData) {
        lane.deferred.end();
    }
}

impl ConnectionData for RequestDispatcher {
    type PeerData = Origin;
    type Purpose = SharedPurpose;
    type Permit = Permit;

    fn connected(origin: &Origin) {
        origin.band.count();
    }

    fn disconnected(origin: &Origin) {
        origin.band.release();
    }
}

impl ServingSlot for RequestDispatcher {
    fn serving_thread() -> &'static LocalKey<RefCell<Option<ServingThread<Self>>>> {
        &SERVING
    }
}

/// Serves a request and writes the reply.
fn answer_request(
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
    let decoded = last.decode(message.octets, header);
    // Borrowed: it is large.
    let Ok(incoming) = &decoded else {
        return Err(MessageError);
    };
    let request = &incoming.header;
    record_operation(request.operation, || {
        Record::new(Event::Served)
            .request(request.request_id)
            .link(message.link)
            .priority(lane.priority().map(Priority::value))
    });
    arena.reset();
    let body = incoming.body;
    let serving = Serving {
        dispatcher,
        lane,
        message,
        incoming,
    };
    let expired = lane.data.expired_requests;
    if expired.drops(request.contexts, message.read_at) {
        return serving.refuse_expired(reply);
    }
    // Made where it is used: a copy of it costs as much.
    let arguments = || {
        Decoder::new(message.octets, header.endian)
            .with_code_sets(message.code_sets)
            .with_arena(arena)
            .with_nesting_limit(dispatcher.configuration.limits.max_nesting)
            .with_decoded_limit(dispatcher.configuration.limits.max_decoded_size)
            .with_context(orb)
            .with_fragments(message.fragment_starts)
            .at(body)
    };
    if !dispatcher.interceptors.server.is_empty() && request.operation != BIND_PRIORITY_BAND {
        let buffers = ServingBuffers {
            reply,
            pool,
            orb,
            seen,
        };
        return serving.answer_intercepted(arguments(), buffers);
    }
    serving.answer(arguments(), pool, reply)
}
