use punctual_lane::ThreadLife;
use punctual_os::{CpuSet, SchedulingClass, ThreadSpec};
use punctual_types::Priority;

use crate::OrbError;

/// Everything there is to say about one lane of a thread pool: `RTCORBA::ThreadpoolLane`, and what systems offer beyond it.
///
/// What is not said is the pool's.
///
/// ```
/// use std::time::Duration;
///
/// use punctual_orb::{LaneSpec, Orb, ThreadLife};
/// use punctual_os::{CpuSet, SchedulingClass};
/// use punctual_types::Priority;
///
/// let orb = Orb::builder().build()?;
/// let pool = orb
///     .threadpool()
///     .lane_with(
///         LaneSpec::new(Priority::MAX)
///             .threads(2)
///             .dynamic_threads(3)
///             .dynamic_life(ThreadLife::IdleTimeout(Duration::from_secs(60)))
///             .stack_bytes(256 << 10)
///             .affinity(CpuSet::all())
///             .scheduling_class(SchedulingClass::RoundRobin),
///     )
///     .lane(Priority::MIN, 1)
///     .build()?;
/// assert_eq!(pool.statistics()[1].1.threads, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LaneSpec {
    pub(crate) priority: Priority,
    pub(crate) threads: usize,
    pub(crate) dynamic_threads: usize,
    pub(crate) dynamic_life: ThreadLife,
    pub(crate) wait: LaneWait,
    pub(crate) stack_bytes: Option<usize>,
    pub(crate) affinity: Option<CpuSet>,
    pub(crate) class: Option<SchedulingClass>,
}

/// Where the threads of a lane wait for requests.
///
/// ```
/// use punctual_orb::{LaneSpec, LaneWait, Orb};
/// use punctual_types::Priority;
///
/// let orb = Orb::builder().build()?;
/// let one_client = LaneSpec::new(Priority::MAX).wait(LaneWait::Blocking);
/// let pool = orb.threadpool().lane_with(one_client).build()?;
/// assert_eq!(pool.statistics()[0].1.threads, 2, "one that blocks, one that accepts");
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LaneWait {
    /// All in one place, for all connections: whoever waits takes the next request. Wait, read and write: 3 system calls for
    /// each request.
    #[default]
    Polled,
    /// Each thread in `read`, for the one connection that it was given when it was accepted: read and write, 2 system calls for
    /// each request. For lanes whose few clients stay connected.
    ///
    /// The lane has one thread more, named `….poll`, of the same priority, stack and affinity. It accepts, and serves those
    /// connections as [`Self::Polled`] that came while no thread was without one, until one is.
    ///
    /// What this mode cannot do: share the work of a connection (its requests are served one after the other, and while one
    /// is in service none is read), lend or borrow threads, or make dynamic ones. A peer that does not read its replies
    /// stops its own thread.
    Blocking,
}

impl LaneSpec {
    /// A lane at this priority: one thread, no dynamic ones, and all else as its pool says.
    pub fn new(priority: Priority) -> Self {
        Self {
            priority,
            threads: 1,
            dynamic_threads: 0,
            dynamic_life: ThreadLife::Infinite,
            wait: LaneWait::Polled,
            stack_bytes: None,
            affinity: None,
            class: None,
        }
    }

    /// Of the lane.
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// How many threads are there from the start (at least 1). Default 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// How many threads more there may be. Default 0.
    ///
    /// One is made when the last one that waited for requests goes into an upcall. Whoever goes there makes it, before its
    /// upcall: that request is later by what a thread costs (up to about a millisecond, most of it for touching its stack, so a
    /// smaller one helps), and it is the one place where a lane's thread allocates after warm-up. With [`ThreadLife::Infinite`]
    /// it happens this many times. Where the system refuses a thread, that is counted, and the threads that there are serve the
    /// requests.
    pub fn dynamic_threads(mut self, at_most: usize) -> Self {
        self.dynamic_threads = at_most;
        self
    }

    /// How long dynamic threads live. Default: as long as the pool.
    pub fn dynamic_life(mut self, life: ThreadLife) -> Self {
        self.dynamic_life = life;
        self
    }

    /// Where its threads wait. Default: [`LaneWait::Polled`].
    pub fn wait(mut self, wait: LaneWait) -> Self {
        self.wait = wait;
        self
    }

    /// Octets of each thread's stack, touched before the thread serves; 0: the default. Default: the pool's.
    pub fn stack_bytes(mut self, bytes: usize) -> Self {
        self.stack_bytes = Some(bytes);
        self
    }

    /// The CPUs its threads may run on. Default: the pool's.
    pub fn affinity(mut self, cpus: CpuSet) -> Self {
        self.affinity = Some(cpus);
        self
    }

    /// The scheduling class of its threads. Default: the pool's.
    pub fn scheduling_class(mut self, class: SchedulingClass) -> Self {
        self.class = Some(class);
        self
    }

    /// What the pool says where the lane says nothing.
    pub(super) fn completed(mut self, pool: &LaneSpec) -> Self {
        self.stack_bytes = self
            .stack_bytes
            .or(pool.stack_bytes)
            .filter(|bytes| *bytes > 0)
            .or(Some(ThreadSpec::DEFAULT_STACK_BYTES));
        self.affinity = self.affinity.or_else(|| pool.affinity.clone());
        self.class = self.class.or(pool.class);
        self
    }

    /// Names the setting and the rule that it breaks. Source: `create_threadpool` of TAO answers these with BAD_PARAM.
    pub(super) fn validate(&self, lane: &str) -> Result<(), OrbError> {
        let broken = |rule: &str| Err(OrbError::ThreadPool(format!("{lane}: {rule}")));
        if self.threads == 0 {
            return broken(
                "`threads` is 0; it needs at least 1 static thread, dynamic ones come in addition",
            );
        }
        if self.threads > MAX_THREADS || self.dynamic_threads > MAX_THREADS {
            return broken("more than 65,536 `threads` or `dynamic_threads`; this looks like a mistake");
        }
        if let ThreadLife::IdleTimeout(limit) | ThreadLife::RunTime(limit) = self.dynamic_life
            && limit.is_zero()
        {
            return broken("`dynamic_life` is 0; say how long a dynamic thread lives, or `Infinite`");
        }
        if self.wait == LaneWait::Blocking && self.dynamic_threads > 0 {
            return broken(
                "`wait` is `Blocking`, whose threads belong to connections; it excludes `dynamic_threads`",
            );
        }
        Ok(())
    }
}

const MAX_THREADS: usize = 1 << 16;
