//! The ORB as the request handler of its lanes.

use std::{cell::RefCell, sync::Arc, thread::LocalKey};

use punctual_cdr::Arena;
use punctual_giop::LastRequest;
use punctual_lane::{Disposition, MessageError, RequestHandler, ServingSlot, ServingThread};
use punctual_sched::NetworkPriorityMapping;
use punctual_stub::ReusePool;
use punctual_transport::Peer;
use punctual_types::{Priority, SystemException};

use super::{Buffers, locate, request};
use crate::{
    accepted_priorities::Origin,
    bound_band::BoundBand,
    client::{self, Permit, Purpose},
    interceptors::SeenRequest,
    lane::{LaneContext, LaneData, RequestMessage},
    orb_core::{OrbCore, context_of},
};

const FIRST_ARENA: usize = 8 << 10;

thread_local! {
    static SERVING: RefCell<Option<ServingThread<OrbCore>>> = const { RefCell::new(None) };
}

impl RequestHandler for OrbCore {
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
            orb: context_of(self),
            seen: SeenRequest::default(),
        }
    }

    fn network_priority_mapping(&self) -> &dyn NetworkPriorityMapping {
        &*self.network_mapping
    }

    #[inline]
    fn handle_request(
        &self,
        lane: &LaneContext,
        request: &RequestMessage<'_>,
        buffers: &mut Buffers,
        reply: &mut Vec<u8>,
    ) -> Result<Disposition, MessageError> {
        request::answer_request(self, lane, request, buffers, reply)
    }

    fn handle_locate(
        &self,
        lane: &LaneContext,
        request: &RequestMessage<'_>,
        reply: &mut Vec<u8>,
    ) -> Result<(), MessageError> {
        locate::answer_locate(self, lane, request, reply)
    }

    fn refuse_request(
        &self,
        lane: &LaneContext,
        request: &RequestMessage<'_>,
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

impl ServingSlot for OrbCore {
    fn serving_thread() -> &'static LocalKey<RefCell<Option<ServingThread<Self>>>> {
        &SERVING
    }
}
