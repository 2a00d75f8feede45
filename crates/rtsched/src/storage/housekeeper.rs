//! Destruction of forgotten storage on a separate OS thread.

use std::{io, sync::Arc};

use punctual_os::{Thread, ThreadSpec};
use punctual_sched::dynamic::Time;

use super::RetainedStorage;

/// An OS thread that calls the destructors of forgotten storage, so that no lane has to. Give it a low
/// priority. Dropping this ends it.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_os::*, punctual_rtsched as rtscheduling}; }
/// use std::sync::Arc;
/// use punctual::{ThreadSpec, rtscheduling::{RtScheduling, storage::Housekeeper}};
///
/// let scheduling = RtScheduling::builder().build()?;
/// let clock = scheduling.clone();
/// let spec = ThreadSpec::new(Housekeeper::NAME);
/// let retained = Arc::clone(scheduling.retained_storage());
/// let housekeeper = Housekeeper::start(retained, spec, move || clock.now())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Housekeeper {
    retained: Arc<RetainedStorage>,
    thread: Option<Thread<()>>,
}

impl Housekeeper {
    /// Recommended name of its thread.
    pub const NAME: &'static str = "dt-housekeeper";

    /// Starts the thread. `now` reads the clock of [`RetainedStorage::retain`].
    ///
    /// # Errors
    /// The thread could not be started.
    pub fn start(
        retained: Arc<RetainedStorage>,
        spec: ThreadSpec,
        now: impl Fn() -> Time + Send + 'static,
    ) -> io::Result<Self> {
        let storage = Arc::clone(&retained);
        let thread = spec.spawn(move || {
            while storage.wait(&now) {
                storage.destroy_forgotten(now());
            }
        })?;
        Ok(Self {
            retained,
            thread: Some(thread),
        })
    }
}

/// Waits for a destructor that is running.
impl Drop for Housekeeper {
    fn drop(&mut self) {
        self.retained.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
