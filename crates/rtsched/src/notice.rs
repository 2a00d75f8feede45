//! One-time messages on standard error.

use punctual_os::Notice;

/// The scheduler failed.
pub(crate) static SCHEDULER_FAILED: Notice = Notice::new(
    "punctual: the installed scheduler panicked or named threads that are not ready; distributable threads \
     run first come, first served until another scheduler is installed\n",
);

/// The kernel does not permit changes of priorities.
pub(crate) static COOPERATIVE: Notice = Notice::new(
    "punctual: distributable threads run without real-time priorities and are preempted at scheduling points \
     only; grant CAP_SYS_NICE or RLIMIT_RTPRIO (`punctual doctor` prints how)\n",
);
