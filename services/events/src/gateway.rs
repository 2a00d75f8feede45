//! Gateways: events of a channel of another process, passed on to this one.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use punctual::Poa;

use crate::{EventChannel, EventError, Filter, RemoteChannel, RemoteSubscription};

impl EventChannel {
    /// Passes events of another channel on to this one, over the ORB. An event passes as many gateways as its
    /// `ttl` states, which each decrements. An event that this channel has seen, because gateways form a loop
    /// or several ways lead here, is not passed on again: of those on several ways the first counts, with the
    /// `ttl` that it has left. An object of `poa` receives the events, on the threads of its pool.
    ///
    /// An event is recognised by the time when its first channel received it, among the last
    /// [`remembered`](crate::ChannelLimits::remembered) ones. If a channel on its way replaces that time, as
    /// TAO's do, only `ttl` ends a loop.
    ///
    /// # Errors
    /// The other channel refuses the filter or another consumer, or a call fails.
    pub fn import(&self, from: &RemoteChannel, poa: &Poa, filter: &Filter) -> Result<Gateway, EventError> {
        self.core.remember_events();
        let counters = Arc::new(Counters::default());
        let (core, counted) = (Arc::downgrade(&self.core), Arc::clone(&counters));
        let subscription = from.connect(poa, filter, true, move |events| {
            for event in events {
                let pushed = match core.upgrade() {
                    Some(core) if event.header.ttl > 0 => {
                        core.push_imported(event, event.header.ttl - 1).ok()
                    }
                    _ => None,
                };
                let counter = match pushed {
                    Some(true) => &counted.passed,
                    Some(false) => &counted.repeated,
                    None => &counted.ended,
                };
                counter.fetch_add(1, Relaxed);
            }
        })?;
        Ok(Gateway {
            _subscription: subscription,
            counters,
        })
    }
}

/// A gateway to this channel; dropping it ends it.
#[must_use = "the gateway ends when this is dropped"]
pub struct Gateway {
    _subscription: RemoteSubscription,
    counters: Arc<Counters>,
}

#[derive(Default)]
struct Counters {
    passed: AtomicU64,
    repeated: AtomicU64,
    ended: AtomicU64,
}

impl Gateway {
    /// Returns the number of events that were passed on.
    pub fn passed(&self) -> u64 {
        self.counters.passed.load(Relaxed)
    }

    /// Returns the number of events that were not passed on because this channel had seen them.
    pub fn repeated(&self) -> u64 {
        self.counters.repeated.load(Relaxed)
    }

    /// Returns the number of events that were not for another reason: their `ttl` was over, or this channel
    /// refused them.
    pub fn ended(&self) -> u64 {
        self.counters.ended.load(Relaxed)
    }
}
