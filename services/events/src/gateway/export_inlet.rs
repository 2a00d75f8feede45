//! `export` and `inlet`: the two ends of gateways over networks that this crate does not know.

use std::{
    borrow::Borrow,
    sync::{Arc, OnceLock},
};

use punctual::Poa;
use punctual_os::PiMutex;

use super::{Counters, Gateway, GatewayStatistics, Imported, MakersPriority, Source, inlet::Inlet};
use crate::{
    EventChannel, EventError, Filter, RemoteChannel,
    rtec::{
        punctual_events::{ExportTotals, GatewayTotals, NamedSupplierRef},
        rtec_event_comm::Event,
    },
};

/// Outcome of an event that a gateway was to send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sent {
    /// It was sent.
    Forwarded,
    /// It came from the place to which it would be sent.
    Returned,
    /// It could not be sent.
    Lost,
}

impl EventChannel {
    /// Calls `send` for each event that a filter accepts and that may pass another gateway: send it with its
    /// `ttl` decremented by one. A thread of the channel makes the calls, with the lowest priority. The
    /// statistics of this channel show the gateway. [`Datagrams`] is implemented with this and
    /// [`inlet`](Self::inlet).
    ///
    /// # Errors
    /// The channel refuses the filter or another consumer.
    ///
    /// [`Datagrams`]: crate::Datagrams
    ///
    /// ```
    /// use punctual_events::{EventChannel, EventType, Filter, Sent};
    ///
    /// let channel = EventChannel::builder().build()?;
    /// let gateway = channel.export(&Filter::every_event(), "printer", |event| {
    ///     println!("{}", event.header.r#type);
    ///     Sent::Forwarded
    /// })?;
    /// channel.push_octets(EventType(17), b"hot")?;
    /// assert_eq!(gateway.statistics().forwarded, 1);
    /// # Ok::<(), punctual_events::EventError>(())
    /// ```
    pub fn export(
        &self,
        filter: &Filter,
        name: &str,
        send: impl Fn(&Event) -> Sent + Send + Sync + 'static,
    ) -> Result<Gateway, EventError> {
        let counters = Counters::new(name);
        self.core.show_gateway(&counters);
        let counted = Arc::clone(&counters);
        let subscription = self.subscribe_to(filter.clone()).gateway().name(name);
        let subscription = subscription.sets(move |events| {
            counted.export(events, &send);
            Ok(())
        })?;
        let source = Source::Local(subscription);
        Ok(Gateway { source, counters })
    }

    /// Creates the destination of a gateway's events in this channel, whose statistics show it.
    pub fn inlet(&self, name: &str) -> OwnInlet {
        let counters = Counters::new(name);
        self.core.show_gateway(&counters);
        let inlet = Inlet::local(&self.core, &counters);
        OwnInlet::new(inlet, counters)
    }
}

impl RemoteChannel {
    /// Like [`EventChannel::export`], for a channel of another process. An object of `poa` receives its
    /// events, on the threads of its pool, which call `send`. The statistics of a channel of another vendor
    /// show it only as a consumer.
    ///
    /// # Errors
    /// The channel refuses, or a call fails.
    pub fn export(
        &self,
        poa: &Poa,
        filter: &Filter,
        name: &str,
        send: impl Fn(&Event) -> Sent + Send + Sync + 'static,
    ) -> Result<Gateway, EventError> {
        let counters = Counters::new(name);
        let report = Arc::new(Report {
            counters: Arc::clone(&counters),
            supplier: OnceLock::new(),
            last: PiMutex::default(),
            priority: MakersPriority::of_this_thread(),
        });
        let reports = Arc::clone(&report);
        let subscription = self.connect(poa, filter, true, move |events| {
            let events: Vec<Event> = events.iter().map(|event| event.to_owned()).collect();
            reports.counters.export(&events, &send);
            reports.send();
        })?;
        // A channel of another vendor knows no names.
        if subscription.set_name(name).is_ok() {
            let _ = report.supplier.set(subscription.proxy());
            report.send();
        }
        let source = Source::Subscription(subscription);
        Ok(Gateway { source, counters })
    }

    /// Like [`EventChannel::inlet`], for a channel of another process. Events are passed on with the priority
    /// that is set for the thread that calls this, whatever thread it is. Give the ORB a timeout of calls.
    ///
    /// # Errors
    /// The channel refuses, or a call fails.
    pub fn inlet(&self, name: &str) -> Result<OwnInlet, EventError> {
        let counters = Counters::new(name);
        let inlet = Inlet::connect(self, &counters)?;
        Ok(OwnInlet::new(inlet, counters))
    }
}

/// Report to the channel from which a gateway takes events.
struct Report {
    counters: Arc<Counters>,
    /// Set when the gateway is connected.
    supplier: OnceLock<NamedSupplierRef>,
    last: PiMutex<Option<ExportTotals>>,
    priority: MakersPriority,
}

impl Report {
    /// Reports what has changed. The channel itself knows which events it has delivered.
    fn send(&self) {
        let Some(supplier) = self.supplier.get() else {
            return;
        };
        let totals = self.counters.export_totals();
        let mut last = self.last.lock();
        if last.as_ref() != Some(&totals) && self.priority.call(|| supplier.report(&totals)).is_ok() {
            *last = Some(totals);
        }
    }
}

/// Destination of a gateway's events. After a failure, a channel of another process is connected again, once
/// a second at most.
pub struct OwnInlet {
    inlet: Inlet,
    counters: Arc<Counters>,
    /// Totals that the channel has been told.
    reported: PiMutex<GatewayTotals>,
}

impl OwnInlet {
    fn new(inlet: Inlet, counters: Arc<Counters>) -> Self {
        Self {
            inlet,
            counters,
            reported: PiMutex::default(),
        }
    }

    /// Passes events on, and counts their outcomes. Events that the channel already had are dropped.
    pub fn pass(&self, events: &[Event]) {
        *self.reported.lock() = self.counters.totals();
        if self.inlet.pass(events, 0).is_err() {
            self.counters.count_lost(events.len() as u64);
        }
    }

    /// Shows the counters in the statistics of a channel of another process, if they have changed and no
    /// events have passed since.
    pub fn report(&self) {
        let totals = self.counters.totals();
        if self.reported.lock().ne(&totals) {
            self.pass(&[]);
        }
    }

    /// Counts events that were lost on their way here.
    pub fn count_lost(&self, events: u64) {
        self.counters.count_lost(events);
    }

    /// Counts a message that contained no events.
    pub fn count_malformed(&self) {
        self.counters.count_malformed();
    }

    /// Counts a message that contradicts others of its sender, or comes from too many senders.
    pub fn count_implausible(&self) {
        self.counters.count_implausible();
    }

    /// Counts a loss of the connection to the other gateways.
    pub fn count_interrupted(&self) {
        self.counters.count_interrupted();
    }

    /// Counts a recovery of the connection to the other gateways.
    pub fn count_reconnected(&self) {
        self.counters.count_reconnected();
    }

    /// Counts an event that this gateway has brought before.
    pub fn count_repeated(&self) {
        self.counters.count(Imported::Repeated);
    }

    /// Counts an event whose `ttl` is exhausted.
    pub fn count_expired(&self) {
        self.counters.count_expired(1);
    }

    /// Returns the outcomes of the events.
    pub fn statistics(&self) -> GatewayStatistics {
        self.counters.statistics()
    }

    pub(super) fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.counters)
    }
}

impl Counters {
    fn export<E: Borrow<Event>>(&self, events: &[E], send: impl Fn(&Event) -> Sent) {
        for event in events.iter().map(Borrow::borrow) {
            if event.header.ttl <= 0 {
                self.count_expired(1);
                continue;
            }
            match send(event) {
                Sent::Forwarded => self.count(Imported::Passed),
                Sent::Returned => self.count(Imported::Returned),
                Sent::Lost => self.count_lost(1),
            }
        }
    }
}
