//! Treatment of requests whose deadline has passed.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use punctual_giop::{INVOCATION_POLICIES, ServiceContexts, decode_invocation_policies};

/// Treatment of requests whose deadline has passed. Requests without a deadline are always served. The client
/// sends the deadline in the service context INVOCATION_POLICIES. A dropped request causes no upcall; a
/// client that waits for a reply receives TIMEOUT, completed NO, and [`crate::LaneStatistics::expired`]
/// counts the request.
///
/// ```
/// # use punctual_orb as punctual;
/// use punctual::{ExpiredRequests, Orb, QueueLimits};
///
/// let orb = Orb::builder().build()?;
/// let pool = orb
///     .threadpool()
///     .request_buffering(QueueLimits::default())
///     .expired_requests(ExpiredRequests::DropByWaitingTime)
///     .build()?;
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ExpiredRequests {
    /// Expired requests are served.
    #[default]
    Serve,
    /// Requests are dropped if the relative timeout (RelativeRequestTimeout or RelativeRoundtripTimeout) has
    /// passed since the lane read the request from its socket. This measures the time in the lane's queue,
    /// but not the time in the network and in the kernel's buffer; without request buffering, requests wait
    /// only there.
    DropByWaitingTime,
    /// Requests are also dropped if an absolute time (RequestEndTime or ReplyEndTime) has passed by this
    /// host's clock. Only for hosts with synchronised clocks: a client whose clock is behind by more than its
    /// timeouts is never served.
    DropByClock,
}

impl ExpiredRequests {
    /// Returns whether a request is to be dropped, because its deadline has passed. Malformed deadlines are
    /// ignored. A relative time starts when the request was read, since its transmission time is unknown; the
    /// check is therefore never too strict. A request that was read just now has not waited.
    pub(crate) fn drops(self, contexts: ServiceContexts<'_>, read_at: Option<Instant>) -> bool {
        if self == ExpiredRequests::Serve {
            return false;
        }
        let Some(policies) = contexts
            .find(INVOCATION_POLICIES)
            .and_then(|data| decode_invocation_policies(data).ok())
        else {
            return false;
        };
        let waited_too_long = || {
            let (wanted_for, read_at) = policies.wanted_for().zip(read_at)?;
            Some(read_at.elapsed() >= wanted_for)
        };
        let is_stale = || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            Some(now >= policies.stale_from()?)
        };
        waited_too_long() == Some(true) || self == ExpiredRequests::DropByClock && is_stale() == Some(true)
    }
}
