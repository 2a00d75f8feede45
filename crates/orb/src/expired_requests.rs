//! What happens to requests whose deadline has passed.

/// Whether a lane serves a request whose deadline has passed. Without the deadline in the request, always.
///
/// The deadline is what the client says in the service context INVOCATION_POLICIES. A dropped request has no upcall; its client
/// gets TIMEOUT, not completed, where it waits for a reply, and [`crate::LaneStatistics::expired`] counts it.
///
/// ```
/// use punctual_orb::{ExpiredRequests, Orb, QueueLimits};
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
    /// They are served.
    #[default]
    Serve,
    /// Dropped where the relative time-out (RelativeRequestTimeout or RelativeRoundtripTimeout) has passed since the lane read
    /// the request off its socket.
    ///
    /// That is the time in the lane's queue. The time in the network and in the kernel's buffer is not seen: without request
    /// buffering, requests wait there only.
    DropByWaitingTime,
    /// Also where an absolute time (RequestEndTime or ReplyEndTime) has passed by this host's clock.
    ///
    /// Only for hosts whose clocks agree: a client whose clock is behind by more than its time-outs is never served.
    DropByClock,
}
