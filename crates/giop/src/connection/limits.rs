//! Limits of the memory and time that one peer may occupy at a connection.

use core::time::Duration;

/// Limits of one connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ConnectionLimits {
    /// Octets of a message, its header and all its fragments included. Default 8 MiB.
    pub max_message_size: usize,
    /// Fragmented messages that may be incomplete at the same time. Default 4.
    pub max_fragmented_messages: usize,
    /// Time from the first octet of a message to its last. `None`: the user limits the time itself, and the
    /// connection never reads a clock. Default 30 s.
    pub message_completion: Option<Duration>,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            max_message_size: 8 << 20,
            max_fragmented_messages: 4,
            message_completion: Some(Duration::from_secs(30)),
        }
    }
}
