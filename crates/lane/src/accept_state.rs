//! State of a lane's accepting.

use std::sync::{OnceLock, atomic::AtomicBool};

use punctual_os::PiMutex;

use crate::{LaneLimits, accept_budget::AcceptBudget, descriptors::DescriptorShare, peer_rates::PeerRates};

/// What a lane has accepted and may accept.
pub(crate) struct Accepting {
    pub(crate) budget: PiMutex<AcceptBudget>,
    pub(crate) rates: PiMutex<PeerRates>,
    /// Acceptors are to be armed when the time of the next chores has come.
    pub(crate) paused: AtomicBool,
    /// Set when the lane listens.
    pub(crate) share: OnceLock<DescriptorShare>,
}

impl Accepting {
    pub(crate) fn new(limits: &LaneLimits) -> Self {
        Self {
            budget: PiMutex::new(AcceptBudget::new(limits.accept_percent)),
            rates: PiMutex::new(PeerRates::new(
                limits.accept_rate_per_peer,
                limits.max_connections_per_peer,
            )),
            paused: AtomicBool::new(false),
            share: OnceLock::new(),
        }
    }
}
