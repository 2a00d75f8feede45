//! Counters of a lane, and the statistics derived from them.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{QueueLimits, ServiceTimes};

/// Counters of a lane since its creation, and its present state.
///
/// ```
/// # use punctual_lane as punctual;
/// use punctual::LaneStatistics;
///
/// let LaneStatistics { requests, misdirected, queue, .. } = LaneStatistics::default();
/// assert_eq!((requests, misdirected, queue.requests), (0, 0, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct LaneStatistics {
    /// Requests received, including those that reached no servant: refused, forwarded, or for objects that do
    /// not exist.
    pub requests: u64,
    /// Requests whose propagated priority belongs to another lane: the client cannot interpret the endpoints
    /// of lanes, or forges priorities. A priority that no lane has belongs to none, as from clients with
    /// bands of their own; nor does one within the band that the connection is bound to.
    pub misdirected: u64,
    /// Misdirected requests that were passed to their lane, if the adapter requests redispatch.
    pub redispatched: u64,
    /// Requests refused for a priority above the highest accepted one, or outside the band that their
    /// connection is bound to.
    pub refused_priorities: u64,
    /// Requests dropped because their deadline had passed.
    pub expired: u64,
    /// Requests that took longer than the timeout that their clients stated; counted only if service times
    /// are recorded.
    pub late: u64,
    /// Requests whose servants took a response handler, to answer later.
    pub deferred: u64,
    /// Response handlers that were dropped without an answer.
    pub unanswered: u64,
    /// Replies that its threads have passed to callers that share a connection.
    pub replies: u64,
    /// Replies that arrived after their callers had given up, and were dropped.
    pub late_replies: u64,
    /// Connections from clients, and to servers.
    pub connections: ConnectionStatistics,
    /// Threads, and requests that went to or came from those of other lanes.
    pub threads: ThreadStatistics,
    /// Statistics of its request queue.
    pub queue: QueueStatistics,
}

/// Connections of a lane: those now open, and why others were closed.
///
/// ```
/// # use punctual_lane as punctual;
/// use punctual::LaneStatistics;
///
/// let connections = LaneStatistics::default().connections;
/// assert_eq!((connections.open, connections.refused), (0, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ConnectionStatistics {
    /// Connections from clients now open.
    pub open: usize,
    /// Connections to servers now open that callers share.
    pub shared: usize,
    /// Octets of memory kept for incomplete messages, unread replies and large buffers of connections.
    pub memory: usize,
    /// Times that a connection had to wait because the lane had spent its share of processor time on messages
    /// for which no request was served.
    pub put_off: u64,
    /// Connections closed because the lane or their peer had reached a limit, and no other one was idle.
    pub refused: u64,
    /// Connections closed because their peers had more requests refused, or sent more LocateRequests and
    /// CancelRequests, than the limits permit.
    pub exhausted_budgets: u64,
    /// Connections closed because a message was not GIOP, too large, or never complete.
    pub protocol_errors: u64,
    /// Connections closed because nothing arrived over them for the idle time of the limits, or because they
    /// were idle for longest, or stalled in the middle of a message, when another client connected and there
    /// was no room.
    pub idle: u64,
    /// Connections closed because their clients did not read replies in the completion time of a message.
    pub unread_replies: u64,
    /// Connections closed because they kept most of the lane's memory when that reached its limit.
    pub exhausted_memory: u64,
}

/// Threads of a lane.
///
/// ```
/// # use punctual_lane as punctual;
/// use punctual::LaneStatistics;
///
/// let threads = LaneStatistics::default().threads;
/// assert_eq!((threads.present, threads.busy, threads.stack), (0, 0, None));
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ThreadStatistics {
    /// Present threads: static and dynamic ones, those that call `Orb::run`, and borrowed ones.
    pub present: usize,
    /// Threads that are serving a request now.
    pub busy: usize,
    /// Their stacks. `None`: the threads are the user's own, or cannot be measured.
    pub stack: Option<StackUse>,
    /// Dynamic threads started so far.
    pub dynamic: u64,
    /// Dynamic threads that the system refused: the requests were served later, by existing threads.
    pub failures: u64,
    /// Requests served by threads of lower lanes because all of the lane's own were busy.
    pub borrowed: u64,
    /// Requests of higher lanes that its threads have served.
    pub lent: u64,
    /// Calls of its threads that were refused because they would have waited for themselves.
    pub deadlocks: u64,
}

/// Stacks of a lane's threads.
///
/// ```
/// # use punctual_lane as punctual;
/// use punctual::LaneStatistics;
///
/// assert_eq!(LaneStatistics::default().threads.stack, None);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct StackUse {
    /// Size of each stack in octets.
    pub size_bytes: usize,
    /// Most octets that one thread has used so far, ended threads included.
    pub used_bytes: usize,
}

/// Statistics of a lane's request queue.
///
/// ```
/// # use punctual_lane as punctual;
/// use punctual::QueueStatistics;
///
/// assert_eq!(QueueStatistics::default().limits, None);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct QueueStatistics {
    /// Capacity; `None`: the lane has no queue, its requests wait in the sockets.
    pub limits: Option<QueueLimits>,
    /// Requests that wait now.
    pub requests: usize,
    /// Total size of their messages in octets.
    pub octets: usize,
    /// Largest number of requests that have waited at once.
    pub most_requests: usize,
    /// Requests that were admitted.
    pub accepted: u64,
    /// Requests that found the queue full: refused if the lane buffers, served where they arrived if they
    /// were redispatched.
    pub refused: u64,
    /// Requests that their clients have cancelled while they waited.
    pub cancelled: u64,
}

/// Counters of requests and replies, and of the lane's parts.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) requests: Counter,
    pub(crate) misdirected: Counter,
    pub(crate) redispatched: Counter,
    pub(crate) refused_priorities: Counter,
    pub(crate) expired: Counter,
    pub(crate) late: Counter,
    pub(crate) deferred: Counter,
    pub(crate) unanswered: Counter,
    pub(crate) replies: Counter,
    pub(crate) late_replies: Counter,
    pub(crate) connections: ConnectionCounters,
    pub(crate) threads: ThreadCounters,
    /// Histogram of service times, if they are recorded.
    pub(crate) service_times: Option<ServiceTimes>,
}

/// Counters of connections.
#[derive(Default)]
pub(crate) struct ConnectionCounters {
    pub(crate) put_off: Counter,
    pub(crate) refused: Counter,
    pub(crate) exhausted_budgets: Counter,
    pub(crate) protocol_errors: Counter,
    pub(crate) idle: Counter,
    pub(crate) unread_replies: Counter,
    pub(crate) exhausted_memory: Counter,
}

/// Counters of threads.
#[derive(Default)]
pub(crate) struct ThreadCounters {
    pub(crate) dynamic: Counter,
    pub(crate) failures: Counter,
    pub(crate) borrowed: Counter,
    pub(crate) lent: Counter,
    pub(crate) deadlocks: Counter,
}

impl Counters {
    pub(crate) fn new(records_service_times: bool) -> Self {
        Self {
            service_times: records_service_times.then(ServiceTimes::default),
            ..Self::default()
        }
    }

    /// Values of the counters, without the state of the lane.
    pub(crate) fn read(&self) -> LaneStatistics {
        LaneStatistics {
            requests: self.requests.get(),
            misdirected: self.misdirected.get(),
            redispatched: self.redispatched.get(),
            refused_priorities: self.refused_priorities.get(),
            expired: self.expired.get(),
            late: self.late.get(),
            deferred: self.deferred.get(),
            unanswered: self.unanswered.get(),
            replies: self.replies.get(),
            late_replies: self.late_replies.get(),
            connections: self.connections.read(),
            threads: self.threads.read(),
            queue: QueueStatistics::default(),
        }
    }
}

impl ConnectionCounters {
    fn read(&self) -> ConnectionStatistics {
        ConnectionStatistics {
            put_off: self.put_off.get(),
            refused: self.refused.get(),
            exhausted_budgets: self.exhausted_budgets.get(),
            protocol_errors: self.protocol_errors.get(),
            idle: self.idle.get(),
            unread_replies: self.unread_replies.get(),
            exhausted_memory: self.exhausted_memory.get(),
            ..ConnectionStatistics::default()
        }
    }
}

impl ThreadCounters {
    fn read(&self) -> ThreadStatistics {
        ThreadStatistics {
            dynamic: self.dynamic.get(),
            failures: self.failures.get(),
            borrowed: self.borrowed.get(),
            lent: self.lent.get(),
            deadlocks: self.deadlocks.get(),
            ..ThreadStatistics::default()
        }
    }
}

#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
