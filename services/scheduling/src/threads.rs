//! Settings of the threads of a lane, or of a pool without lanes.

use punctual::{CpuSet, ExpiredRequests, LaneWait, QueueLimits, SchedulingClass, ThreadLifetime};
use serde::{Deserialize, Serialize};

use crate::Span;

/// Scheduling class of threads.
///
/// ```
/// use punctual::SchedulingClass;
/// use punctual_scheduling::Class;
///
/// assert_eq!(SchedulingClass::from(Class::RoundRobin), SchedulingClass::RoundRobin);
/// ```
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// `"fifo"`: SCHED_FIFO.
    Fifo,
    /// `"round-robin"`: SCHED_RR.
    RoundRobin,
    /// `"ordinary"`: SCHED_OTHER, without priorities; the analysis refuses deadlines that depend on such
    /// threads.
    Ordinary,
}

impl From<Class> for SchedulingClass {
    fn from(class: Class) -> Self {
        match class {
            Class::Fifo => Self::Fifo,
            Class::RoundRobin => Self::RoundRobin,
            Class::Ordinary => Self::Other,
        }
    }
}

/// How threads wait for requests: [`LaneWait`].
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// `"polled"`: all threads in one poller, for all connections.
    #[default]
    Polled,
    /// `"blocking"`: each thread in `read`, for one connection. In the analysis such threads count as one,
    /// because all calls may come over one connection, which serves them one after the other.
    Blocking,
}

impl From<Wait> for LaneWait {
    fn from(wait: Wait) -> Self {
        match wait {
            Wait::Polled => Self::Polled,
            Wait::Blocking => Self::Blocking,
        }
    }
}

/// Limits of the queue of each lane: [`QueueLimits`].
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Buffering {
    /// Number of requests, at least 1. Default: 256.
    pub requests: usize,
    /// Total octets of their messages, at least 1. Default: 1 MiB.
    pub octets: usize,
}

impl Default for Buffering {
    fn default() -> Self {
        let QueueLimits { requests, octets } = QueueLimits::default();
        Self { requests, octets }
    }
}

impl From<Buffering> for QueueLimits {
    fn from(Buffering { requests, octets }: Buffering) -> Self {
        Self { requests, octets }
    }
}

/// Treatment of requests whose deadline has passed: [`ExpiredRequests`].
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expired {
    /// `"serve"`.
    #[default]
    Serve,
    /// `"drop-by-waiting-time"`.
    DropByWaitingTime,
    /// `"drop-by-clock"`.
    DropByClock,
}

impl From<Expired> for ExpiredRequests {
    fn from(expired: Expired) -> Self {
        match expired {
            Expired::Serve => Self::Serve,
            Expired::DropByWaitingTime => Self::DropByWaitingTime,
            Expired::DropByClock => Self::DropByClock,
        }
    }
}

/// Greatest number of threads of a lane: the ORB's limit.
pub(crate) const MAX_THREADS: usize = 1 << 16;

/// Settings that lanes and pools have in common.
pub(crate) struct ThreadSettings<'s> {
    pub(crate) dynamic_threads: usize,
    pub(crate) idle_timeout: Option<Span>,
    pub(crate) run_time: Option<Span>,
    pub(crate) wait: Wait,
    pub(crate) stack_bytes: Option<usize>,
    pub(crate) prefault_bytes: Option<usize>,
    pub(crate) cpus: Option<&'s [usize]>,
    pub(crate) class: Option<Class>,
}

impl ThreadSettings<'_> {
    /// Returns the number of requests that these threads and `fixed` ones can serve at a time. Threads that
    /// block serve the requests of a connection one after the other, and all may come over one.
    pub(crate) fn served_at_a_time(&self, fixed: usize) -> usize {
        match self.wait {
            Wait::Polled => fixed + self.dynamic_threads,
            Wait::Blocking => 1,
        }
    }

    pub(crate) fn life(&self) -> ThreadLifetime {
        match (self.idle_timeout, self.run_time) {
            (Some(idle), _) => ThreadLifetime::IdleTimeout(idle.0),
            (None, Some(run)) => ThreadLifetime::RunTime(run.0),
            (None, None) => ThreadLifetime::Infinite,
        }
    }

    pub(crate) fn affinity(&self) -> Option<CpuSet> {
        self.cpus.map(|cpus| cpus.iter().copied().collect())
    }
}

pub(crate) fn is_zero(number: &usize) -> bool {
    *number == 0
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
