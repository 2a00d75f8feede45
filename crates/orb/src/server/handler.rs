//! Step 11 of a call: the request handler of the ORB's lanes receives the message.

use std::{cell::RefCell, sync::Arc, thread::LocalKey, time::Instant};

use punctual_giop::ListenPoint;
use punctual_lane::{
    ConnectionId, Disposition, MessageError, RequestHandler, RequestMessage, ServingSlot, ServingThread,
};
use punctual_sched::NetworkPriorityMapping;
use punctual_transport::Peer;
use punctual_types::{Priority, SystemException};

use super::{Buffers, RequestDispatcher, locate, request};
use crate::{
    accepted_priorities::Origin,
    bound_band::BoundBand,
    client::{self, Permit, SharedPurpose},
    lane_data::{LaneContext, LaneData},
    turn,
};

thread_local! {
    static SERVING: RefCell<Option<ServingThread<RequestDispatcher>>> = const { RefCell::new(None) };
}

impl RequestHandler for RequestDispatcher {
    type LaneData = LaneData;
    type PeerData = Origin;
    type Purpose = SharedPurpose;
    type Permit = Permit;
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
        let answered = request::answer_request(self, lane, request, buffers, reply);
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
        request: &RequestMessage<'_, Self>,
        exception: &SystemException,
        reply: &mut Vec<u8>,
    ) -> Result<bool, MessageError> {
        request::refuse_request(self, lane, request, exception, reply)
    }

    fn is_held(&self, request: &RequestMessage<'_, Self>) -> bool {
        request::is_held(self, request)
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

    fn connected(origin: &Origin) {
        origin.band.count();
    }

    fn disconnected(origin: &Origin) {
        origin.band.release();
    }

    fn enter_lane(lane: &LaneData) -> impl Drop {
        client::use_connections_of(&lane.calls)
    }

    fn set_apart() -> impl Drop {
        turn::set_apart()
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

impl ServingSlot for RequestDispatcher {
    fn serving_thread() -> &'static LocalKey<RefCell<Option<ServingThread<Self>>>> {
        &SERVING
    }
}
