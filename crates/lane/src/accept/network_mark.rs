//! Network priority of a connection's packets.

use std::sync::atomic::{AtomicU16, Ordering};

use punctual_sched::NetworkPriorityMapping;
use punctual_transport::{ProtocolProperties, Stream};
use punctual_types::Priority;

/// Network priority that the packets of a connection carry.
pub struct NetworkMark {
    enabled: bool,
    /// Code point and queue that were set last.
    last: AtomicU16,
}

impl NetworkMark {
    /// Mark of a new connection, which has the default priority.
    pub fn new(properties: &ProtocolProperties) -> Self {
        Self {
            enabled: properties.enable_network_priority,
            // The default of a new socket.
            last: AtomicU16::new(0),
        }
    }

    /// Sets the network priority of the next packets. System calls only if it differs from the last one.
    #[inline]
    pub fn set(&self, stream: &dyn Stream, mapping: &dyn NetworkPriorityMapping, priority: Option<Priority>) {
        if !self.enabled {
            return;
        }
        let Some(priority) = priority else { return };
        let network = mapping.to_network(priority);
        let packed = u16::from_be_bytes([network.dscp, network.queue]);
        if self.last.load(Ordering::Relaxed) != packed {
            self.last.store(packed, Ordering::Relaxed);
            // Packets that may not be marked are sent unmarked.
            let _ = stream.set_network_priority(network);
        }
    }
}
