//! Gateways, which pass the events of one channel on to another one.

mod acknowledged;
mod counters;
mod datagram;
mod export_inlet;
mod forward;
mod import;
mod inlet;
mod numbering;
mod set;
mod worker;

use std::sync::Arc;

use punctual::{Priority, at_priority, explicit_priority};

pub use acknowledged::Acknowledged;
pub use counters::GatewayStatistics;
pub(crate) use counters::{Counters, Imported};
pub use datagram::{DatagramLimits, Datagrams};
pub use export_inlet::{OwnInlet, Sent};
pub use numbering::Numbering;
pub use set::{decode_set, encode_set};

use crate::{EventError, RemoteSubscription, Subscription};
use worker::Worker;

/// Priority that was set for the thread that made a gateway: that of the gateway's calls on other threads.
#[derive(Clone, Copy)]
struct MakersPriority(Option<Priority>);

impl MakersPriority {
    /// The one of this thread, which makes the gateway.
    fn of_this_thread() -> Self {
        Self(explicit_priority())
    }

    fn call<R>(self, calls: impl FnOnce() -> R) -> R {
        match self.0 {
            Some(priority) => at_priority(priority, calls),
            None => calls(),
        }
    }
}

/// A gateway between channels; dropping it ends it.
#[must_use = "the gateway ends when this is dropped"]
pub struct Gateway {
    source: Source,
    counters: Arc<Counters>,
}

/// Source of a gateway's events.
enum Source {
    Subscription(RemoteSubscription),
    Local(Subscription),
    Worker(Worker),
}

impl Gateway {
    /// Returns the counters of the gateway.
    pub fn statistics(&self) -> GatewayStatistics {
        self.counters.statistics()
    }

    /// Queries whether the source channel still delivers. A gateway that acknowledges reconnects by itself;
    /// the others then end.
    ///
    /// # Errors
    /// The call fails: the channel's process has ended, or is too busy.
    pub fn is_connected(&self) -> Result<bool, EventError> {
        match &self.source {
            Source::Subscription(subscription) => subscription.is_connected(),
            Source::Local(subscription) => Ok(subscription.consumer.is_connected()),
            Source::Worker(worker) => Ok(worker.is_connected()),
        }
    }
}
