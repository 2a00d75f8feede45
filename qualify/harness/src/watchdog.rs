//! A hard limit of time for real-time processes: above them in priority, on another CPU, and with a finger on the
//! trigger. Without throttling, a real-time thread that spins stops everything below it; this ends it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use punctual_os::scheduling::priority_range;
use punctual_os::{CpuSet, Granted, Scheduling, SchedulingClass, ThreadSpec};
use punctual_types::NativePriority;

use crate::killer::Killer;

/// Kills processes when a time has passed, unless it is dropped before.
#[derive(Debug)]
pub struct Watchdog {
    /// Closed to call it off.
    leash: Option<Sender<()>>,
    thread: Option<punctual_os::Thread<()>>,
    fired: Arc<AtomicBool>,
}

impl Watchdog {
    /// Starts the time. The thread runs at the highest real-time priority that is granted, on `cpus`: name CPUs other
    /// than those of the processes, or an empty set when the machine has but one.
    ///
    /// # Errors
    /// The thread could not be started, or a CPU does not exist.
    pub fn start(limit: Duration, processes: Vec<Killer>, cpus: &CpuSet) -> io::Result<Self> {
        let (leash, called_off) = channel::<()>();
        let fired = Arc::new(AtomicBool::new(false));
        let fires = Arc::clone(&fired);
        let thread = ThreadSpec::new("watchdog")
            .scheduling(above_all())
            .affinity((!cpus.is_empty()).then(|| cpus.clone()))
            .spawn(move || {
                if called_off.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                    fires.store(true, Ordering::Release);
                    for process in &processes {
                        // The only way to fail is that it is gone.
                        let _ = process.kill();
                    }
                }
            })?;
        Ok(Self {
            leash: Some(leash),
            thread: Some(thread),
            fired,
        })
    }

    /// Whether it has killed them.
    pub fn has_fired(&self) -> bool {
        self.fired.load(Ordering::Acquire)
    }

    /// Whether it really runs above all others; false without the right to real-time classes.
    pub fn is_above_all(&self) -> bool {
        self.thread
            .as_ref()
            .is_some_and(|thread| thread.granted() == Granted::RealTime)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.leash = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The class and priority of those who watch: the highest there is. Experiments stay below it.
pub fn above_all() -> Scheduling {
    Scheduling::fifo(NativePriority(*priority_range(SchedulingClass::Fifo).end()))
}
