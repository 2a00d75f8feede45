//! Data that the ORB keeps with each lane.

use std::{any::Any, sync::Arc, time::Instant};

use punctual_inspect::OpenByBand;
use punctual_lane::ConnectionId;

use crate::{ExpiredRequests, client::ConnectionCache};

pub(crate) type LaneContext = punctual_lane::LaneContext<LaneData>;

/// Data that the ORB keeps with each lane.
pub(crate) struct LaneData {
    /// Connections of the calls that threads of the lane make.
    pub(crate) calls: Arc<ConnectionCache>,
    /// Accepted connections by the band that they are bound to.
    pub(crate) by_band: Arc<OpenByBand>,
    pub(crate) expired_requests: ExpiredRequests,
    /// Requests whose servants answer later.
    pub(crate) deferred: Arc<dyn DeferredRequests>,
}

/// A lane's operations on requests whose servants answer later.
pub(crate) trait DeferredRequests: Any + Send + Sync {
    /// Withdraws a request; its client gets no reply. `false`: there is none, or it was answered.
    fn cancel(&self, connection: ConnectionId, request_id: u32) -> bool;

    /// Answers TIMEOUT to the requests whose deadlines have passed. Returns the next deadline.
    fn expire(&self, now: Instant) -> Option<Instant>;

    /// Answers NO_RESPONSE to all requests, and refuses further ones: the ORB ends.
    fn end(&self);
}
