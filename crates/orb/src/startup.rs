//! Startup of a server: it creates its adapters and objects while its lanes already receive requests.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// Time from the start of an ORB until a thread calls `Orb::run`, with an upper limit: some ORBs serve with
/// thread pools only, and never call it.
pub(crate) struct Startup {
    over: AtomicBool,
    began: Instant,
    timeout: Duration,
}

impl Startup {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self {
            over: AtomicBool::new(false),
            began: Instant::now(),
            timeout,
        }
    }

    pub(crate) fn lasts(&self) -> bool {
        !self.over.load(Ordering::Relaxed) && self.began.elapsed() < self.timeout
    }

    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}
