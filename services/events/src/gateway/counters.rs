//! Counters of gateways.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::rtec::punctual_events::{ExportTotals, GatewayTotals, Receipt};

/// Outcomes of the events that a gateway received.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct GatewayStatistics {
    /// Its name.
    pub name: String,
    /// Number of events that were passed on. Towards a channel of another vendor, which does not answer, it
    /// includes those that the channel does not accept.
    pub forwarded: u64,
    /// Number of events that the channel had from another gateway, or twice from this one.
    pub repeated: u64,
    /// Number of events that came back to the channel whose supplier made them: loops.
    pub returned: u64,
    /// Number of events whose `ttl` was exhausted.
    pub expired: u64,
    /// Number of events that could not be passed on: the other channel refused them or could not be reached,
    /// or the gateway's queue was full.
    pub lost: u64,
    /// Number of messages that contained no events, or contradicted others.
    pub malformed: u64,
    /// Number of messages whose number or sender is implausible, so the messages that are missing before them
    /// cannot be counted. Their events are passed on.
    pub implausible: u64,
    /// Number of times that the connection to its channel, router or peer was lost.
    pub interrupted: u64,
    /// Number of times that it was reached again. If this is less than `interrupted`, it is unreachable at
    /// present.
    pub reconnected: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    name: String,
    forwarded: AtomicU64,
    repeated: AtomicU64,
    returned: AtomicU64,
    expired: AtomicU64,
    lost: AtomicU64,
    malformed: AtomicU64,
    implausible: AtomicU64,
    interrupted: AtomicU64,
    reconnected: AtomicU64,
}

/// Outcome of an event that a gateway brought.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Imported {
    Passed,
    /// Another gateway has brought it before.
    Repeated,
    /// A supplier of the channel has made it.
    Returned,
}

impl Counters {
    pub(crate) fn new(name: impl Into<String>) -> Arc<Self> {
        Arc::new(Self {
            name: name.into(),
            ..Self::default()
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn count(&self, imported: Imported) {
        let counter = match imported {
            Imported::Passed => &self.forwarded,
            Imported::Repeated => &self.repeated,
            Imported::Returned => &self.returned,
        };
        counter.fetch_add(1, Relaxed);
    }

    pub(super) fn count_expired(&self, events: u64) {
        self.expired.fetch_add(events, Relaxed);
    }

    pub(crate) fn count_lost(&self, events: u64) {
        self.lost.fetch_add(events, Relaxed);
    }

    pub(super) fn count_malformed(&self) {
        self.malformed.fetch_add(1, Relaxed);
    }

    pub(super) fn count_implausible(&self) {
        self.implausible.fetch_add(1, Relaxed);
    }

    pub(super) fn count_interrupted(&self) {
        self.interrupted.fetch_add(1, Relaxed);
    }

    pub(super) fn count_reconnected(&self) {
        self.reconnected.fetch_add(1, Relaxed);
    }

    pub(super) fn count_forwarded(&self, events: u64) {
        self.forwarded.fetch_add(events, Relaxed);
    }

    /// Outcomes that the other side reports for a set.
    pub(super) fn count_answer(&self, answer: &Receipt) {
        self.forwarded.fetch_add(answer.passed.into(), Relaxed);
        self.repeated.fetch_add(answer.repeated.into(), Relaxed);
        self.returned.fetch_add(answer.returned.into(), Relaxed);
        self.lost.fetch_add(answer.refused.into(), Relaxed);
    }

    /// Counters that only the gateway itself maintains.
    pub(super) fn totals(&self) -> GatewayTotals {
        GatewayTotals {
            expired: self.expired.load(Relaxed),
            lost: self.lost.load(Relaxed),
            malformed: self.malformed.load(Relaxed),
            implausible: self.implausible.load(Relaxed),
            interrupted: self.interrupted.load(Relaxed),
            reconnected: self.reconnected.load(Relaxed),
        }
    }

    /// Counters that the other side cannot know of a gateway that takes events from a channel.
    pub(super) fn export_totals(&self) -> ExportTotals {
        ExportTotals {
            returned: self.returned.load(Relaxed),
            expired: self.expired.load(Relaxed),
            lost: self.lost.load(Relaxed),
        }
    }

    /// Takes over the totals of the gateway at the other side.
    pub(crate) fn take_totals(&self, totals: &GatewayTotals) {
        self.expired.store(totals.expired, Relaxed);
        self.lost.store(totals.lost, Relaxed);
        self.malformed.store(totals.malformed, Relaxed);
        self.implausible.store(totals.implausible, Relaxed);
        self.interrupted.store(totals.interrupted, Relaxed);
        self.reconnected.store(totals.reconnected, Relaxed);
    }

    /// Like [`take_totals`](Self::take_totals), of a gateway that takes events from a channel.
    pub(crate) fn take_export_totals(&self, totals: &ExportTotals) {
        self.returned.store(totals.returned, Relaxed);
        self.expired.store(totals.expired, Relaxed);
        self.lost.store(totals.lost, Relaxed);
    }

    pub(crate) fn statistics(&self) -> GatewayStatistics {
        GatewayStatistics {
            name: self.name.clone(),
            forwarded: self.forwarded.load(Relaxed),
            repeated: self.repeated.load(Relaxed),
            returned: self.returned.load(Relaxed),
            expired: self.expired.load(Relaxed),
            lost: self.lost.load(Relaxed),
            malformed: self.malformed.load(Relaxed),
            implausible: self.implausible.load(Relaxed),
            interrupted: self.interrupted.load(Relaxed),
            reconnected: self.reconnected.load(Relaxed),
        }
    }
}
