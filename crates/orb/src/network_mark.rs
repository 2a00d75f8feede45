use std::sync::atomic::{AtomicU16, Ordering};

use punctual_sched::NetworkPriorityMapping;
use punctual_transport::{ProtocolProperties, Stream};
use punctual_types::Priority;

/// The network priority that the packets of a connection carry.
pub(crate) struct NetworkMark {
    enabled: bool,
    /// As last set: code point and queue.
    last: AtomicU16,
}

impl NetworkMark {
    pub(crate) fn new(properties: &ProtocolProperties) -> Self {
        Self {
            enabled: properties.enable_network_priority,
            // What a new socket has.
            last: AtomicU16::new(0),
        }
    }

    /// Before something is sent at this priority. System calls only where it is another one than before.
    pub(crate) fn set(
        &self,
        stream: &dyn Stream,
        mapping: &dyn NetworkPriorityMapping,
        priority: Option<Priority>,
    ) {
        if !self.enabled {
            return;
        }
        let Some(priority) = priority else { return };
        let network = mapping.to_network(priority);
        let packed = u16::from_be_bytes([network.dscp, network.queue]);
        if self.last.load(Ordering::Relaxed) != packed {
            self.last.store(packed, Ordering::Relaxed);
            // What may not be marked so travels as it is; it is sent all the same.
            let _ = stream.set_network_priority(network);
        }
    }
}
