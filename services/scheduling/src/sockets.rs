//! Options of the sockets of a lane in a schedule.

use punctual::SocketOptions;
use serde::{Deserialize, Serialize};

use crate::Span;

/// Options of the sockets of a lane's connections: [`SocketOptions`]. What is absent is left to the system;
/// what the system refuses is reported once on standard error, and the lane serves without it.
///
/// ```
/// use punctual::SocketOptions;
/// use punctual_scheduling::Sockets;
///
/// let sockets = Sockets { priority: Some(6), ..Sockets::default() };
/// assert_eq!(SocketOptions::from(sockets).priority, Some(6));
/// ```
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sockets {
    /// How long a thread polls the network device before it sleeps (SO_BUSY_POLL), 1 us or more. Only for
    /// lanes with `wait = "blocking"`; needs CAP_NET_ADMIN and a driver with NAPI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_poll: Option<Span>,
    /// CPU whose packets the lane prefers (SO_INCOMING_CPU), by number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incoming_cpu: Option<usize>,
    /// Queue of the packets that the lane sends (SO_PRIORITY); above 6 it needs CAP_NET_ADMIN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u32>,
}

impl From<Sockets> for SocketOptions {
    fn from(sockets: Sockets) -> Self {
        Self {
            busy_poll: sockets.busy_poll.map(|time| time.0),
            incoming_cpu: sockets.incoming_cpu,
            priority: sockets.priority,
        }
    }
}
