//! Limits of gateways over datagrams.

use std::time::Duration;

/// Limits of a gateway over datagrams.
#[derive(Clone, Debug, PartialEq)]
pub struct DatagramLimits {
    /// Maximum number of octets of a datagram that is sent, from 40 to 65,507; default 1,024, as in TAO.
    pub datagram: usize,
    /// Maximum number of octets of an event, with header; default 1 MiB. A longer one is lost.
    pub message: usize,
    /// Maximum number of received messages that are incomplete; default 64. Beyond it, the oldest message of
    /// the sender that has most of them is lost.
    pub incomplete: usize,
    /// Maximum number of octets that incomplete messages hold, counting 64 for each fragment; default 4 MiB.
    /// Beyond it, the same applies.
    pub memory: usize,
    /// Time in which a message must be complete; default 1 s.
    pub completion: Duration,
}

impl Default for DatagramLimits {
    fn default() -> Self {
        Self {
            datagram: 1_024,
            message: 1 << 20,
            incomplete: 64,
            memory: 4 << 20,
            completion: Duration::from_secs(1),
        }
    }
}
