//! What the threads of a lane, or of a pool without lanes, are like beyond their number and priority.

use punctual::{CpuSet, ExpiredRequests, LaneSpec, LaneWait, QueueLimits, SchedulingClass, ThreadLife};
use serde::{Deserialize, Serialize};

use crate::{Lane, Pool, Span};

/// The scheduling class of threads.
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
    /// `"ordinary"`: SCHED_OTHER, without priority; no deadline depends on such threads.
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

/// Where threads wait for requests: [`LaneWait`].
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// `"polled"`: all in one place, for all connections.
    #[default]
    Polled,
    /// `"blocking"`: each in `read`, for one connection.
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

/// What may wait in the queue of each lane: [`QueueLimits`].
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Buffering {
    /// Requests, at least 1. Default: 256.
    pub requests: usize,
    /// Octets of their messages together, at least 1. Default: 1 MiB.
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

/// What happens to requests whose deadline has passed: [`ExpiredRequests`].
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

/// What lanes and pools say in the same words.
pub(crate) struct Threads<'s> {
    pub(crate) dynamic_threads: usize,
    pub(crate) idle_timeout: Option<Span>,
    pub(crate) run_time: Option<Span>,
    pub(crate) wait: Wait,
    pub(crate) stack_bytes: Option<usize>,
    pub(crate) cpus: Option<&'s [usize]>,
    pub(crate) class: Option<Class>,
}

impl Threads<'_> {
    pub(crate) fn life(&self) -> ThreadLife {
        match (self.idle_timeout, self.run_time) {
            (Some(idle), _) => ThreadLife::IdleTimeout(idle.0),
            (None, Some(run)) => ThreadLife::RunTime(run.0),
            (None, None) => ThreadLife::Infinite,
        }
    }

    pub(crate) fn affinity(&self) -> Option<CpuSet> {
        self.cpus.map(|cpus| cpus.iter().copied().collect())
    }
}

impl Pool {
    /// What its own keys say: with lanes, what these do not say themselves.
    pub(crate) fn own_threads(&self) -> Threads<'_> {
        Threads {
            dynamic_threads: self.dynamic_threads,
            idle_timeout: self.dynamic_idle_timeout,
            run_time: self.dynamic_run_time,
            wait: self.wait,
            stack_bytes: self.stack_bytes,
            cpus: self.cpus.as_deref(),
            class: self.class,
        }
    }
}

impl Lane {
    pub(crate) fn own_threads(&self) -> Threads<'_> {
        Threads {
            dynamic_threads: self.dynamic_threads,
            idle_timeout: self.dynamic_idle_timeout,
            run_time: self.dynamic_run_time,
            wait: self.wait,
            stack_bytes: self.stack_bytes,
            cpus: self.cpus.as_deref(),
            class: self.class,
        }
    }

    /// As the ORB takes it.
    pub(crate) fn spec(&self) -> LaneSpec {
        let own = self.own_threads();
        let spec = LaneSpec::new(self.priority)
            .threads(self.threads)
            .dynamic_threads(own.dynamic_threads)
            .dynamic_life(own.life())
            .wait(own.wait.into());
        let spec = own.stack_bytes.into_iter().fold(spec, LaneSpec::stack_bytes);
        let spec = own.affinity().into_iter().fold(spec, LaneSpec::affinity);
        let class = own.class.map(SchedulingClass::from);
        class.into_iter().fold(spec, LaneSpec::scheduling_class)
    }
}
