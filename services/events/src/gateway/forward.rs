//! Gateways between two channels of other processes.

use std::sync::Arc;

use punctual::Poa;

use super::{Counters, Gateway, Source, inlet::Inlet};
use crate::{
    EventError, Filter, RemoteChannel,
    rtec::rtec_event_comm::{Event, EventView},
};

impl RemoteChannel {
    /// Passes events of this channel on to another one; both are in other processes, and may be channels of
    /// TAO. `ttl` and repeated events are treated as in [`import`](crate::EventChannel::import); a channel
    /// of TAO does not recognise repeated ones. `name` is shown in the statistics of `to`. An object of `poa`
    /// receives the events, on the threads of its pool, which pass them on with the priority that is set for
    /// the thread that calls this; give the ORB a timeout of calls, which bounds how long they wait for `to`.
    ///
    /// Events that are in transit while `to` cannot be reached are lost, and counted. The gateway connects to
    /// `to` again, once a second at most, but not to this channel.
    ///
    /// # Errors
    /// A channel refuses, or a call fails.
    pub fn forward(
        &self,
        to: &RemoteChannel,
        poa: &Poa,
        filter: &Filter,
        name: &str,
    ) -> Result<Gateway, EventError> {
        let counters = Counters::new(name);
        let (inlet, counted) = (Inlet::connect(to, &counters)?, Arc::clone(&counters));
        let subscription = self.connect(poa, filter, true, move |events| {
            let events = aged(events, &counted);
            // Without events it passes the counters on.
            if inlet.pass(&events, 0).is_err() {
                counted.count_lost(events.len() as u64);
            }
        })?;
        let source = Source::Subscription(subscription);
        Ok(Gateway { source, counters })
    }
}

/// Returns the events that may pass, with their `ttl` decremented.
fn aged(events: &[EventView<'_>], counters: &Counters) -> Vec<Event> {
    let may_pass = |event: &&EventView<'_>| {
        let passes = event.header.ttl > 0;
        if !passes {
            counters.count_expired(1);
        }
        passes
    };
    let copy = |event: &EventView<'_>| {
        let mut event = event.to_owned();
        event.header.ttl -= 1;
        event
    };
    events.iter().filter(may_pass).map(copy).collect()
}
