//! State of a lane's accepting.

use std::{
    sync::{Arc, OnceLock, atomic::AtomicBool},
    time::Duration,
};

use punctual_os::PiMutex;

use crate::{
    Acceptors, LaneLimits,
    accept::{descriptors::DescriptorShare, peer_rates::PeerRates},
    budgets::time_budget::TimeBudget,
};

/// Time that may be spent at once: about 50 connections.
const BURST: Duration = Duration::from_millis(2);

/// Acceptors of a lane, and the limits on its accepting.
pub(crate) struct Accepting {
    /// One for each endpoint; their tokens begin with [`FIRST_ACCEPTOR`](crate::threads::lane_events::FIRST_ACCEPTOR).
    pub(crate) acceptors: Arc<Acceptors>,
    pub(crate) budget: PiMutex<TimeBudget>,
    pub(crate) rates: PiMutex<PeerRates>,
    /// Acceptors are to be armed with the next chores.
    pub(crate) paused: AtomicBool,
    /// Set when the lane listens.
    pub(crate) share: OnceLock<DescriptorShare>,
}

impl Accepting {
    pub(crate) fn new(limits: &LaneLimits) -> Self {
        Self {
            acceptors: Arc::default(),
            budget: PiMutex::new(TimeBudget::new(limits.accepting.percent, BURST)),
            rates: PiMutex::new(PeerRates::new(
                limits.accepting.rate_per_peer,
                limits.accepting.per_peer,
            )),
            paused: AtomicBool::new(false),
            share: OnceLock::new(),
        }
    }
}
