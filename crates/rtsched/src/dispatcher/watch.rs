//! Work that is watched, so that it is cancelled when it can no longer meet its deadline.

use std::time::Duration;

use punctual_os::clock::thread_cpu_time;
use punctual_sched::dynamic::{SheddingPoint, SheddingPolicy, TimedWork};

use super::clock;

/// Work of a segment, and the policy that decides on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    work: TimedWork,
    policy: SheddingPolicy,
    /// Processor time of the OS thread at the beginning of the work, where its execution time is known.
    pub(crate) began_at: Option<Duration>,
    /// Whether parameters of the segment describe the work, so that an update changes it.
    pub(crate) by_parameters: bool,
}

impl Watch {
    /// Returns the watch of work that begins now; `None` if the policy never cancels.
    pub(crate) fn begin(work: TimedWork, policy: SheddingPolicy, by_parameters: bool) -> Option<Self> {
        (!policy.is_never()).then(|| Self {
            work,
            policy,
            began_at: (!work.execution_time.is_zero()).then(thread_cpu_time),
            by_parameters,
        })
    }

    /// Returns whether the work is cancelled at this point. Called by the OS thread that does it.
    pub(crate) fn sheds(&self, at: SheddingPoint) -> bool {
        let now = clock::now();
        // The processor time is read only if the work would be hopeless without it.
        self.policy.sheds(&self.work, Duration::ZERO, now, at) && {
            let received = self.began_at.map_or(Duration::ZERO, |began_at| {
                thread_cpu_time().saturating_sub(began_at)
            });
            self.policy.sheds(&self.work, received, now, at)
        }
    }
}
