//! Peers that may locate and cancel distributable threads.

use punctual_orb::Peers;
use punctual_transport::Peer;

/// Policy of an endsystem's control: the peers that may locate and cancel its distributable threads.
///
/// The connection determines the peer, as for accepted priorities. Other peers are refused with
/// NO_PERMISSION.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_orb::*, punctual_rtsched as rtscheduling}; }
/// use punctual::{Peers, rtscheduling::remote::CancellationPolicy};
///
/// // The default, and the machine room.
/// let policy = CancellationPolicy::default().allow(Peers::network("192.168.7.0".parse()?, 24));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CancellationPolicy {
    allowed: Vec<Peers>,
    callers: bool,
}

/// Permits processes of the same host, and the hosts whose calls brought the thread here, because a caller
/// may withdraw its call. Any process that has the id can ask those hosts.
impl Default for CancellationPolicy {
    fn default() -> Self {
        Self {
            allowed: vec![Peers::SameHost],
            callers: true,
        }
    }
}

impl CancellationPolicy {
    /// Permits no peer.
    pub fn deny_all() -> Self {
        Self {
            allowed: Vec::new(),
            callers: false,
        }
    }

    /// Permits these peers as well, for all threads.
    pub fn allow(mut self, peers: Peers) -> Self {
        self.allowed.push(peers);
        self
    }

    /// Sets whether hosts whose calls brought a thread here are permitted, for that thread. Default: yes.
    pub fn callers(mut self, allowed: bool) -> Self {
        self.callers = allowed;
        self
    }

    /// Checks a peer. `called`: whether a call of that peer brought the thread here.
    pub(super) fn allows(&self, peer: Peer, called: impl FnOnce() -> bool) -> bool {
        self.allowed.iter().any(|peers| peers.include(peer)) || self.callers && called()
    }
}
