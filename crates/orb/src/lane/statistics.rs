use std::sync::atomic::{AtomicU64, Ordering};

use crate::QueueStatistics;

/// What a lane has seen since it was made, and its state now.
///
/// ```
/// use punctual_orb::{LaneStatistics, Orb};
/// use punctual_types::Priority;
///
/// let orb = Orb::builder().build()?;
/// let pool = orb.threadpool().lane(Priority::MIN, 1).lane(Priority::MAX, 1).build()?;
/// for (priority, LaneStatistics { requests, misdirected, .. }) in pool.statistics() {
///     assert_eq!((requests, misdirected), (0, 0), "nobody has called lane {priority:?}");
/// }
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct LaneStatistics {
    /// Requests received, those included that no servant got: refused, forwarded, or for objects that do not exist.
    pub requests: u64,
    /// Requests whose propagated priority belongs to another lane: the client cannot read our endpoints, or forges.
    pub misdirected: u64,
    /// Those of them that were handed on to their lane: [`crate::PoaBuilder::redispatch`].
    pub redispatched: u64,
    /// Requests refused for a priority above the highest accepted one, or outside the band that their connection is bound to.
    pub refused_priorities: u64,
    /// Connections closed because the lane had its limit of them.
    pub refused_connections: u64,
    /// Requests dropped because their deadline had passed: [`crate::ExpiredRequests`].
    pub expired: u64,
    /// Requests that took longer than the time-out that their clients said in them; only counted where the ORB is inspected
    /// ([`crate::OrbBuilder::inspection`]).
    pub late: u64,
    /// Calls of its threads that were refused because they would have waited for themselves.
    pub deadlocks: u64,
    /// Connections closed because what came over them was not GIOP, or too large, or never complete.
    pub protocol_errors: u64,
    /// Connections closed because nothing came over them for as long as [`crate::Limits::connection_idle`] says.
    pub idle_connections: u64,
    /// Requests that threads of lower lanes have served, because all of its own were busy.
    pub borrowed: u64,
    /// Requests of higher lanes that its threads have served.
    pub lent: u64,
    /// Dynamic threads made so far.
    pub dynamic_threads: u64,
    /// Dynamic threads that the system refused: the requests were served later, by the threads there were.
    pub thread_failures: u64,
    /// Replies that its threads have handed to callers that share a connection.
    pub replies: u64,
    /// Replies that came after their callers had given up, and were dropped.
    pub late_replies: u64,
    /// Connections from clients now open.
    pub connections: usize,
    /// Connections to servers now open that callers share: [`crate::ConnectionMode::Shared`].
    pub shared_connections: usize,
    /// Threads now: static and dynamic ones, those that call `Orb::run`, and those that are borrowed at this moment.
    pub threads: usize,
    /// Threads that are serving a request now.
    pub busy: usize,
    /// Its queue of requests.
    pub queue: QueueStatistics,
}

/// What is counted as it happens.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) requests: Counter,
    pub(super) misdirected: Counter,
    pub(super) refused_priorities: Counter,
    pub(super) refused_connections: Counter,
    pub(super) protocol_errors: Counter,
    pub(super) redispatched: Counter,
    pub(super) expired: Counter,
    pub(super) late: Counter,
    pub(super) deadlocks: Counter,
    pub(super) idle_connections: Counter,
    pub(super) borrowed: Counter,
    pub(super) lent: Counter,
    pub(super) dynamic_threads: Counter,
    pub(super) thread_failures: Counter,
    pub(super) replies: Counter,
    pub(super) late_replies: Counter,
}

impl Counters {
    /// Without what the lane itself knows of its state.
    pub(super) fn read(&self) -> LaneStatistics {
        LaneStatistics {
            requests: self.requests.get(),
            misdirected: self.misdirected.get(),
            refused_priorities: self.refused_priorities.get(),
            refused_connections: self.refused_connections.get(),
            protocol_errors: self.protocol_errors.get(),
            redispatched: self.redispatched.get(),
            expired: self.expired.get(),
            late: self.late.get(),
            deadlocks: self.deadlocks.get(),
            idle_connections: self.idle_connections.get(),
            borrowed: self.borrowed.get(),
            lent: self.lent.get(),
            dynamic_threads: self.dynamic_threads.get(),
            thread_failures: self.thread_failures.get(),
            replies: self.replies.get(),
            late_replies: self.late_replies.get(),
            ..LaneStatistics::default()
        }
    }
}

#[derive(Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    pub(super) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
