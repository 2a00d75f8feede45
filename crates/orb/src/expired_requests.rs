//! Treatment of requests whose deadline has passed.

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
    /// not in the network and the kernel's buffer, the only place where requests wait without request
    /// buffering.
    DropByWaitingTime,
    /// Requests are also dropped if an absolute time (RequestEndTime or ReplyEndTime) has passed by this
    /// host's clock. Only for hosts with synchronised clocks: a client whose clock is behind by more than its
    /// timeouts is never served.
    DropByClock,
}
