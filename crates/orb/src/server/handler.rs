//! The request handler of the ORB's lanes.

use std::{cell::RefCell, sync::Arc, thread::LocalKey};

use punctual_cdr::Arena;
use punctual_giop::LastRequest;
use punctual_lane::{Disposition, MessageError, RequestHandler, RequestMessage, ServingSlot, ServingThread};
use punctual_sched::NetworkPriorityMapping;
use punctual_stub::ReusePool;
use punctual_transport::Peer;
use punctual_types::{Priority, SystemException};

use super::{Buffers, RequestDispatcher, locate, request};
use crate::{
    accepted_priorities::Origin,
    bound_band::BoundBand,
    client::{self, Permit, Purpose},
    interception::SeenRequest,
    lane_data::{LaneContext, LaneData},
};

const FIRST_ARENA: usize = 8 << 10;

thread_local! {
    static SERVING: RefCell<Option<ServingThread<RequestDispatcher>>> = const { RefCell::new(None) };
}

impl RequestHandler for RequestDispatcher {
    type LaneData = LaneData;
    type PeerData = Origin;
    type Purpose = Purpose;
    type Permit = Permit;
    type Buffers = Buffers;

    fn new_buffers(self: &Arc<Self>) -> Buffers {
        Buffers {
            last: LastRequest::new(),
            arena: Arena::with_capacity(FIRST_ARENA),
            pool: ReusePool::default(),
            orb: self.orb.clone(),
            seen: SeenRequest::default(),
        }
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
        request::answer_request(self, lane, request, buffers, reply)
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

    fn accepted(lane: &LaneData, peer: Peer, highest: Priority) -> Origin {
        Origin {
            peer,
            highest,
            band: BoundBand::among(&lane.by_band),
        }
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

    fn lane_ended(lane: &LaneData) {
        lane.calls.clear();
    }
}

impl ServingSlot for RequestDispatcher {
    fn serving_thread() -> &'static LocalKey<RefCell<Option<ServingThread<Self>>>> {
        &SERVING
    }
}
