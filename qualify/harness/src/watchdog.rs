//! Hard time limit for real-time processes, enforced at a higher priority on another CPU. Without throttling,
//! a spinning real-time thread starves everything below it; the watchdog kills it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use punctual_os::scheduling::priority_range;
use punctual_os::{CpuSet, Granted, Scheduling, SchedulingClass, ThreadSpec};
use punctual_types::NativePriority;

use crate::process_killer::Killer;

/// Kills processes after a timeout unless it is dropped before.
#[derive(Debug)]
pub struct Watchdog {
    /// Closed to cancel it.
    cancel: Option<Sender<()>>,
    thread: Option<punctual_os::Thread<()>>,
    fired: Arc<AtomicBool>,
}

impl Watchdog {
    /// Starts the timeout. The thread runs at the highest real-time priority, if permitted, on `cpus`: CPUs
    /// other than those of the processes, or an empty set if the machine has only one.
    ///
    /// # Errors
    /// The thread could not be started, or a CPU does not exist.
    pub fn start(timeout: Duration, processes: Vec<Killer>, cpus: &CpuSet) -> io::Result<Self> {
        let (cancel, cancelled) = channel::<()>();
        let fired = Arc::new(AtomicBool::new(false));
        let fires = Arc::clone(&fired);
        let thread = ThreadSpec::new("watchdog")
            .scheduling(above_all())
            .affinity((!cpus.is_empty()).then(|| cpus.clone()))
            .spawn(move || {
                if cancelled.recv_timeout(timeout) == Err(RecvTimeoutError::Timeout) {
                    fires.store(true, Ordering::Release);
                    for process in &processes {
                        // Fails only if the process has ended.
                        let _ = process.kill();
                    }
                }
            })?;
        Ok(Self {
            cancel: Some(cancel),
            thread: Some(thread),
            fired,
        })
    }

    /// Returns whether it has killed them.
    pub fn has_fired(&self) -> bool {
        self.fired.load(Ordering::Acquire)
    }

    /// Returns whether it runs above all others; false without the right to real-time classes.
    pub fn is_above_all(&self) -> bool {
        self.thread
            .as_ref()
            .is_some_and(|thread| thread.granted() == Granted::RealTime)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.cancel = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Returns class and priority of watching threads, the highest possible. Experiments stay below it.
pub fn above_all() -> Scheduling {
    Scheduling::fifo(NativePriority(*priority_range(SchedulingClass::Fifo).end()))
}
