//! Events that wake the threads of a lane: its poller, the tokens in it, its doorbell and its timers.

use std::{io, sync::Arc};

use punctual_os::{Doorbell, Interest, Poller, Trigger};

use crate::sharing::deadline_timer::DeadlineTimer;

/// Token of [`LaneEvents::chores`].
pub(crate) const CHORES: u64 = u64::MAX;
/// Token of [`LaneEvents::doorbell`].
pub(crate) const DOORBELL: u64 = u64::MAX - 1;
/// Token of [`LaneEvents::call_timeouts`].
pub(crate) const CALL_TIMEOUT: u64 = u64::MAX - 2;
/// Token of a timer: a connection that was put off may have its turn.
pub(crate) const DEFERRED: u64 = u64::MAX - 3;
/// Tokens of lanes above that ask for threads, downwards from here.
pub(crate) const FIRST_ABOVE: u64 = u64::MAX - 4;
/// The last one of them.
pub(crate) const LAST_ABOVE: u64 = u64::MAX - 17;
/// Tokens of acceptors, upwards from here. Smaller tokens are connections.
pub(crate) const FIRST_ACCEPTOR: u64 = 1 << 32;

/// Poller of a lane, with its doorbell and its timers.
pub(crate) struct LaneEvents {
    pub(crate) poller: Arc<Poller>,
    pub(crate) doorbell: Doorbell,
    pub(crate) call_timeouts: DeadlineTimer,
    /// Time of the next periodic work, such as accepting after a pause.
    pub(crate) chores: DeadlineTimer,
}

impl LaneEvents {
    pub(crate) fn new() -> io::Result<Self> {
        let events = Self {
            poller: Arc::new(Poller::new()?),
            doorbell: Doorbell::new()?,
            call_timeouts: DeadlineTimer::new()?,
            chores: DeadlineTimer::new()?,
        };
        let poller = &events.poller;
        poller.add(&events.doorbell, DOORBELL, Interest::READ, Trigger::Level)?;
        events.add_timer(&events.call_timeouts, CALL_TIMEOUT)?;
        events.add_timer(&events.chores, CHORES)?;
        Ok(events)
    }

    /// Adds a timer, which wakes one thread each time that it expires.
    pub(crate) fn add_timer(&self, timer: &DeadlineTimer, token: u64) -> io::Result<()> {
        self.poller
            .add(timer.timer(), token, Interest::READ, Trigger::Edge)
    }
}
