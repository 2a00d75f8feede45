//! Numbers of a lane's statistics, with their names.

use punctual_lane::LaneStatistics;

/// One of a lane's numbers, under its names.
pub(crate) struct Metric {
    /// Name in JSON. The name for Prometheus is `punctual_lane_NAME`, with `_total` appended for counters
    /// that only grow.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) help: &'static str,
    /// `None`: the lane has no such number.
    pub(crate) value: fn(&LaneStatistics) -> Option<u64>,
}

#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Kind {
    /// A gauge: it can rise and fall.
    Gauge,
    /// A counter: it only grows.
    Counter,
}

use Kind::{Counter, Gauge};

const fn metric(
    name: &'static str,
    kind: Kind,
    help: &'static str,
    value: fn(&LaneStatistics) -> Option<u64>,
) -> Metric {
    Metric {
        name,
        kind,
        help,
        value,
    }
}

/// All numbers of a lane.
pub(crate) const METRICS: &[Metric] = &[
    metric(
        "threads",
        Gauge,
        "Threads, with those borrowed at this moment.",
        |lane| Some(lane.threads.present as u64),
    ),
    metric(
        "busy_threads",
        Gauge,
        "Threads that are serving a request.",
        |lane| Some(lane.threads.busy as u64),
    ),
    metric(
        "stack_used_bytes",
        Gauge,
        "Most octets of stack that one of its threads has used.",
        |lane| lane.threads.stack.map(|stack| stack.used_bytes as u64),
    ),
    metric(
        "stack_bytes",
        Gauge,
        "Octets of the stack of each thread.",
        |lane| lane.threads.stack.map(|stack| stack.size_bytes as u64),
    ),
    metric("connections", Gauge, "Open connections.", |lane| {
        Some(lane.connections.open as u64)
    }),
    metric(
        "queued_requests",
        Gauge,
        "Requests that wait in the lane's queue.",
        |lane| lane.queue.limits.map(|_| lane.queue.requests as u64),
    ),
    metric(
        "queue_limit_requests",
        Gauge,
        "Requests that may wait in the lane's queue.",
        |lane| lane.queue.limits.map(|limits| limits.requests as u64),
    ),
    metric(
        "queued_octets",
        Gauge,
        "Octets of the requests that wait.",
        |lane| lane.queue.limits.map(|_| lane.queue.octets as u64),
    ),
    metric(
        "queue_limit_octets",
        Gauge,
        "Octets that requests may have that wait.",
        |lane| lane.queue.limits.map(|limits| limits.octets as u64),
    ),
    metric(
        "most_queued_requests",
        Gauge,
        "The most requests that have waited at once.",
        |lane| lane.queue.limits.map(|_| lane.queue.most_requests as u64),
    ),
    metric(
        "requests",
        Counter,
        "Requests received, refused ones included.",
        |lane| Some(lane.requests),
    ),
    metric(
        "queue_accepted",
        Counter,
        "Requests let into the queue.",
        |lane| Some(lane.queue.accepted),
    ),
    metric(
        "queue_refused",
        Counter,
        "Requests that found the queue full.",
        |lane| Some(lane.queue.refused),
    ),
    metric(
        "queue_cancelled",
        Counter,
        "Requests taken back while they waited.",
        |lane| Some(lane.queue.cancelled),
    ),
    metric(
        "expired",
        Counter,
        "Requests dropped because their deadline had passed.",
        |lane| Some(lane.expired),
    ),
    metric(
        "late",
        Counter,
        "Requests that took longer than their client's timeout.",
        |lane| Some(lane.late),
    ),
    metric(
        "misdirected",
        Counter,
        "Requests whose priority belongs to another lane.",
        |lane| Some(lane.misdirected),
    ),
    metric(
        "redispatched",
        Counter,
        "Misdirected requests that were handed on.",
        |lane| Some(lane.redispatched),
    ),
    metric(
        "refused_priorities",
        Counter,
        "Requests refused for too high a priority.",
        |lane| Some(lane.refused_priorities),
    ),
    metric(
        "exhausted_budgets",
        Counter,
        "Connections closed for too many messages without a served request.",
        |lane| Some(lane.connections.exhausted_budgets),
    ),
    metric(
        "put_off",
        Counter,
        "Times that a connection waited because of messages without a served request.",
        |lane| Some(lane.connections.put_off),
    ),
    metric(
        "unread_replies",
        Counter,
        "Connections closed because their clients did not read replies.",
        |lane| Some(lane.connections.unread_replies),
    ),
    metric(
        "deferred",
        Counter,
        "Requests whose servants took a response handler, to answer later.",
        |lane| Some(lane.deferred),
    ),
    metric(
        "unanswered",
        Counter,
        "Response handlers that were dropped without an answer.",
        |lane| Some(lane.unanswered),
    ),
    metric(
        "exhausted_memory",
        Counter,
        "Connections closed because they kept most of the lane's memory.",
        |lane| Some(lane.connections.exhausted_memory),
    ),
    metric(
        "refused_connections",
        Counter,
        "Connections refused because there were too many.",
        |lane| Some(lane.connections.refused),
    ),
    metric(
        "protocol_errors",
        Counter,
        "Connections closed for what came over them.",
        |lane| Some(lane.connections.protocol_errors),
    ),
    metric(
        "idle_connections",
        Counter,
        "Connections closed because nothing came.",
        |lane| Some(lane.connections.idle),
    ),
    metric(
        "deadlocks",
        Counter,
        "Calls refused because they would have waited for themselves.",
        |lane| Some(lane.threads.deadlocks),
    ),
    metric(
        "borrowed",
        Counter,
        "Requests that threads of lower lanes have served.",
        |lane| Some(lane.threads.borrowed),
    ),
    metric(
        "lent",
        Counter,
        "Requests of higher lanes that its threads have served.",
        |lane| Some(lane.threads.lent),
    ),
    metric("dynamic_threads", Counter, "Dynamic threads made.", |lane| {
        Some(lane.threads.dynamic)
    }),
    metric(
        "thread_failures",
        Counter,
        "Dynamic threads that the system refused.",
        |lane| Some(lane.threads.failures),
    ),
];
