//! Settings of a channel: how events are delivered, and its limits.

use std::time::Duration;

use punctual::Priority;

use crate::FilterLimits;

/// On which threads consumers receive their events.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Dispatching {
    /// On the thread that pushes, one consumer after the other, the highest priority first. A slow consumer
    /// delays the supplier.
    #[default]
    Reactive,
    /// On the threads of lanes. A consumer is served by the lane of its priority: of those at or below it the
    /// highest, else the lowest. A slow consumer delays those of its lane, while all threads are occupied.
    Lanes(Vec<Lane>),
    /// Each consumer has a thread with its priority. A slow consumer delays nobody.
    ThreadPerConsumer,
}

/// Threads for consumers of one priority.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Lane {
    /// Priority of the threads.
    pub priority: Priority,
    /// Number of threads, at least 1.
    pub threads: usize,
}

/// What happens to an event if the queue of a consumer is full. Each loss is counted for the consumer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Overflow {
    /// The oldest events of the queue are lost.
    #[default]
    DropOldest,
    /// The new event is lost.
    DropNewest,
    /// The supplier waits for room, this long at most; then the new event is lost.
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
    /// Number of consecutive failed deliveries after which a consumer is disconnected; default 3.
    pub failures: u32,
    /// Number of consecutive lost events after which a consumer is disconnected; default 1,000,000.
    pub lost: u64,
    /// Maximum number of events that one message carries; default 64.
    pub batch: usize,
    /// Time in which a delivery to another process must be sent; default 100 ms.
    pub send_timeout: Duration,
    /// Interval at which consumers of other processes are asked whether they exist; default 5 s. Zero: never.
    pub ping: Duration,
    /// Time after which a consumer that does not answer is disconnected; default 30 s. One that cannot be
    /// reached at all is disconnected after `failures` questions in a row.
    pub silence: Duration,
    /// Maximum number of octets of a payload; default 1 MiB. Larger ones are refused with IMP_LIMIT.
    pub payload: usize,
    /// Maximum number of observers; default 16.
    pub observers: usize,
    /// Number of the last events by which a channel that imports others recognises those that gateways bring
    /// again; default 65,536 (about 2 MiB, taken by the first import).
    pub remembered: usize,
    /// Maximum number of gateways that have an inbox, and of those that have an outbox; default 16.
    pub gateways: usize,
    /// Number of events that are kept for a gateway that acknowledges them; default 4,096. The overflow rule
    /// of the channel applies beyond.
    pub kept: usize,
    /// Time after which a gateway that acknowledges, but fetches nothing, is forgotten with its events;
    /// default 10 min. Examined every `ping`.
    pub kept_for: Duration,
}

impl Default for ChannelLimits {
    fn default() -> Self {
        Self {
            consumers: 1_024,
            queue: 65_536,
            filter: FilterLimits::default(),
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
        }
    }
}
