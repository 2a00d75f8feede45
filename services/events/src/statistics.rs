//! Counters of a channel and its consumers.

use std::time::Duration;

use punctual::Priority;

use crate::GatewayStatistics;

/// What has happened in a channel.
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
    /// Number of events that were refused: their payload exceeds the limit, or a consumer of the channel
    /// pushed them back into it more often than their `ttl` permits.
    pub refused: u64,
    /// Number of timeouts that have fired.
    pub timeouts: u64,
    /// Number of consumers that exceeded a limit or were dead, and were disconnected.
    pub disconnected: u64,
    /// Number of suppliers that are connected through the ORB.
    pub suppliers: u64,
    /// Number of observers.
    pub observers: u64,
    /// All connected consumers, from the highest priority to the lowest.
    pub consumers: Vec<ConsumerStatistics>,
    /// The gateways that lead to this channel.
    pub gateways: Vec<GatewayStatistics>,
}

/// What has happened to a consumer. `queued` events end in `delivered`, `failed` or `lost`, or are `waiting`.
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
    /// Number of events that its queue had no room for.
    pub lost: u64,
    /// Number of events whose delivery failed.
    pub failed: u64,
}
