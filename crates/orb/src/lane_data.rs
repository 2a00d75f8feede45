//! Data that the ORB keeps with each lane.

use std::sync::Arc;

use punctual_inspect::OpenByBand;

use crate::{ExpiredRequests, client::ConnectionCache};

pub(crate) type LaneContext = punctual_lane::LaneContext<LaneData>;

/// Data that the ORB keeps with each lane.
pub(crate) struct LaneData {
    /// Connections of the calls that threads of the lane make.
    pub(crate) calls: Arc<ConnectionCache>,
    /// Accepted connections by the band that they are bound to.
    pub(crate) by_band: Arc<OpenByBand>,
    pub(crate) expired_requests: ExpiredRequests,
}
