//! Channel, consumer and supplier, all on the measured CPU.

use std::time::Duration;

use punctual_harness::{ChildSpec, Watchdog, child::Process};

use super::{
    ANSWER, GATEWAYS, HIGH, MEASURED, ONE_LANE, TIMEOUT,
    channel::{Channel, ChannelSetup, References},
    consumer::{Collect, Collected, Consumer, ConsumerSetup, Subscribe},
    supplier::{Push, Pushed, Supplier, SupplierSetup},
};
use crate::{cubit::transport::Transport, error::Error, testbed::Testbed};

pub(super) struct Site {
    pub(super) supplier: Process<Supplier>,
    pub(super) consumer: Process<Consumer>,
    /// The first one is the supplier's.
    pub(super) channels: Vec<Process<Channel>>,
    /// Reference to the supplier's channel.
    pub(super) references: References,
    _watchdog: Watchdog,
}

impl Site {
    /// Starts the processes; the consumer is subscribed.
    pub(super) fn start(
        testbed: &Testbed,
        setup: &ChannelSetup,
        supplier_priority: i16,
        timeout: Duration,
    ) -> Result<Self, Error> {
        let gateways = if testbed.is_under(&GATEWAYS) { 2 } else { 0 };
        let (first, references) = start::<Channel>(testbed, "channel", setup)?;
        let mut channels = vec![first];
        let mut last = references.high.clone();
        for _ in 0..gateways {
            let setup = ChannelSetup {
                import: Some(last),
                ..setup.clone()
            };
            let (channel, references) = start::<Channel>(testbed, "channel", &setup)?;
            channels.push(channel);
            last = references.high;
        }
        let consumer = consumer(testbed, setup.transport, &last, HIGH, MEASURED.0, 1)?;
        let supplier = supplier(testbed, &references.high, supplier_priority, MEASURED.0)?;
        let mut killers = vec![consumer.killer()?, supplier.killer()?];
        for channel in &channels {
            killers.push(channel.killer()?);
        }
        Ok(Self {
            _watchdog: Watchdog::start(timeout, killers, &testbed.places.driver)?,
            supplier,
            consumer,
            channels,
            references,
        })
    }

    /// Pushes, and returns what the consumer has received.
    pub(super) fn push(&mut self, push: &Push) -> Result<(Pushed, Collected), Error> {
        let pushed = self.supplier.perform(push, ANSWER)?;
        let collected = self.consumer.perform(&Collect(pushed.events), ANSWER)?;
        Ok((pushed, collected))
    }

    pub(super) fn stop(self) -> Result<(), Error> {
        self.supplier.stop(TIMEOUT)?;
        self.consumer.stop(TIMEOUT)?;
        for channel in self.channels {
            channel.stop(TIMEOUT)?;
        }
        Ok(())
    }
}

/// The channel of an ordinary run.
pub(super) fn channel_setup(testbed: &Testbed, transport: Transport) -> ChannelSetup {
    ChannelSetup {
        transport,
        has_low_lane: !testbed.is_under(&ONE_LANE),
        queue: 64,
        blocks: false,
        import: None,
    }
}

pub(super) fn consumer(
    testbed: &Testbed,
    transport: Transport,
    channel: &str,
    priority: i16,
    event_type: i32,
    consumers: u32,
) -> Result<Process<Consumer>, Error> {
    let setup = ConsumerSetup {
        transport,
        channel: channel.to_owned(),
        priority,
    };
    let (mut consumer, ()) = start::<Consumer>(testbed, "consumer", &setup)?;
    let subscribe = Subscribe {
        consumers,
        event_type,
    };
    consumer.perform(&subscribe, TIMEOUT)?;
    Ok(consumer)
}

pub(super) fn supplier(
    testbed: &Testbed,
    channel: &str,
    priority: i16,
    event_type: i32,
) -> Result<Process<Supplier>, Error> {
    let setup = SupplierSetup {
        channel: channel.to_owned(),
        priority,
        event_type,
    };
    Ok(start::<Supplier>(testbed, "supplier", &setup)?.0)
}

fn start<R: punctual_harness::child::Role>(
    testbed: &Testbed,
    name: &str,
    setup: &R::Setup,
) -> Result<(Process<R>, R::Ready), Error> {
    let spec = ChildSpec::of::<R>(name).affinity(testbed.places.pinned.clone());
    Ok(spec.start::<R>(setup, TIMEOUT)?)
}
