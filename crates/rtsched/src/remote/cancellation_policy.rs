use punctual_orb::Peers;
use punctual_transport::Peer;

/// Which peers an endsystem's control lets look for distributable threads, and cancel them.
///
/// What a peer is comes from its connection, as for accepted priorities. Others are refused with NO_PERMISSION.
///
/// ```
/// use punctual_orb::Peers;
/// use punctual_rtsched::remote::CancellationPolicy;
///
/// // As by default, and the machine room besides.
/// let policy = CancellationPolicy::default().allow(Peers::network("192.168.7.0".parse()?, 24));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CancellationPolicy {
    allowed: Vec<Peers>,
    callers: bool,
}

/// Processes of the same host may, and the hosts whose calls have brought the thread here: who calls an operation may take the call
/// back. Whoever has its id may ask them.
impl Default for CancellationPolicy {
    fn default() -> Self {
        Self {
            allowed: vec![Peers::SameHost],
            callers: true,
        }
    }
}

impl CancellationPolicy {
    /// Nobody may.
    pub fn nobody() -> Self {
        Self {
            allowed: Vec::new(),
            callers: false,
        }
    }

    /// These may as well, for all threads.
    pub fn allow(mut self, peers: Peers) -> Self {
        self.allowed.push(peers);
        self
    }

    /// Whether the hosts may whose calls have brought a thread here, for that thread. Default: yes.
    pub fn callers(mut self, allowed: bool) -> Self {
        self.callers = allowed;
        self
    }

    /// `called` says whether a call from there has brought the thread here.
    pub(super) fn allows(&self, peer: Peer, called: impl FnOnce() -> bool) -> bool {
        self.allowed.iter().any(|peers| peers.include(peer)) || self.callers && called()
    }
}
