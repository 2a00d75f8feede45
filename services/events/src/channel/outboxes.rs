//! Outboxes as consumers of a channel.

use std::sync::Arc;

use punctual::Priority;

use super::Core;
use crate::{
    EventError, Filter,
    consumer::{ConsumerQos, Exit, UNTIMED},
    outbox::ChannelOutbox,
};

impl Core {
    /// The outbox of this name, which is made if there is none.
    pub(crate) fn outbox(
        self: &Arc<Self>,
        name: &str,
        filter: Filter,
    ) -> Result<Arc<ChannelOutbox>, EventError> {
        if let Some(outbox) = self.federation.outboxes.find(name) {
            return Ok(outbox);
        }
        let qos = ConsumerQos {
            name: format!("outbox {name}"),
            priority: Priority::MIN,
            queue: self.limits.gateways.kept,
            octets: self.limits.octets.kept,
            overflow: self.default_queue.overflow,
            is_gateway: true,
            timing: UNTIMED,
            rt_infos: Vec::new(),
        };
        let consumer = self.subscribe(filter, qos, Exit::Receiver)?;
        let new = Arc::new(ChannelOutbox::new(name, consumer, self.limits.octets.batch));
        let limit = self.limits.gateways.number;
        let outbox = self.federation.outboxes.add(Arc::clone(&new), limit);
        if !outbox.as_ref().is_some_and(|outbox| Arc::ptr_eq(outbox, &new)) {
            self.unsubscribe(&new.consumer);
        }
        outbox.ok_or_else(|| {
            self.counters.refusals.count_limit();
            EventError::TooManyGateways(limit)
        })
    }

    /// Removes an outbox, with its waiting events.
    pub(crate) fn close_outbox(&self, outbox: &Arc<ChannelOutbox>) {
        self.federation.outboxes.remove(outbox);
        self.unsubscribe(&outbox.consumer);
    }
}
