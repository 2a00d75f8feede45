//! What is said once on standard error, in words that are ready before: by threads that may neither format nor wait.

use std::sync::atomic::{AtomicBool, Ordering};

use punctual_os::standard_error;

/// Said at most once.
pub(crate) struct Notice {
    text: &'static str,
    said: AtomicBool,
}

/// The scheduler failed.
pub(crate) static SCHEDULER_FAILED: Notice = Notice::new(
    "punctual: the installed scheduler panicked or named threads that are not ready; distributable threads run first come, first served \
     until another one is installed\n",
);

/// The kernel does not let us change priorities.
pub(crate) static COOPERATIVE: Notice = Notice::new(
    "punctual: distributable threads run without real-time priorities, so a running one is only preempted where it comes to a scheduling \
     point; grant CAP_SYS_NICE or RLIMIT_RTPRIO (`punctual doctor` says how)\n",
);

impl Notice {
    const fn new(text: &'static str) -> Self {
        Self {
            text,
            said: AtomicBool::new(false),
        }
    }

    /// Says it, the first time; where standard error cannot take it at once, the next time.
    pub(crate) fn say(&self) {
        if !self.said.load(Ordering::Relaxed) {
            let said = standard_error::write_at_once(self.text);
            self.said.store(said, Ordering::Relaxed);
        }
    }
}
