//! State of a channel for the channels that gateways connect to it.

use std::sync::{Arc, OnceLock, Weak};

use punctual_os::PiMutex;

use crate::{
    GatewayStatistics,
    gateway::Counters,
    identity::{Seen, Stamps},
    outbox::Outboxes,
};

/// Gateways of a channel, and the events by which they recognise repetitions.
#[derive(Default)]
pub(super) struct Federation {
    /// Times of receipt, which identify events in all channels.
    pub(super) stamps: Stamps,
    /// Only if gateways lead to this channel.
    seen: OnceLock<Seen>,
    /// Counters of the gateways that lead to this channel, and of those of this process that lead away.
    gateways: PiMutex<Vec<Weak<Counters>>>,
    /// Events that wait for gateways that acknowledge.
    pub(super) outboxes: Outboxes,
}

impl Federation {
    /// Events that have been seen; `None`: no gateway leads to this channel.
    pub(super) fn seen(&self) -> Option<&Seen> {
        self.seen.get()
    }

    /// Begins to remember this number of events, unless it remembers events already.
    pub(super) fn remember(&self, number: usize) -> &Seen {
        self.seen.get_or_init(|| Seen::new(number))
    }

    /// Shows a gateway in the channel's statistics, as long as another owner holds it.
    pub(super) fn show(&self, counters: &Arc<Counters>) {
        let mut gateways = self.gateways.lock();
        gateways.retain(|one| one.strong_count() > 0);
        gateways.push(Arc::downgrade(counters));
    }

    pub(super) fn statistics(&self) -> Vec<GatewayStatistics> {
        let gateways = self.gateways.lock();
        let existing = gateways.iter().filter_map(Weak::upgrade);
        existing.map(|gateway| gateway.statistics()).collect()
    }
}
