//! Settings of a channel: how events are delivered, and its limits.

use std::time::Duration;

use punctual::{Priority, rtscheduling::SheddingPolicy};
use punctual_dispatch::Order;

use crate::FilterLimits;

/// Threads on which consumers receive their events.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Dispatching {
    /// On the thread that pushes, one consumer after the other, the highest priority first. A slow consumer
    /// delays the supplier. Timeouts are delivered on the one thread of all timeouts of the channel: a
    /// callback that is slow there delays them all, and one that does not return stops them.
    #[default]
    Reactive,
    /// On the threads of lanes. A consumer is served by the lane of its priority: of those at or below it the
    /// highest, else the lowest. A slow consumer delays those of its lane, while all threads are occupied.
    Lanes(Vec<Lane>),
    /// Each consumer has a thread with its priority. A slow consumer delays no other one. If it is
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
    /// Order in which its consumers are served. By deadline or laxity, those with a
    /// [deadline](crate::SubscriptionBuilder::deadline) come first.
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

/// Treatment of an event if the queue of a consumer is full. Each loss is counted for the consumer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Overflow {
    /// The oldest events of the queue are lost.
    #[default]
    DropOldest,
    /// The new event is lost.
    DropNewest,
    /// The supplier waits for room, this long at most; then the new event is lost. Timeouts do not wait:
    /// without room they are lost at once.
    Block(Duration),
    /// The consumer is disconnected.
    Disconnect,
}

/// Limits of a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelLimits {
    /// Maximum number of consumers, and of suppliers; default 1,024.
    pub consumers: usize,
    /// Maximum length of the queue of a consumer, in events; default 65,536.
    pub queue: usize,
    /// Limits of filters.
    pub filter: FilterLimits,
    /// Limits of memory.
    pub octets: OctetLimits,
    /// Number of consecutive failed deliveries after which a consumer is disconnected; default 3.
    pub failures: u32,
    /// Number of consecutive lost events after which a consumer is disconnected; default 1,000,000.
    pub lost: u64,
    /// Maximum number of events that one message carries; default 64.
    pub batch: usize,
    /// Time in which a delivery to another process must be sent; default 100 ms.
    pub send_timeout: Duration,
    /// Interval at which consumers of other processes are queried; default 5 s. Zero: never.
    pub ping: Duration,
    /// Time after which a consumer that does not answer is disconnected; default 30 s. One that cannot be
    /// reached at all is disconnected after `failures` consecutive queries.
    pub silence: Duration,
    /// Maximum number of octets of payload and `any` of an event; default 1 MiB. Larger ones are refused with
    /// IMP_LIMIT.
    pub payload: usize,
    /// Maximum number of observers; default 16.
    pub observers: usize,
    /// Number of the last events by which a channel that imports others recognises those that gateways bring
    /// again; default 65,536 (about 2 MiB, taken by the first import).
    pub remembered: usize,
    /// Maximum number of gateways that have an inbox, and of those that have an outbox; default 16.
    pub gateways: usize,
    /// Number of events that are kept for a gateway that acknowledges them; default 4,096. The overflow rule
    /// of the channel applies beyond, and beyond [`OctetLimits::kept`].
    pub kept: usize,
    /// Time after which a gateway that acknowledges, but fetches nothing, is forgotten with its events;
    /// default 10 min. Examined every `ping`.
    pub kept_for: Duration,
    /// Time for which the end of a channel waits for callbacks that are being executed; default 1 s. Threads
    /// of longer callbacks end when these return.
    pub ending: Duration,
}

/// Limits of the octets of events, payload and `any`, that a channel holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OctetLimits {
    /// Octets of a batch after which it gets no further event; default 1 MiB. A set of a conjunction stays
    /// together.
    pub batch: usize,
    /// Octets of the events that wait for a consumer, beyond which its overflow rule applies; default 4 MiB.
    /// A single event or set above it still enters an empty queue. Also of the events that conjunctions of
    /// the consumer's filter hold: beyond it, they are lost.
    pub queue: usize,
    /// As `queue`, of the events that wait for a gateway that acknowledges; default 16 MiB.
    pub kept: usize,
    /// Octets of unused events whose memory is kept for new ones; default 16 MiB.
    pub reused: usize,
}

impl Default for ChannelLimits {
    fn default() -> Self {
        Self {
            consumers: 1_024,
            queue: 65_536,
            filter: FilterLimits::default(),
            octets: OctetLimits::default(),
            failures: 3,
            lost: 1_000_000,
            batch: 64,
            send_timeout: Duration::from_millis(100),
            ping: Duration::from_secs(5),
            silence: Duration::from_secs(30),
            payload: 1 << 20,
            observers: 16,
            remembered: 65_536,
            gateways: 16,
            kept: 4_096,
            kept_for: Duration::from_secs(600),
            ending: Duration::from_secs(1),
        }
    }
}

impl Default for OctetLimits {
    fn default() -> Self {
        Self {
            batch: 1 << 20,
            queue: 4 << 20,
            kept: 16 << 20,
            reused: 16 << 20,
        }
    }
}
