//! Gateways: events of a channel of another process, passed on to this one.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use punctual::Poa;

use crate::{EventChannel, EventError, Filter, RemoteChannel, RemoteSubscription};

impl EventChannel {
    /// Passes events of another channel on to this one, over the ORB. An event passes as many gateways as its
    /// `ttl` states, which each decrements: channels with gateways in both directions pass it on that often,
    /// and then no more. An object of `poa` receives the events, on the threads of its pool.
    ///
    /// # Errors
    /// The other channel refuses the filter or another consumer, or a call fails.
    pub fn import(&self, from: &RemoteChannel, poa: &Poa, filter: &Filter) -> Result<Gateway, EventError> {
        let counters = Arc::new(Counters::default());
        let (core, counted) = (Arc::downgrade(&self.core), Arc::clone(&counters));
        let subscription = from.connect(poa, filter, true, move |events| {
            for event in events {
                let passed = event.header.ttl > 0
                    && core
                        .upgrade()
                        .is_some_and(|core| core.push_view(event, event.header.ttl - 1).is_ok());
                let counter = if passed { &counted.passed } else { &counted.ended };
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
    ended: AtomicU64,
}

impl Gateway {
    /// Returns the number of events that were passed on.
    pub fn passed(&self) -> u64 {
        self.counters.passed.load(Relaxed)
    }

    /// Returns the number of events that were not: their `ttl` was over, or this channel refused them.
    pub fn ended(&self) -> u64 {
        self.counters.ended.load(Relaxed)
    }
}
