use crate::OrbError;

/// How much may wait in a lane's queue of requests. Its memory is taken and touched when the queue is made, and never grows.
///
/// CORBA's 0, no limit, is not to be had: memory that peers can fill needs a bound.
///
/// ```
/// use punctual_orb::{Orb, QueueLimits};
///
/// let orb = Orb::builder().build()?;
/// let limits = QueueLimits { requests: 64, octets: 256 << 10 };
/// let pool = orb.threadpool().threads(2).request_buffering(limits).build()?;
/// assert_eq!(pool.statistics()[0].1.queue.limits, Some(limits));
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QueueLimits {
    /// Requests, at least 1: `max_buffered_requests`. Default 256.
    pub requests: usize,
    /// Octets of their messages together, at least 1: `max_request_buffer_size`. A request larger than this can never wait and
    /// is refused with IMP_LIMIT. Default 1 MiB.
    pub octets: usize,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self {
            requests: 256,
            octets: 1 << 20,
        }
    }
}

impl QueueLimits {
    pub(crate) fn check(self) -> Result<Self, OrbError> {
        if self.requests == 0 || self.octets == 0 {
            return Err(OrbError::QueueWithoutRoom);
        }
        Ok(self)
    }
}

/// What the queue of a lane has seen, in [`crate::LaneStatistics`].
///
/// ```
/// use punctual_orb::{Orb, QueueLimits};
///
/// let orb = Orb::builder().build()?;
/// let pool = orb.threadpool().request_buffering(QueueLimits::default()).build()?;
/// let queue = pool.statistics()[0].1.queue;
/// assert_eq!((queue.requests, queue.octets, queue.refused), (0, 0, 0), "nobody has called");
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct QueueStatistics {
    /// What may wait; `None`: the lane has no queue, its requests wait in the sockets.
    pub limits: Option<QueueLimits>,
    /// Requests that wait now.
    pub requests: usize,
    /// Octets of their messages.
    pub octets: usize,
    /// The most requests that have waited at once.
    pub most_requests: usize,
    /// Requests that were let in.
    pub accepted: u64,
    /// Requests that found it full: with buffering refused, on redispatch run where they came.
    pub refused: u64,
    /// Requests that their clients have taken back while they waited.
    pub cancelled: u64,
}

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
