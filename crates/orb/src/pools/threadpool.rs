//! Thread pools: handle and builder.

mod lane_endpoints;
mod lane_spec;
mod pool_id;

use std::sync::{
    Arc, Weak,
    atomic::{AtomicU32, Ordering},
};

use punctual_lane::{
    LaneConfig, LaneEndpoint, LaneError, LaneMode, ThreadLifetime, ThreadsConfig, allow_borrowing,
};
use punctual_os::{CpuSet, SchedulingClass, ThreadSpec};
use punctual_types::Priority;

use self::lane_endpoints::LaneEndpoints;
pub use self::{
    lane_spec::{LaneSpec, LaneWait},
    pool_id::ThreadPoolId,
};
use crate::{
    ExpiredRequests, LaneStatistics, OrbError, QueueLimits,
    client::ConnectionCache,
    config::limits::checked_queue_limits,
    current, notice,
    orb_core::OrbCore,
    pools::{
        info::PoolInfo,
        lane::Lane,
        lane_data::LaneData,
        registry::{PoolCore, infos},
    },
    server::DeferredReplies,
};

/// Thread pool that serves requests, with lanes or at one priority: `RTCORBA::Threadpool`. The pool ends with
/// its ORB; dropping this handle does not end it.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// use punctual::{Orb, Priority};
///
/// let orb = Orb::builder().build()?;
/// let pool = orb.threadpool().lane(Priority::MAX, 1).lane(Priority::MIN, 2).build()?;
/// let lanes: Vec<_> = pool.statistics().into_iter().map(|(priority, _)| priority).collect();
/// assert_eq!(lanes, [Some(Priority::MIN), Some(Priority::MAX)]);
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone)]
pub struct ThreadPool {
    orb: Weak<OrbCore>,
    pub(crate) core: Arc<PoolCore>,
}

impl ThreadPool {
    pub(crate) fn orb(&self) -> Option<Arc<OrbCore>> {
        self.orb.upgrade()
    }

    /// Returns the id that [`crate::Orb::destroy_threadpool`] accepts.
    pub fn id(&self) -> ThreadPoolId {
        ThreadPoolId(self.core.info.id)
    }

    pub(crate) fn find(orb: &Arc<OrbCore>, id: ThreadPoolId) -> Option<Self> {
        let core = orb.pools.get(id.0)?;
        let orb = Arc::downgrade(orb);
        Some(Self { orb, core })
    }

    /// Returns the statistics of each lane, the lowest priority first; a pool without lanes has one entry,
    /// without priority.
    ///
    /// ```
    /// # use punctual_orb::{LaneStatistics, Orb};
    /// let orb = Orb::builder().build()?;
    /// let pool = orb.threadpool().build()?;
    /// let (priority, LaneStatistics { requests, threads, .. }) = pool.statistics()[0];
    /// assert_eq!((priority, requests, threads.present, threads.busy), (None, 0, 1, 0));
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn statistics(&self) -> Vec<(Option<Priority>, LaneStatistics)> {
        self.core
            .lanes
            .iter()
            .map(|lane| (lane.priority(), lane.statistics()))
            .collect()
    }

    /// Destroys the pool: completes the requests in service, closes the connections of clients in order
    /// (CloseConnection), joins the threads and closes the sockets. `RTCORBA::RTORB::destroy_threadpool`.
    /// Waits for running upcalls without a timeout.
    ///
    /// # Errors
    /// [`OrbError::PoolInUse`] as long as an adapter uses the pool: destroy the adapter with
    /// [`crate::Poa::destroy`] first. [`OrbError::InvalidThreadPool`] if the pool has been destroyed or its
    /// ORB no longer exists. [`OrbError::InUpcall`] inside an upcall, which would wait for itself.
    ///
    /// ```
    /// # use punctual_orb::{Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// let pool = orb.threadpool().threads(2).build()?;
    /// let poa = orb.root_poa().child("numbers").threadpool(&pool).build()?;
    /// match pool.destroy() {
    ///     Err(OrbError::PoolInUse(adapters)) => assert_eq!(adapters, "numbers"),
    ///     _ => unreachable!(),
    /// }
    /// poa.destroy()?;
    /// pool.destroy()?;
    /// assert!(matches!(pool.destroy(), Err(OrbError::InvalidThreadPool)));
    /// let late = orb.root_poa().child("late").threadpool(&pool).build();
    /// assert!(matches!(late, Err(OrbError::InvalidThreadPool)));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn destroy(&self) -> Result<(), OrbError> {
        if current::is_in_upcall() {
            return Err(OrbError::InUpcall);
        }
        let orb = self.orb.upgrade().ok_or(OrbError::InvalidThreadPool)?;
        orb.remove_pool(&self.core)?;
        self.core.stop();
        self.core.join();
        Ok(())
    }

    /// Returns whether every thread runs in the real-time class that it was configured with. Returns `false`
    /// if that is the ordinary class.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// if !orb.threadpool().build()?.is_realtime() {
    ///     eprintln!("this process may not use SCHED_FIFO: no deadline is certain");
    /// }
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn is_realtime(&self) -> bool {
        self.core.realtime
    }
}

/// Builder of a [`ThreadPool`], created by [`crate::Orb::threadpool`].
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_os::*, punctual_types::*}; }
/// use punctual::{CpuSet, Orb, Priority, SchedulingClass};
///
/// let orb = Orb::builder().build()?;
/// let pool = orb
///     .threadpool()
///     .threads(2)
///     .default_priority(Priority::new(10_922)?)
///     .stack_bytes(512 << 10)
///     .affinity(CpuSet::all())
///     .scheduling_class(SchedulingClass::RoundRobin)
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ThreadPoolBuilder {
    orb: Arc<OrbCore>,
    name: Option<String>,
    pub(crate) endpoints: LaneEndpoints,
    lanes: Vec<LaneSpec>,
    /// Settings of a pool without lanes; with lanes, their defaults.
    plain: LaneSpec,
    sets_default_priority: bool,
    borrowing: bool,
    buffering: Option<QueueLimits>,
    expired_requests: ExpiredRequests,
}

impl ThreadPoolBuilder {
    pub(crate) fn new(orb: &Arc<OrbCore>) -> Self {
        Self {
            orb: Arc::clone(orb),
            name: None,
            endpoints: LaneEndpoints::default(),
            lanes: Vec::new(),
            plain: LaneSpec::new(Priority::MIN).scheduling_class(orb.configuration.scheduling_class),
            sets_default_priority: false,
            borrowing: false,
            buffering: None,
            expired_requests: ExpiredRequests::Serve,
        }
    }

    /// Sets the name that `punctual top`, metrics and traces show for lanes and threads of this pool, with
    /// the lane's priority: `valve-32767`. 1 to 7 letters, digits or underscores, because the kernel keeps 15
    /// octets of a thread's name. Default: `p` and the number of the pool in the process.
    ///
    /// ```
    /// # use punctual_orb::{Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// assert!(orb.threadpool().name("valve").build().is_ok());
    /// assert!(orb.threadpool().name("temperature").build().is_err());
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds a lane with this priority and number of threads (at least 1), and with its own acceptor and
    /// connections.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_orb::{Orb, OrbError};
    /// use punctual::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// let twice = orb.threadpool().lane(Priority::MAX, 1).lane(Priority::MAX, 1).build();
    /// assert!(matches!(twice, Err(OrbError::ThreadPool(_))), "their priorities must differ");
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn lane(self, priority: Priority, threads: usize) -> Self {
        self.lane_with(LaneSpec::new(priority).threads(threads))
    }

    /// Adds a lane with further settings; [`LaneSpec`] has an example.
    pub fn lane_with(mut self, lane: LaneSpec) -> Self {
        self.lanes.push(lane);
        self
    }

    /// Sets whether threads of lower lanes serve requests of a lane whose own threads, dynamic ones included,
    /// are all in upcalls. They do so at that lane's priority and with its buffers. Default: no. A request
    /// that leaves no thread of its lane waiting costs one system call for each lower lane; a borrowed thread
    /// needs three, with a change of priority. At most 5 lanes, none of them in [`LaneWait::Blocking`]. With
    /// [`Self::request_buffering`], a request waits in its lane's queue only while no thread of a lower lane
    /// is idle; the next thread of a lower lane that becomes idle takes it before the requests of its own
    /// lane. A request that finds no free thread costs one wake-up for each lower lane; a borrowed thread
    /// needs two system calls, with a change of priority. The number of lanes is not limited.
    ///
    /// Source: `allow_borrowing` of `RTCORBA::RTORB::create_threadpool_with_lanes`.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_orb::{Orb, OrbError};
    /// use punctual::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// let pool = orb
    ///     .threadpool()
    ///     .lane(Priority::MIN, 2)
    ///     .lane(Priority::MAX, 1)
    ///     .allow_borrowing(true)
    ///     .build()?;
    /// assert_eq!(pool.statistics()[1].1.threads.borrowed, 0);
    /// assert!(orb.threadpool().allow_borrowing(true).build().is_err(), "from whom?");
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn allow_borrowing(mut self, allow: bool) -> Self {
        self.borrowing = allow;
        self
    }

    /// Sets the number of threads of a pool without lanes. Default 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.plain.threads = threads;
        self
    }

    /// Sets the maximum number of dynamic threads of a pool without lanes; see [`LaneSpec::dynamic_threads`].
    /// Default 0.
    pub fn dynamic_threads(mut self, at_most: usize) -> Self {
        self.plain.dynamic_threads = at_most;
        self
    }

    /// Sets the lifetime of dynamic threads of a pool without lanes. Default: as long as the pool.
    pub fn dynamic_lifetime(mut self, life: ThreadLifetime) -> Self {
        self.plain.dynamic_lifetime = life;
        self
    }

    /// Sets how the threads of a pool without lanes wait. Default: [`LaneWait::Polled`].
    pub fn wait(mut self, wait: LaneWait) -> Self {
        self.plain.wait = wait;
        self
    }

    /// Sets the priority at which the threads of a pool without lanes wait and read. Default 0, which is
    /// reported on standard error when an adapter with a priority model is built on the pool: requests of all
    /// priorities are then read at the lowest one.
    /// With lanes, which have priorities of their own, it must be the priority of one of them.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_orb::{Orb, OrbError};
    /// use punctual::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// let pool = orb.threadpool().lane(Priority::MAX, 1).default_priority(Priority::MIN).build();
    /// assert!(pool.err().is_some_and(|error| error.to_string().contains("the lanes have 32767")));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn default_priority(mut self, priority: Priority) -> Self {
        self.plain.priority = priority;
        self.sets_default_priority = true;
        self
    }

    /// Sets the stack size of each thread in octets; 0 selects the default, 2 MiB. This is address space;
    /// [`Self::prefault_bytes`] sets the part that takes memory.
    pub fn stack_bytes(mut self, bytes: usize) -> Self {
        self.plain.stack_bytes = Some(bytes);
        self
    }

    /// Sets how many octets of each thread's stack are made resident before it serves; see
    /// [`LaneSpec::prefault_bytes`]. Default: 256 KiB, or the whole stack if it is smaller.
    pub fn prefault_bytes(mut self, bytes: usize) -> Self {
        self.plain.prefault_bytes = Some(bytes);
        self
    }

    /// Sets the CPUs on which the threads may run. Default: those of the thread that builds the pool.
    pub fn affinity(mut self, cpus: CpuSet) -> Self {
        self.plain.affinity = Some(cpus);
        self
    }

    /// Sets the scheduling class of the threads. Default: the ORB's, which is SCHED_FIFO unless configured
    /// otherwise.
    pub fn scheduling_class(mut self, class: SchedulingClass) -> Self {
        self.plain.class = Some(class);
        self
    }

    /// Gives each lane a queue of requests and an additional thread that only reads requests from the
    /// connections: `allow_request_buffering`, `max_buffered_requests`, `max_request_buffer_size`. Default:
    /// none. Without it, requests wait in the sockets while all threads of their lane are in upcalls, and
    /// clients that send large amounts block in `write`. With it they are read and queued; requests beyond
    /// the limits are refused with TRANSIENT, completed NO; oneway requests are lost, unless their clients
    /// set [`SyncScope::Server`](punctual_stub::SyncScope::Server) and get that error. Requests start in the
    /// order in which they were read. The reading thread is named like the others of its lane, with `io`
    /// instead of a number, and has their priority, stack and CPUs. Buffering costs two system calls and two
    /// thread switches per request.
    ///
    /// With [`Self::allow_borrowing`], threads of lower lanes also take requests from the queue.
    /// [`Self::build`] fails with [`OrbError::QueueWithoutRoom`] if a limit is 0, and with
    /// [`OrbError::ThreadPool`] in combination with [`LaneWait::Blocking`], whose threads do not wait for a
    /// queue.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_orb::{Orb, OrbError, QueueLimits};
    /// use punctual::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// let limits = QueueLimits { requests: 32, octets: 128 << 10 };
    /// let pool = orb.threadpool().lane(Priority::MAX, 2).request_buffering(limits).build()?;
    /// let unlimited = QueueLimits { requests: 0, octets: 0 };
    /// let refused = orb.threadpool().request_buffering(unlimited).build();
    /// assert!(matches!(refused, Err(OrbError::QueueWithoutRoom)));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn request_buffering(mut self, limits: QueueLimits) -> Self {
        self.buffering = Some(limits);
        self
    }

    /// Sets the treatment of requests whose deadline has passed. Default: they are served.
    ///
    /// ```
    /// # use punctual_orb::{ExpiredRequests, Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// // Where the hosts' clocks are synchronised.
    /// let pool = orb.threadpool().expired_requests(ExpiredRequests::DropByClock).build()?;
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn expired_requests(mut self, rule: ExpiredRequests) -> Self {
        self.expired_requests = rule;
        self
    }

    /// Opens the lanes and starts the threads. Without the right to real-time scheduling the threads run in
    /// the ordinary class, which is reported once on standard error.
    ///
    /// # Errors
    /// [`OrbError::ThreadPool`] for invalid or contradictory settings, [`OrbError::PriorityUnmappable`],
    /// [`OrbError::Thread`] if the system refuses a thread, [`OrbError::Listen`] and [`OrbError::Os`] if it
    /// refuses a socket or descriptor, [`OrbError::ShutDown`].
    ///
    /// ```
    /// # use punctual_orb::{Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// assert!(orb.threadpool().threads(1).build().is_ok());
    /// assert!(matches!(orb.threadpool().threads(0).build(), Err(OrbError::ThreadPool(_))));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn build(self) -> Result<ThreadPool, OrbError> {
        // Counts the pools of all ORBs in the process, for the names of threads.
        static NEXT_NUMBER: AtomicU32 = AtomicU32::new(1);
        if self.orb.pools.are_shut_down() {
            return Err(OrbError::ShutDown);
        }
        let layout = self.layout()?;
        self.name.as_deref().map_or(Ok(()), checked_name)?;
        let buffering = self.buffering.map(checked_queue_limits).transpose()?;
        let with_lanes = !self.lanes.is_empty();
        let priorities: Vec<_> = layout.iter().map(|lane| lane.priority).collect();
        self.endpoints.check(&priorities)?;
        let id = self.orb.pools.new_id();
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let (mut lanes, mut is_at_free_ports) = (Vec::new(), true);
        for (number_in_pool, spec) in layout.iter().enumerate() {
            let unique = format!("p{number}-{}", spec.priority);
            let places = self
                .endpoints
                .of_lane(&self.orb, &unique, spec.priority, number_in_pool)?;
            // The kernel keeps 15 octets of a thread's name: pool, lane's priority, thread.
            let name = match &self.name {
                Some(name) => format!("{name}-{}", spec.priority),
                None => unique,
            };
            is_at_free_ports &= places.iter().all(LaneEndpoint::is_at_free_port);
            let config = self.lane_config(id, name, spec, buffering)?;
            let data = LaneData {
                calls: ConnectionCache::new(self.orb.configuration.limits.max_client_connections),
                by_band: Arc::default(),
                expired_requests: self.expired_requests,
                deferred: DeferredReplies::new(&self.orb.configuration),
            };
            let lane = Lane::new(config, data)?;
            if !places.is_empty() {
                lane.listen(&places)?;
            }
            lanes.push(Arc::new(lane));
        }
        Lane::join_pool(&lanes);
        if self.borrowing {
            allow_borrowing(&lanes, &self.orb.dispatcher)?;
        }
        notice::enter_realtime(self.orb.configuration.lock_memory);
        let started: Result<Vec<bool>, LaneError> = lanes
            .iter()
            .map(|lane| lane.start(&self.orb.dispatcher))
            .collect();
        let highest = layout.last().map_or(Priority::MIN, |lane| lane.priority);
        let mut info = PoolInfo::new(id, with_lanes, highest, infos(&lanes), Vec::new());
        info.is_at_free_ports = is_at_free_ports;
        info.max_nesting = self.orb.configuration.limits.max_nesting;
        info.reads_at_unset_priority = !with_lanes && !self.sets_default_priority;
        let core = Arc::new(PoolCore {
            info: Arc::new(info),
            realtime: matches!(&started, Ok(lanes) if lanes.iter().all(|realtime| *realtime)),
            lanes,
        });
        if let Err(error) = started {
            core.stop();
            core.join();
            return Err(error.into());
        }
        let ordinary = |lane: &LaneSpec| lane.class == Some(SchedulingClass::Other);
        if !core.realtime && !layout.iter().any(ordinary) {
            notice::realtime_denied();
        }
        self.orb.pools.add(&core);
        Ok(ThreadPool {
            orb: Arc::downgrade(&self.orb),
            core,
        })
    }

    /// Returns the validated and completed lanes, the lowest priority first; a pool without lanes has one.
    fn layout(&self) -> Result<Vec<LaneSpec>, OrbError> {
        let mut layout = self.lanes.clone();
        layout.sort_by_key(|lane| lane.priority);
        let mut neighbours = layout.windows(2);
        if let Some([lane, _]) = neighbours.find(|pair| pair[0].priority == pair[1].priority) {
            return Err(OrbError::ThreadPool(format!(
                "two lanes have the priority {}; use distinct priorities, or one lane with the threads of both",
                lane.priority
            )));
        }
        let default = self.plain.priority;
        let has_default = layout.iter().any(|lane| lane.priority == default);
        if self.sets_default_priority && !layout.is_empty() && !has_default {
            let lanes: Vec<_> = layout.iter().map(|lane| lane.priority.to_string()).collect();
            return Err(OrbError::ThreadPool(format!(
                "`default_priority` {default}: no lane has this priority; the lanes have {}",
                lanes.join(", ")
            )));
        }
        let broken = |rule: &str| Err(OrbError::ThreadPool(format!("`allow_borrowing`: {rule}")));
        if self.borrowing && layout.len() < 2 {
            return broken(
                "threads are lent between lanes, but this pool has fewer than two; add lanes or remove the setting",
            );
        }
        if self.borrowing && layout.iter().any(|lane| lane.wait == LaneWait::Blocking) {
            return broken("a lane whose `wait` is `Blocking` cannot lend or borrow threads; use `Polled`");
        }
        if layout.is_empty() {
            layout.push(self.plain.clone());
            self.plain.validate("the pool")?;
        }
        if self.buffering.is_some() && layout.iter().any(|lane| lane.wait == LaneWait::Blocking) {
            let rule = "`request_buffering`: threads of a lane whose `wait` is `Blocking` read their own \
                        connections and never wait for a queue; use `Polled`";
            return Err(OrbError::ThreadPool(rule.to_owned()));
        }
        for lane in &self.lanes {
            lane.validate(&format!("lane {}", lane.priority))?;
        }
        Ok(layout
            .into_iter()
            .map(|lane| lane.completed(&self.plain))
            .collect())
    }

    fn lane_config(
        &self,
        pool: u32,
        name: String,
        spec: &LaneSpec,
        buffering: Option<QueueLimits>,
    ) -> Result<LaneConfig, OrbError> {
        let with_lanes = !self.lanes.is_empty();
        Ok(LaneConfig {
            name,
            pool,
            priority: with_lanes.then_some(spec.priority),
            waits_at: spec.priority,
            threads: self.threads_config(spec)?,
            mode: match (spec.wait, buffering) {
                (LaneWait::Blocking, _) => LaneMode::Blocking,
                (LaneWait::Polled, None) => LaneMode::Polled,
                (LaneWait::Polled, Some(limits)) => LaneMode::Buffered(limits),
            },
            limits: self.orb.configuration.lane_limits(),
            sockets: spec.sockets,
            records_service_times: self.orb.is_inspected(),
        })
    }

    /// Returns scheduling, stack and number of a lane's threads.
    fn threads_config(&self, lane: &LaneSpec) -> Result<ThreadsConfig, OrbError> {
        let configuration = &self.orb.configuration;
        let class = lane.class.unwrap_or(configuration.scheduling_class);
        let scheduling = configuration.scheduling(class, lane.priority);
        let scheduling = scheduling.ok_or(OrbError::PriorityUnmappable(lane.priority))?;
        let thread = ThreadSpec::new("")
            .scheduling(scheduling)
            .affinity(lane.affinity.clone())
            .stack_bytes(lane.stack_bytes.unwrap_or(ThreadSpec::DEFAULT_STACK_BYTES))
            .prefault_bytes(lane.prefault_bytes.unwrap_or(ThreadSpec::USUAL_PREFAULT_BYTES));
        Ok(ThreadsConfig {
            thread: Some(thread),
            threads: lane.threads,
            dynamic_threads: lane.dynamic_threads,
            dynamic_lifetime: lane.dynamic_lifetime,
        })
    }
}

/// Checks a pool's name: with a priority and a thread's number it fits the kernel's names.
fn checked_name(name: &str) -> Result<(), OrbError> {
    let is_plain = name
        .bytes()
        .all(|octet| octet.is_ascii_alphanumeric() || octet == b'_');
    if is_plain && (1..=7).contains(&name.len()) {
        return Ok(());
    }
    Err(OrbError::ThreadPool(format!(
        "name `{}`: a name has 1 to 7 letters, digits or underscores, so that the threads' names, which \
         the kernel limits to 15 octets, have room for the lane's priority",
        name.escape_debug()
    )))
}
