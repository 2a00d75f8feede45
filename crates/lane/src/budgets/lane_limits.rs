//! Limits of a lane and of its request queue.

use std::time::Duration;

/// Limits of a lane. Exceeding one is an error for the peer or caller concerned and has no other effect.
#[derive(Clone, Debug)]
pub struct LaneLimits {
    /// Largest message in octets, fragments assembled; received or waiting to be sent.
    pub max_message_size: usize,
    /// Octets that a buffer of a thread keeps from one message to the next.
    pub max_kept_buffer: usize,
    /// Octets of memory that connections keep for incomplete messages, unread replies and further messages;
    /// above it, the one that keeps most is closed. Twice the largest message is always permitted.
    pub max_memory: usize,
    /// Limits of accepted connections.
    pub accepting: AcceptLimits,
    /// Processor time that the lane spends on messages for which no request is served, in percent of one
    /// processor, from 1 to 100.
    pub unserved_percent: u32,
    /// Incomplete fragmented messages of one connection, in each direction.
    pub max_fragmented_messages: usize,
    /// Octets from which a message is sent in fragments of this size; `None`: never.
    pub fragment_size: Option<usize>,
    /// Whether peers may make their connections bidirectional.
    pub accepts_bidirectional: bool,
    /// Refused requests of a connection in excess of served ones; each second restores a thirtieth. The
    /// connection is closed at the next one.
    pub max_refused_requests: u32,
    /// LocateRequests, CancelRequests and forwarded requests, in the same way.
    pub max_unserved_messages: u32,
    /// Outstanding calls over one shared connection.
    pub max_shared_calls: usize,
    /// Longest time from the first octet of a message to its last, and for a server to accept what waits to
    /// be sent.
    pub message_completion: Duration,
    /// Time after which an unused connection is closed; `None`: never.
    pub connection_idle: Option<Duration>,
}

/// Limits of the connections that a lane accepts.
#[derive(Clone, Debug)]
pub struct AcceptLimits {
    /// Connections of clients; for a further one the connection that is idle for longest is closed.
    pub connections: usize,
    /// Connections of one host, or of one process of this host that does not use TCP.
    pub per_peer: usize,
    /// Connections per second of such a peer, after `per_peer` at once.
    pub rate_per_peer: u32,
    /// Connections that an acceptor accepts before connections that are ready are served; at least 1.
    pub per_wake_up: usize,
    /// Processor time that the lane spends on accepting, in percent of one processor, from 1 to 100.
    pub percent: u32,
}

/// Capacity of a lane's request queue. Its memory is allocated and prefaulted when the queue is created, and
/// never grows.
///
/// CORBA's 0 (no limit) is refused: memory that peers can fill needs a bound.
///
/// ```
/// # use punctual_lane as punctual;
/// use punctual::QueueLimits;
///
/// let limits = QueueLimits { requests: 64, octets: 256 << 10 };
/// assert!(limits.octets < QueueLimits::default().octets);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QueueLimits {
    /// Number of requests, at least 1: `max_buffered_requests`. Default 256.
    pub requests: usize,
    /// Total size of their messages in octets, at least 1: `max_request_buffer_size`. A request larger than
    /// this can never wait and is refused with IMP_LIMIT. Default 1 MiB.
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
