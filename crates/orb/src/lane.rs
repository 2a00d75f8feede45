//! Lanes as the ORB uses them: the types of `punctual_lane` with the ORB as request handler.

use std::sync::Arc;

use crate::{ExpiredRequests, client::ConnectionCache, open_by_band::OpenByBand, orb_core::OrbCore};

pub(crate) type Lane = punctual_lane::Lane<OrbCore>;
pub(crate) type LaneContext = punctual_lane::LaneContext<LaneData>;
pub(crate) type SharedConnection = punctual_lane::SharedConnection<OrbCore>;
pub(crate) type BlockedThread = punctual_lane::BlockedThread<OrbCore>;
pub(crate) type ReplyLane = punctual_lane::ReplyLane<OrbCore>;
pub(crate) type RequestMessage<'m> = punctual_lane::RequestMessage<'m, OrbCore>;

/// What the ORB keeps with each lane.
pub(crate) struct LaneData {
    /// Connections of the calls that threads of the lane make.
    pub(crate) calls: Arc<ConnectionCache>,
    /// Accepted connections by the band that they are bound to.
    pub(crate) by_band: Arc<OpenByBand>,
    pub(crate) expired_requests: ExpiredRequests,
}
