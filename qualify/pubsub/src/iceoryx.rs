//! iceoryx2: samples in shared memory, and its event service to wake the subscriber, which would otherwise
//! have to ask all the time.

use std::time::Duration;

use iceoryx2::prelude::*;

use crate::{
    Result,
    engine::{Octets, Publish},
};

/// Samples that may wait for the subscriber.
const QUEUE: usize = 64;

pub fn publisher(name: &str) -> Result<Publish> {
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let samples = node
        .service_builder(&name.try_into()?)
        .publish_subscribe::<Octets>()
        .subscriber_max_buffer_size(QUEUE)
        .open_or_create()?;
    let wake = node.service_builder(&name.try_into()?).event().open_or_create()?;
    let publisher = samples.publisher_builder().create()?;
    let notifier = wake.notifier_builder().create()?;
    Ok(Box::new(move |octets| {
        let _ = &node;
        publisher.loan_uninit()?.write_payload(octets).send()?;
        notifier.notify()?;
        Ok(())
    }))
}

pub fn subscribe(name: &str, mut receive: impl FnMut(&[u8])) -> Result<()> {
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let samples = node
        .service_builder(&name.try_into()?)
        .publish_subscribe::<Octets>()
        .subscriber_max_buffer_size(QUEUE)
        .open_or_create()?;
    let wake = node.service_builder(&name.try_into()?).event().open_or_create()?;
    let subscriber = samples.subscriber_builder().create()?;
    let listener = wake.listener_builder().create()?;
    loop {
        listener.timed_wait(|_| (), Duration::from_secs(1))?;
        while let Some(sample) = subscriber.receive()? {
            receive(sample.payload());
        }
    }
}
