//! Publishing values as events.

use std::{marker::PhantomData, sync::Arc};

use crate::{
    EventChannel, EventError, SourceId,
    channel::Core,
    topic::{self, Encoding, Topic},
};

impl EventChannel {
    /// Begins to publish values of a topic.
    pub fn publish<T: Topic>(&self) -> Publisher<T> {
        Publisher {
            core: Arc::clone(&self.core),
            source: SourceId::ANY,
            ttl: 1,
            encoding: Encoding::Octets,
            topic: PhantomData,
        }
    }
}

/// Pushes values of a topic to a channel.
#[derive(Clone)]
pub struct Publisher<T> {
    core: Arc<Core>,
    source: SourceId,
    ttl: i32,
    encoding: Encoding,
    topic: PhantomData<fn(T)>,
}

impl<T: Topic> Publisher<T> {
    /// Sets the source of the events. Default: 0.
    pub fn source(mut self, source: impl Into<SourceId>) -> Self {
        self.source = source.into();
        self
    }

    /// Sets how many gateways may pass the events on. Default: 1.
    pub fn ttl(mut self, gateways: i32) -> Self {
        self.ttl = gateways;
        self
    }

    /// Sends values as `any`, which costs heap allocations.
    pub fn as_any(mut self) -> Self {
        self.encoding = Encoding::Any;
        self
    }

    /// Pushes a value; returns the number of consumers that will get it.
    ///
    /// # Errors
    /// The value cannot be encoded or exceeds the limit of payloads, or the channel has been destroyed.
    pub fn push(&self, value: &T) -> Result<usize, EventError> {
        self.core.push(|event| {
            event.header.r#type = T::EVENT_TYPE.0;
            event.header.source = self.source.0;
            event.header.ttl = self.ttl;
            Ok(topic::write(value, self.encoding, &mut event.data)?)
        })
    }
}
