//! The thread of a gateway, which ends with it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use punctual_os::{PiCondvar, PiMutex, Thread, ThreadSpec, clock::later};

use crate::EventError;

/// A thread in the ordinary class, or that of the thread that made it.
pub(super) struct Worker {
    shared: Arc<Shared>,
    thread: Option<Thread<()>>,
}

/// State that the thread shares with its owner.
#[derive(Default)]
pub(super) struct Shared {
    ends: PiMutex<bool>,
    changed: PiCondvar,
    pub(super) is_connected: AtomicBool,
}

impl Worker {
    /// Starts a thread. It has to end when [`Shared::ends`] says so.
    pub(super) fn start(
        name: String,
        run: impl FnOnce(&Shared) + Send + 'static,
    ) -> Result<Self, EventError> {
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread = ThreadSpec::new(name).spawn(move || run(&of_thread));
        let thread = Some(thread.map_err(EventError::Timer)?);
        Ok(Self { shared, thread })
    }

    pub(super) fn is_connected(&self) -> bool {
        self.shared.is_connected.load(Relaxed)
    }
}

impl Shared {
    pub(super) fn ends(&self) -> bool {
        *self.ends.lock()
    }

    /// Waits for this time, or until the gateway ends.
    pub(super) fn pause(&self, time: Duration) {
        let mut ends = self.ends.lock();
        let due = later(Instant::now(), time);
        let _ = self.changed.wait_while_until(&mut ends, due, |ends| !*ends);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        *self.shared.ends.lock() = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It ends after its present call, which has the ORB's timeout.
            let _ = thread.join();
        }
    }
}
