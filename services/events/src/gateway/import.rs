//! Gateways from a channel of another process to one of this process.

use std::sync::Arc;

use punctual::Poa;

use super::{Counters, Gateway, Source};
use crate::{EventChannel, EventError, Filter, RemoteChannel, channel};

impl EventChannel {
    /// Passes events of another channel on to this one, over the ORB. An event passes at most as many
    /// gateways as its `ttl` states; each of them decrements it. An event that this channel has seen, because
    /// gateways form a loop or several paths lead here, is not passed on again: of several copies, the first
    /// one counts, with its remaining `ttl`. An object of `poa` receives the events, on the threads of its
    /// pool.
    ///
    /// An event is recognised by the time when its first channel received it, among the last
    /// [`remembered`](crate::GatewayLimits::remembered) events. If a channel on its path replaces that time,
    /// as TAO's do, only `ttl` ends a loop.
    ///
    /// # Errors
    /// The other channel refuses the filter or another consumer, or a call fails.
    pub fn import(&self, from: &RemoteChannel, poa: &Poa, filter: &Filter) -> Result<Gateway, EventError> {
        self.core.remember_events();
        let counters = Counters::new("import");
        self.core.show_gateway(&counters);
        let (core, counted) = (Arc::downgrade(&self.core), Arc::clone(&counters));
        let subscription = from.connect(poa, filter, true, move |events| {
            let Some(core) = core.upgrade() else {
                return counted.count_lost(events.len() as u64);
            };
            for event in events {
                if event.header.ttl <= 0 {
                    counted.count_expired(1);
                    continue;
                }
                let ttl = event.header.ttl - 1;
                match core.push_imported(|copy| channel::copy_view(copy, event, ttl)) {
                    Ok(imported) => counted.count(imported),
                    Err(_) => counted.count_lost(1),
                }
            }
        })?;
        let source = Source::Subscription(subscription);
        Ok(Gateway { source, counters })
    }
}
