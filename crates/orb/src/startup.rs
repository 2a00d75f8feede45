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
    limit: Duration,
}

impl Startup {
    pub(crate) fn new(limit: Duration) -> Self {
        Self {
            over: AtomicBool::new(false),
            began: Instant::now(),
            limit,
        }
    }

    pub(crate) fn lasts(&self) -> bool {
        !self.over.load(Ordering::Relaxed) && self.began.elapsed() < self.limit
    }

    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}
