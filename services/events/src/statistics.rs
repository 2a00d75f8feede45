//! Counters of a channel and its consumers.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use punctual::Priority;

use crate::{EventError, FilterError, GatewayStatistics};

/// Counters of a channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelStatistics {
    /// Its name.
    pub name: String,
    /// Time since it was built.
    pub age: Duration,
    /// Number of events that suppliers have pushed.
    pub received: u64,
    /// Number of events that no consumer subscribes to.
    pub unmatched: u64,
    /// Number of events that were refused: their content exceeds the limit, or a consumer of the channel
    /// pushed them back into it more often than their `ttl` permits.
    pub refused: u64,
    /// Number of events that wait until the threads of lanes offer them to consumers, because a supplier's
    /// thread left the consumers of these lanes to them.
    pub deferred: u64,
    /// Number of timeouts that have fired.
    pub timeouts: u64,
    /// Number of consumers that exceeded a limit or were dead, and were disconnected.
    pub disconnected: u64,
    /// The last of them as it was then, and with the reason.
    pub last_disconnected: Option<ConsumerStatistics>,
    /// Events that did not reach their consumers, of all consumers since the channel was built.
    pub undelivered: Undelivered,
    /// Subscriptions and other connections that were refused.
    pub refusals: Refusals,
    /// Suppliers that push through the ORB, and [some](crate::ChannelLimits::former_suppliers) that did.
    pub suppliers: Vec<SupplierStatistics>,
    /// Number of observers.
    pub observers: u64,
    /// All connected consumers, from the highest priority to the lowest.
    pub consumers: Vec<ConsumerStatistics>,
    /// The gateways that lead to this channel, and those that export its events. `forwarded` of an export of
    /// another process includes events that are in transit to it.
    pub gateways: Vec<GatewayStatistics>,
}

/// Numbers of events that did not reach a consumer, by the reason.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Undelivered {
    /// Events for which its queue had no room, or that waited when it was disconnected because of a limit.
    pub lost: u64,
    /// Events whose delivery failed.
    pub failed: u64,
    /// Events that were dropped because they could no longer meet its deadline.
    pub cancelled: u64,
    /// Events that were delivered and then lost in a [queue of the consumer's
    /// process](crate::RemoteSubscriptionBuilder::queue), as its last answer to a
    /// [query](crate::ConsumerTolerance::ping) states.
    pub lost_at_consumer: u64,
}

/// Numbers of subscriptions and other connections of clients that a channel has refused, by the reason.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Refusals {
    /// Filters that are too deep.
    pub depth: u64,
    /// Filters with too many elements.
    pub length: u64,
    /// Dependencies that are not a filter, and consumers that are not an object.
    pub malformed: u64,
    /// All other limits: number of consumers, proxies, observers or gateways; elements, announced types and
    /// timeouts; interval; queue. Also ends of the channel that clients may not request.
    pub limit: u64,
}

/// The counters of [`Refusals`].
#[derive(Debug, Default)]
pub(crate) struct RefusalCounters {
    depth: AtomicU64,
    length: AtomicU64,
    malformed: AtomicU64,
    limit: AtomicU64,
}

impl RefusalCounters {
    /// Counts a subscription that failed, if a limit was the reason.
    pub(crate) fn count(&self, error: &EventError) {
        let counter = match error {
            EventError::Filter(FilterError::TooDeep { .. }) => &self.depth,
            EventError::Filter(FilterError::TooLong { .. }) => &self.length,
            EventError::Filter(FilterError::Incomplete { .. } | FilterError::Children { .. }) => {
                &self.malformed
            }
            EventError::Filter(FilterError::TooFrequent { .. } | FilterError::TooManyTimeouts { .. })
            | EventError::TooManyConsumers(_)
            | EventError::TooManyElements(_)
            | EventError::TooManyTimeouts(_)
            | EventError::Queue { .. } => &self.limit,
            _ => return,
        };
        counter.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_malformed(&self) {
        self.malformed.fetch_add(1, Relaxed);
    }

    pub(crate) fn count_limit(&self) {
        self.limit.fetch_add(1, Relaxed);
    }

    pub(crate) fn numbers(&self) -> Refusals {
        Refusals {
            depth: self.depth.load(Relaxed),
            length: self.length.load(Relaxed),
            malformed: self.malformed.load(Relaxed),
            limit: self.limit.load(Relaxed),
        }
    }
}

/// Counters of a supplier of another process.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SupplierStatistics {
    /// Number of the supplier in its channel.
    pub id: u64,
    /// Its [name](crate::RemoteSupplier::set_name); without one, its address. Anybody may state any name.
    pub name: String,
    /// Address of the object with which it has connected; if it has stated none, that of the host from which
    /// its first request came.
    pub address: String,
    /// Whether it is connected.
    pub is_connected: bool,
    /// Number of events that it has pushed.
    pub pushed: u64,
    /// Number of these that no consumer subscribes to.
    pub unmatched: u64,
    /// Number of these that were refused, as in [`ChannelStatistics::refused`].
    pub refused: u64,
    /// Number of events that consumers have lost because one of this supplier found their queues full: that
    /// one, or under [`Overflow::DropOldest`](crate::Overflow::DropOldest) older ones of any supplier.
    pub lost: u64,
}

/// Counters of a consumer. `queued` events end in `delivered`, `failed` or `lost`, or are `waiting`.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerStatistics {
    /// Number of the consumer in its channel.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Its priority.
    pub priority: Priority,
    /// Number of events that wait in its queue.
    pub waiting: usize,
    /// Number of octets of these events.
    pub octets: usize,
    /// Length of its queue.
    pub capacity: usize,
    /// Largest number of events that waited at the same time.
    pub high_water: usize,
    /// Whether its connection is suspended.
    pub is_suspended: bool,
    /// Whether it is a gateway to another channel.
    pub is_gateway: bool,
    /// Number of events that entered its queue.
    pub queued: u64,
    /// Number of delivered events.
    pub delivered: u64,
    /// Number of deliveries: sets and batches.
    pub sets: u64,
    /// Events that did not reach it.
    pub undelivered: Undelivered,
    /// Number of delivered events whose callback returned after their deadline.
    pub late: u64,
    /// Why its last delivery failed, or the last [query](crate::ConsumerTolerance::ping) of its existence,
    /// such as that it answers late; `None`: the last ones succeeded.
    pub error: Option<String>,
}
