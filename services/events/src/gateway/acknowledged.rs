//! Gateways that acknowledge: an event stays in its channel until the other channel has it.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use punctual::Interface;

use super::{
    Counters, Gateway, Source,
    inlet::Inlet,
    worker::{Shared, Worker},
};
use crate::{
    EventError, Filter, RemoteChannel,
    remote::nil,
    rtec::punctual_events::{ChannelRef, OutboxRef},
    rtec::rtec_event_channel_admin::ConsumerQos,
};

/// Settings of a gateway that acknowledges.
#[derive(Clone, Debug, PartialEq)]
pub struct Acknowledged {
    /// Name by which the channels recognise the gateway after a restart. Each gateway has its own name.
    pub name: String,
    /// Maximum number of events in one call; default 64.
    pub batch: u32,
    /// Time after which an empty channel is queried again; default 10 ms. It is added to the latency of
    /// events.
    pub interval: Duration,
    /// Time after which a channel that failed is queried again; default 1 s.
    pub retry: Duration,
}

impl Acknowledged {
    /// Returns the default settings with this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            batch: 64,
            interval: Duration::from_millis(10),
            retry: Duration::from_secs(1),
        }
    }
}

impl RemoteChannel {
    /// Like [`forward`](Self::forward), but without losing an event or delivering it twice while the gateway
    /// or the other channel cannot be reached, ends or starts again: this channel keeps up to
    /// [`kept`](crate::GatewayLimits::kept) events for the gateway, which fetches them in batches, and a
    /// batch stays until `to` has queued it for its consumers. `to` recognises a batch that it gets again.
    /// Beyond `kept`, the overflow rule of this channel applies: with `Block` its suppliers wait.
    ///
    /// Waiting events are lost when the process of this channel ends, or if they have not been fetched for
    /// [`kept_for`](crate::GatewayLimits::kept_for). The thread NAME-gateway of this process fetches, with
    /// calls of the priority that is set for the thread that calls this; give the ORB a timeout of calls.
    ///
    /// # Errors
    /// A channel refuses, a call fails, or a channel is of another vendor and does not acknowledge.
    ///
    /// ```no_run
    /// use punctual::Orb;
    /// use punctual_events::{Acknowledged, Filter, RemoteChannel};
    ///
    /// let orb = Orb::builder().call_timeout(std::time::Duration::from_secs(2)).build()?;
    /// let from = RemoteChannel::new(orb.resolve("corbaloc::radar:2830/Events")?);
    /// let to = RemoteChannel::new(orb.resolve("corbaloc::localhost:2830/Events")?);
    /// let settings = Acknowledged::new("radar to display");
    /// let gateway = from.forward_acknowledged(&to, &Filter::every_event(), settings)?;
    /// println!("{:?}", gateway.statistics());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn forward_acknowledged(
        &self,
        to: &RemoteChannel,
        filter: &Filter,
        settings: Acknowledged,
    ) -> Result<Gateway, EventError> {
        let counters = Counters::new(&settings.name);
        let inlet = Inlet::connect(to, &counters)?.kept();
        if !inlet.answers() {
            let text = "the other channel is of another vendor, which does not acknowledge";
            return Err(EventError::Refused(text.to_owned()));
        }
        let qos = ConsumerQos {
            dependencies: filter.to_dependencies(),
            is_gateway: true,
        };
        let mut transfer = Transfer {
            from: ChannelRef::from_object(self.reference.as_object().clone()),
            qos,
            inlet,
            counters: Arc::clone(&counters),
            outbox: None,
            acknowledged: 0,
            counted: 0,
            lost: 0,
            settings,
        };
        transfer.outbox = Some(transfer.open()?);
        let name = format!("{}-gateway", transfer.settings.name);
        let source = Source::Worker(Worker::start(name, move |shared| transfer.run(shared))?);
        Ok(Gateway { source, counters })
    }
}

struct Transfer {
    from: ChannelRef,
    qos: ConsumerQos,
    inlet: Inlet,
    counters: Arc<Counters>,
    outbox: Option<OutboxRef>,
    /// Number of the last batch that the other channel has.
    acknowledged: u64,
    /// Number of the last batch whose expired events have been counted.
    counted: u64,
    /// Last answer of the outbox.
    lost: u64,
    settings: Acknowledged,
}

impl Transfer {
    fn run(&mut self, shared: &Shared) {
        let priority = self.inlet.priority;
        priority.call(|| self.transfer_all(shared));
    }

    fn transfer_all(&mut self, shared: &Shared) {
        while !shared.ends() {
            let done = self.transfer(self.settings.batch);
            shared.is_connected.store(done.is_ok(), Relaxed);
            match done {
                Ok(true) => {}
                Ok(false) => shared.pause(self.settings.interval),
                Err(_) => {
                    // The next outbox does not know which batch is acknowledged.
                    (self.outbox, self.acknowledged) = (None, 0);
                    shared.pause(self.settings.retry);
                }
            }
        }
        // Acknowledges; if it fails, the batch is recognised later.
        let _ = self.transfer(0);
    }

    /// Transfers one batch; returns whether there was one.
    fn transfer(&mut self, most: u32) -> Result<bool, EventError> {
        if self.outbox.is_none() {
            self.outbox = Some(self.open()?);
        }
        let outbox = self.outbox.as_ref().ok_or_else(nil)?;
        let (mut events, number, lost) = outbox.fetch(self.acknowledged, most)?;
        if lost != self.lost {
            // A new outbox begins with 0.
            self.counters
                .count_lost(lost.checked_sub(self.lost).unwrap_or(lost));
            self.lost = lost;
        }
        if events.is_empty() {
            return Ok(false);
        }
        let before = events.len();
        events.retain(|event| event.header.ttl > 0);
        let expired = before - events.len();
        events.iter_mut().for_each(|event| event.header.ttl -= 1);
        if self.counted != number {
            self.counted = number;
            self.counters.count_expired(expired as u64);
        }
        self.inlet.pass(&events, number)?;
        self.acknowledged = number;
        Ok(true)
    }

    fn open(&self) -> Result<OutboxRef, EventError> {
        let outbox = self.from.open_outbox(&self.settings.name, &self.qos);
        let outbox = outbox.map_err(|error| EventError::Refused(error.to_string()))?;
        outbox.ok_or_else(nil)
    }
}
