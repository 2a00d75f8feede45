use std::{io, sync::Arc};

use punctual_os::{Thread, ThreadSpec};
use punctual_sched::dynamic::Time;

use super::RetainedStorage;

/// A thread of the system that calls the destructors of visitors that have been forgotten, so that no lane has to. Give it a low
/// priority. Ends when dropped.
///
/// ```
/// use std::sync::Arc;
/// use punctual_os::ThreadSpec;
/// use punctual_rtsched::{RtScheduling, storage::Housekeeper};
///
/// let scheduling = RtScheduling::builder().build()?;
/// let clock = scheduling.clone();
/// let spec = ThreadSpec::new(Housekeeper::NAME);
/// let housekeeper = Housekeeper::start(Arc::clone(scheduling.retained_storage()), spec, move || clock.now())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Housekeeper {
    visitors: Arc<RetainedStorage>,
    thread: Option<Thread<()>>,
}

impl Housekeeper {
    /// The name that its thread has where nothing else is asked for.
    pub const NAME: &'static str = "dt-housekeeper";

    /// Starts it. `now` reads the clock that [`RetainedStorage::leaves`] is told the time of.
    ///
    /// # Errors
    /// The thread could not be started.
    pub fn start(
        visitors: Arc<RetainedStorage>,
        spec: ThreadSpec,
        now: impl Fn() -> Time + Send + 'static,
    ) -> io::Result<Self> {
        let kept = Arc::clone(&visitors);
        let thread = spec.spawn(move || {
            while kept.wait(&now) {
                kept.destroy_forgotten(now());
            }
        })?;
        Ok(Self {
            visitors,
            thread: Some(thread),
        })
    }
}

/// Waits for the destructor that is running, if any.
impl Drop for Housekeeper {
    fn drop(&mut self) {
        self.visitors.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
