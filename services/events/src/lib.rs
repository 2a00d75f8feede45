//! Real-time event service: suppliers push events to a channel, which filters them and delivers them to
//! consumers by priority. It corresponds to TAO's real-time event service ([Gill 2004] section 2), whose
//! clients can use it.
//!
//! ```
//! use punctual::Priority;
//! use punctual_events::{EventChannel, topic};
//! # mod idl { punctual::include_idl!("track"); }
//! # use idl::Track;
//!
//! // `Track` is a struct from IDL.
//! topic!(Track = 16);
//!
//! let channel = EventChannel::builder().lane(Priority::MIN, 1).lane(Priority::MAX, 1).build()?;
//! let tracks = channel.subscribe::<Track>().source(7).receiver()?;
//! let alarm = channel.subscribe::<Track>().priority(Priority::MAX).each(|track: Track| {
//!     assert_eq!(track.number, 3);
//! })?;
//!
//! channel.publish::<Track>().source(7).push(&Track { number: 3, ..Track::default() })?;
//! assert_eq!(tracks.recv().unwrap().number, 3);
//! # Ok::<(), punctual_events::EventError>(())
//! ```
//!
//! | Question | File |
//! |---|---|
//! | Which events does a consumer receive? | `filter.rs`; evaluation `filter/tree.rs`, on the wire `filter/dependencies.rs` |
//! | How does an event travel? | `channel.rs`, `channel/routing.rs`, `routes.rs`; to lower lanes `backlog.rs`; `consumer.rs` with its queue; threads `dispatching.rs` |
//! | When do timeouts fire? | `timers.rs` |
//! | How are dead consumers found? | `liveness.rs` |
//! | What do programs call? | `topic.rs`, `publisher.rs`, `subscription.rs`, for schedules `following.rs` |
//! | How do events pass from channel to channel? | `gateway/`, over UDP and multicast `gateway/datagram/`; loops `identity.rs`, queue of a gateway `outbox.rs`, as objects `servants/federation.rs` |
//! | How do other processes take part? | `servants.rs`; as a client `remote.rs`, with a queue `remote/queue.rs`; observers `observers.rs`; counters `inspection.rs`, of suppliers `suppliers.rs` |

mod backlog;
mod channel;
mod consumer;
mod dispatching;
mod error;
mod filter;
mod following;
mod gateway;
mod identity;
mod inspection;
mod limits;
mod liveness;
mod observers;
mod outbox;
mod pool;
mod publisher;
mod remote;
mod routes;
mod schedule;
mod servants;
mod settings;
mod statistics;
mod subscription;
mod suppliers;
pub mod time;
mod timers;
mod topic;

#[allow(missing_docs, clippy::all)]
pub mod rtec {
    //! Rust generated from `idl/federation.idl`, which includes `idl/rtec.idl`.
    punctual::include_idl!("federation");
}

#[allow(missing_docs, clippy::all)]
pub mod wire {
    //! Rust generated from `idl/inspection.idl`: queries of a channel by other processes.
    punctual::include_idl!("inspection");
}

pub use punctual_dispatch::{Order, Timing};

pub use channel::{ChannelBuilder, EventChannel};
pub use error::EventError;
pub use filter::{Bits, Designator, EventType, Filter, FilterError, FilterLimits, RESERVED_TYPES, SourceId};
pub use gateway::{
    Acknowledged, DatagramLimits, Datagrams, Gateway, GatewayStatistics, Numbering, OwnInlet, Sent,
    decode_set, encode_set,
};
pub use identity::Seen;
pub use limits::{ChannelLimits, ConsumerTolerance, GatewayLimits, OctetLimits};
pub use publisher::Publisher;
pub use remote::{RemoteChannel, RemoteSubscription, RemoteSubscriptionBuilder, RemoteSupplier};
pub use rtec::rtec_event_comm::EventView;
pub use servants::Served;
pub use settings::{Dispatching, Lane, Overflow};
pub use statistics::{ChannelStatistics, ConsumerStatistics, Refusals, SupplierStatistics, Undelivered};
pub use subscription::{Content, Events, Receiver, Subscription, SubscriptionBuilder, Values};
pub use topic::{Encoding, Topic};
