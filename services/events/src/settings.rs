//! Settings of a channel: how events are delivered.

use std::time::Duration;

use punctual::{Priority, rtscheduling::SheddingPolicy};
use punctual_dispatch::Order;

/// Threads on which consumers receive their events.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Dispatching {
    /// On the thread that pushes, one consumer after the other, the highest priority first. A slow consumer
    /// delays the supplier. Timeouts are delivered on the one thread of all timeouts of the channel: a
    /// callback that is slow there delays them all, and one that does not return stops them.
    #[default]
    Reactive,
    /// On the threads of lanes. A consumer is served by the highest lane at or below its priority, or, if
    /// there is none, by the lowest lane. A slow consumer delays the other consumers of its lane while all
    /// threads are occupied.
    Lanes(Vec<Lane>),
    /// Each consumer has a thread with its priority. A slow consumer delays no other one. If the consumer is
    /// disconnected during a callback, nothing waits for it: the thread ends when the callback returns, and
    /// counts as a consumer until then.
    ThreadPerConsumer,
}

/// Threads for consumers of one priority.
///
/// ```
/// use punctual::{Priority, rtscheduling::SheddingPolicy};
/// use punctual_events::{Lane, Order};
///
/// let shedding = SheddingPolicy::before_dispatch().sparing_critical();
/// let lane = Lane { order: Order::Deadline, shedding, ..Lane::new(Priority::MAX, 1) };
/// assert_eq!((lane.threads, Lane::new(Priority::MAX, 1).order), (1, Order::Arrival));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Lane {
    /// Priority of the threads.
    pub priority: Priority,
    /// Number of threads, at least 1.
    pub threads: usize,
    /// Order in which events of consumers with a [deadline](crate::SubscriptionBuilder::deadline) are served;
    /// by deadline or laxity, before all consumers without one. By laxity, events that can no longer be in
    /// time come last of all, even after later ones of the same consumer.
    pub order: Order,
    /// Treatment of events that can no longer meet the deadline of their consumer. Policies with checkpoints
    /// or retries are refused ([`EventError::Shedding`](crate::EventError::Shedding)).
    pub shedding: SheddingPolicy,
}

impl Lane {
    /// Creates a lane with this number of threads, which serves its consumers in the order of arrival, and
    /// delivers late events, too.
    pub const fn new(priority: Priority, threads: usize) -> Self {
        Self {
            priority,
            threads,
            order: Order::Arrival,
            shedding: SheddingPolicy::never(),
        }
    }
}

/// Treatment of an event for which the queue of a consumer has no room. Each loss is counted for the
/// consumer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Overflow {
    /// The oldest events of the queue are lost.
    #[default]
    DropOldest,
    /// The new event is lost.
    DropNewest,
    /// The supplier waits for room, at most this long; then the new event is lost. Timeouts do not wait:
    /// without room they are lost at once.
    Block(Duration),
    /// The consumer is disconnected.
    Disconnect,
}

/// Length and overflow rule of the queue of a consumer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueSettings {
    pub(crate) events: usize,
    pub(crate) overflow: Overflow,
}
