//! Settings of one lane of a thread pool.

use punctual_lane::{SocketOptions, ThreadLifetime};
use punctual_os::{CpuSet, SchedulingClass, ThreadSpec};
use punctual_types::Priority;

use crate::OrbError;

/// Settings of one lane of a thread pool: those of `RTCORBA::ThreadpoolLane`, and further ones of the
/// operating system. Settings that are not given default to those of the pool.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_os::*, punctual_types::*}; }
/// use std::time::Duration;
///
/// use punctual::{CpuSet, LaneSpec, Orb, Priority, SchedulingClass, ThreadLifetime};
///
/// let orb = Orb::builder().build()?;
/// let pool = orb
///     .threadpool()
///     .lane_with(
///         LaneSpec::new(Priority::MAX)
///             .threads(2)
///             .dynamic_threads(3)
///             .dynamic_lifetime(ThreadLifetime::IdleTimeout(Duration::from_secs(60)))
///             .stack_bytes(1 << 20)
///             .prefault_bytes(128 << 10)
///             .affinity(CpuSet::all())
///             .scheduling_class(SchedulingClass::RoundRobin),
///     )
///     .lane(Priority::MIN, 1)
///     .build()?;
/// assert_eq!(pool.statistics()[1].1.threads.present, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LaneSpec {
    pub(crate) priority: Priority,
    pub(crate) threads: usize,
    pub(crate) dynamic_threads: usize,
    pub(crate) dynamic_lifetime: ThreadLifetime,
    pub(crate) wait: LaneWait,
    pub(crate) stack_bytes: Option<usize>,
    pub(crate) prefault_bytes: Option<usize>,
    pub(crate) affinity: Option<CpuSet>,
    pub(crate) class: Option<SchedulingClass>,
    pub(crate) sockets: SocketOptions,
}

/// How the threads of a lane wait for requests.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// use punctual::{LaneSpec, LaneWait, Orb, Priority};
///
/// let orb = Orb::builder().build()?;
/// let one_client = LaneSpec::new(Priority::MAX).wait(LaneWait::Blocking);
/// let pool = orb.threadpool().lane_with(one_client).build()?;
/// assert_eq!(pool.statistics()[0].1.threads.present, 2, "one that blocks, one that accepts");
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LaneWait {
    /// All threads wait at one poller for all connections, and any of them takes the next request. Wait, read
    /// and write: 3 system calls per request.
    #[default]
    Polled,
    /// Each thread blocks in `read` on the one connection that was assigned to it when it was accepted. Read
    /// and write: 2 system calls per request. For lanes with few clients that stay connected. The lane has an
    /// additional thread, named `….poll`, of the same priority, stack and affinity. It accepts connections,
    /// and, as in [`Self::Polled`], serves those for which no thread is free, until one is. This mode cannot
    /// share the work of a connection (its requests are served one after the other, and no request is read
    /// while another is in service), lend or borrow threads, or create dynamic ones. A peer that does not
    /// read its replies blocks its own thread only. While a manager holds requests (`PoaManager::hold`), a
    /// thread waits with the first one of its connection, even if the peer disconnects.
    Blocking,
}

impl LaneSpec {
    /// Creates the settings of a lane with this priority: one thread, no dynamic ones, and otherwise the
    /// pool's settings.
    pub fn new(priority: Priority) -> Self {
        Self {
            priority,
            threads: 1,
            dynamic_threads: 0,
            dynamic_lifetime: ThreadLifetime::Infinite,
            wait: LaneWait::Polled,
            stack_bytes: None,
            prefault_bytes: None,
            affinity: None,
            class: None,
            sockets: SocketOptions::default(),
        }
    }

    /// Returns the CORBA priority of this lane.
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// Sets the number of static threads (at least 1). Default 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the maximum number of dynamic threads. Default 0. When the last waiting thread of a lane receives
    /// a request, it starts a dynamic thread before its upcall. That delays the request by the cost of a
    /// thread (up to about a millisecond, much of it for its stack, so a smaller stack helps), and is the
    /// only case in which a lane thread allocates after warm-up. With [`ThreadLifetime::Infinite`] it happens
    /// at most this many times. If the system refuses a thread, this is counted, and the existing threads
    /// serve the requests.
    pub fn dynamic_threads(mut self, at_most: usize) -> Self {
        self.dynamic_threads = at_most;
        self
    }

    /// Sets the lifetime of dynamic threads. Default: as long as the pool.
    pub fn dynamic_lifetime(mut self, life: ThreadLifetime) -> Self {
        self.dynamic_lifetime = life;
        self
    }

    /// Sets how the threads wait. Default: [`LaneWait::Polled`].
    pub fn wait(mut self, wait: LaneWait) -> Self {
        self.wait = wait;
        self
    }

    /// Sets the stack size of each thread in octets; 0 selects 2 MiB. Default: the pool's.
    pub fn stack_bytes(mut self, bytes: usize) -> Self {
        self.stack_bytes = Some(bytes);
        self
    }

    /// Sets how many octets of each thread's stack, from its base, are made resident before it serves, so
    /// that calls cause no page fault. Calls that need more take memory, and page faults, the first time.
    /// Choose it above [`StackUse::used_bytes`](punctual_lane::StackUse), which `punctual top` shows. Default:
    /// the pool's.
    ///
    /// This is also what a thread costs if memory is locked ([`OrbBuilder::lock_memory`](crate::OrbBuilder)):
    /// the rest of its stack is locked when it is touched.
    pub fn prefault_bytes(mut self, bytes: usize) -> Self {
        self.prefault_bytes = Some(bytes);
        self
    }

    /// Sets the CPUs on which the threads may run. Default: the pool's.
    pub fn affinity(mut self, cpus: CpuSet) -> Self {
        self.affinity = Some(cpus);
        self
    }

    /// Sets the scheduling class of the threads. Default: the pool's.
    pub fn scheduling_class(mut self, class: SchedulingClass) -> Self {
        self.class = Some(class);
        self
    }

    /// Sets options of the sockets of the lane's connections: busy polling, the preferred CPU of incoming
    /// packets, and the queue of outgoing ones. Default: the system's. `punctual doctor` examines the rest of
    /// a packet's path through the network device. Settings that the system refuses are reported once on
    /// standard error.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
    /// use std::time::Duration;
    ///
    /// use punctual::{LaneSpec, LaneWait, Orb, Priority, SocketOptions};
    ///
    /// let polling = SocketOptions {
    ///     busy_poll: Some(Duration::from_micros(50)),
    ///     priority: Some(6),
    ///     ..SocketOptions::default()
    /// };
    /// let lane = LaneSpec::new(Priority::MAX).wait(LaneWait::Blocking).sockets(polling);
    /// let pool = Orb::builder().build()?.threadpool().lane_with(lane).build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn sockets(mut self, options: SocketOptions) -> Self {
        self.sockets = options;
        self
    }

    /// Fills missing settings with those of the pool.
    pub(super) fn completed(mut self, pool: &LaneSpec) -> Self {
        self.stack_bytes = self
            .stack_bytes
            .or(pool.stack_bytes)
            .filter(|bytes| *bytes > 0)
            .or(Some(ThreadSpec::DEFAULT_STACK_BYTES));
        self.prefault_bytes = self.prefault_bytes.or(pool.prefault_bytes);
        self.affinity = self.affinity.or_else(|| pool.affinity.clone());
        self.class = self.class.or(pool.class);
        self
    }

    /// Checks the settings. The error names the setting and the violated rule.
    ///
    /// Source: TAO's `create_threadpool` raises BAD_PARAM for these.
    pub(super) fn validate(&self, lane: &str) -> Result<(), OrbError> {
        let broken = |rule: &str| Err(OrbError::ThreadPool(format!("{lane}: {rule}")));
        if self.threads == 0 {
            return broken(
                "`threads` is 0; at least 1 static thread is required in addition to dynamic ones",
            );
        }
        if self.threads > MAX_THREADS || self.dynamic_threads > MAX_THREADS {
            return broken("more than 65,536 `threads` or `dynamic_threads`, probably by mistake; use fewer");
        }
        if let ThreadLifetime::IdleTimeout(limit) | ThreadLifetime::RunTime(limit) = self.dynamic_lifetime
            && limit.is_zero()
        {
            return broken("`dynamic_lifetime` is 0; set a longer lifetime or `Infinite`");
        }
        if self.wait == LaneWait::Blocking && self.dynamic_threads > 0 {
            return broken(
                "`wait` is `Blocking`, which assigns threads to connections and excludes `dynamic_threads`",
            );
        }
        Ok(())
    }
}

const MAX_THREADS: usize = 1 << 16;
