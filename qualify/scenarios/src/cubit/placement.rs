//! A placement of client and server.

use super::{
    server::Fault,
    transport::{LaneWait, Transport},
};

/// The CPUs of client and server, the transport, and how the server's lane waits.
pub(super) struct Placement {
    pub(super) name: &'static str,
    pub(super) client: usize,
    pub(super) server: usize,
    pub(super) transport: Transport,
    pub(super) lane_wait: LaneWait,
    pub(super) fault: Option<Fault>,
}

impl Placement {
    /// Returns the suffix of claim ids: the placement, with transport and wait mode unless they are the
    /// defaults.
    pub(super) fn place(&self) -> String {
        let wait = match self.lane_wait {
            LaneWait::Polled => "",
            LaneWait::Blocking => "-blocking",
        };
        match self.transport {
            Transport::Tcp => format!("{}{wait}", self.name),
            other => format!("{}{wait}.{}", other.name(), self.name),
        }
    }
}
