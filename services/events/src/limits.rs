//! Limits of a channel: of its numbers and memory, of waits for consumers, and of gateways.

use std::time::Duration;

use crate::FilterLimits;

/// Limits of a channel.
///
/// ```
/// use std::time::Duration;
/// use punctual_events::{ChannelLimits, ConsumerTolerance, EventChannel};
///
/// let tolerance = ConsumerTolerance { silence: Duration::from_secs(60), ..Default::default() };
/// let limits = ChannelLimits { consumers: 16, tolerance, ..Default::default() };
/// let channel = EventChannel::builder().limits(limits).build()?;
/// # Ok::<(), punctual_events::EventError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelLimits {
    /// Maximum number of consumers, and of suppliers; default 1,024.
    pub consumers: usize,
    /// Maximum number of suppliers of other processes that [statistics](crate::ChannelStatistics::suppliers)
    /// show after they have gone, those that pushed most; default 64.
    pub former_suppliers: usize,
    /// Maximum number of observers; default 16.
    pub observers: usize,
    /// Maximum length of the queue of a consumer, in events; default 65,536.
    pub queue: usize,
    /// Maximum number of octets of payload and `any` of an event; default 1 MiB. Larger ones are refused with
    /// IMP_LIMIT.
    pub payload: usize,
    /// Maximum number of events that one message carries; default 64.
    pub batch: usize,
    /// Time in which a delivery to another process must be sent; default 100 ms.
    pub send_timeout: Duration,
    /// Time for which a channel that ends waits for callbacks that are being executed; default 1 s. The
    /// threads of callbacks that take longer end when these return.
    pub ending: Duration,
    /// Whether a client of another process may destroy the channel, as it may destroy a channel of TAO;
    /// default yes. Otherwise it gets NO_PERMISSION.
    pub remote_destroy: bool,
    /// Limits of filters.
    pub filter: FilterLimits,
    /// Limits of memory.
    pub octets: OctetLimits,
    /// Faults beyond which a consumer is disconnected.
    pub tolerance: ConsumerTolerance,
    /// Limits of gateways.
    pub gateways: GatewayLimits,
}

/// Limits of the octets of events, payload and `any`, that a channel holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OctetLimits {
    /// Octets of a batch after which it gets no further event; default 1 MiB. A set of a conjunction stays
    /// together.
    pub batch: usize,
    /// Octets of the events that wait for a consumer, beyond which its overflow rule applies; default 4 MiB.
    /// A single event or set above it still enters an empty queue. The same limit applies to the events that
    /// conjunctions of the consumer's filter hold: beyond it, they are lost.
    pub queue: usize,
    /// Like `queue`, of the events that wait for a gateway that acknowledges; default 16 MiB.
    pub kept: usize,
    /// Octets of unused events whose memory is kept for new ones; default 16 MiB.
    pub reused: usize,
}

/// Faults of a consumer that a channel tolerates before it disconnects the consumer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ConsumerTolerance {
    /// Number of consecutive failed deliveries after which a consumer is disconnected; default 3.
    pub failures: u32,
    /// Number of consecutive lost events after which a consumer is disconnected; default 1,000,000.
    pub lost: u64,
    /// Interval at which consumers of other processes are asked whether they exist; default 5 s. Zero: never.
    pub ping: Duration,
    /// Time after which a consumer that does not answer is disconnected; default 30 s. Answers that arrive
    /// later than [`ChannelLimits::send_timeout`] count. A consumer that cannot be reached at all is
    /// disconnected after `failures` questions in a row.
    pub silence: Duration,
}

/// Limits of the gateways of a channel, and of what it keeps for them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct GatewayLimits {
    /// Maximum number of gateways that have an inbox, and of those that have an outbox; default 16.
    pub number: usize,
    /// Number of the last events that a channel that imports events remembers, to recognise those that
    /// gateways bring again; default 65,536 (about 2 MiB, taken by the first import).
    pub remembered: usize,
    /// Number of events that are kept for a gateway that acknowledges them; default 4,096. The overflow rule
    /// of the channel applies beyond, and beyond [`OctetLimits::kept`].
    pub kept: usize,
    /// Time after which a gateway that acknowledges, but fetches nothing, is forgotten with its events;
    /// default 10 min. Examined every [`ConsumerTolerance::ping`].
    pub kept_for: Duration,
}

impl Default for ChannelLimits {
    fn default() -> Self {
        Self {
            consumers: 1_024,
            former_suppliers: 64,
            observers: 16,
            queue: 65_536,
            payload: 1 << 20,
            batch: 64,
            send_timeout: Duration::from_millis(100),
            ending: Duration::from_secs(1),
            remote_destroy: true,
            filter: FilterLimits::default(),
            octets: OctetLimits::default(),
            tolerance: ConsumerTolerance::default(),
            gateways: GatewayLimits::default(),
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

impl Default for ConsumerTolerance {
    fn default() -> Self {
        Self {
            failures: 3,
            lost: 1_000_000,
            ping: Duration::from_secs(5),
            silence: Duration::from_secs(30),
        }
    }
}

impl Default for GatewayLimits {
    fn default() -> Self {
        Self {
            number: 16,
            remembered: 65_536,
            kept: 4_096,
            kept_for: Duration::from_secs(600),
        }
    }
}
