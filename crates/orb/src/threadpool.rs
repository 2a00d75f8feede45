use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use punctual_os::{CpuSet, Granted, PiMutex, Scheduling, SchedulingClass, Thread, ThreadSpec};
use punctual_transport::Transport;
use punctual_types::Priority;

use crate::{
    LaneStatistics, OrbError,
    lane::{self, Lane},
    notice,
    orb_core::OrbCore,
};

/// Threads that serve requests: with lanes, or at one priority. `RTCORBA::Threadpool`.
///
/// It ends with its ORB; dropping this handle ends nothing.
///
/// ```
/// use punctual_orb::Orb;
/// use punctual_types::Priority;
///
/// let orb = Orb::builder().build()?;
/// let pool = orb.threadpool().lane(Priority::MAX, 1).lane(Priority::MIN, 2).build()?;
/// let lanes: Vec<_> = pool.statistics().into_iter().map(|(priority, _)| priority).collect();
/// assert_eq!(lanes, [Some(Priority::MIN), Some(Priority::MAX)]);
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone)]
pub struct ThreadPool {
    pub(crate) core: Arc<PoolCore>,
}

impl ThreadPool {
    /// What each lane has seen, the lowest priority first; a pool without lanes has one entry, without priority.
    ///
    /// ```
    /// # use punctual_orb::{LaneStatistics, Orb};
    /// let orb = Orb::builder().build()?;
    /// let pool = orb.threadpool().build()?;
    /// assert_eq!(pool.statistics(), [(None, LaneStatistics::default())]);
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn statistics(&self) -> Vec<(Option<Priority>, LaneStatistics)> {
        self.core
            .lanes
            .iter()
            .map(|lane| (lane.priority, lane.statistics()))
            .collect()
    }

    /// Whether every thread runs in the real-time class it was configured with.
    ///
    /// `false` also where that is the ordinary class.
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

/// Makes a [`ThreadPool`]; from [`crate::Orb::threadpool`].
///
/// ```
/// use punctual_orb::Orb;
/// use punctual_os::{CpuSet, SchedulingClass};
/// use punctual_types::Priority;
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
    lanes: Vec<(Priority, usize)>,
    threads: usize,
    default_priority: Priority,
    stack_bytes: usize,
    affinity: Option<CpuSet>,
    class: SchedulingClass,
}

impl ThreadPoolBuilder {
    pub(crate) fn new(orb: &Arc<OrbCore>) -> Self {
        Self {
            orb: Arc::clone(orb),
            lanes: Vec::new(),
            threads: 1,
            default_priority: Priority::MIN,
            stack_bytes: ThreadSpec::DEFAULT_STACK_BYTES,
            affinity: None,
            class: orb.scheduling_class,
        }
    }

    /// Adds a lane: this many threads (at least 1) at this priority, with an acceptor and connections of their own.
    ///
    /// ```
    /// # use punctual_orb::{Orb, OrbError};
    /// use punctual_types::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// let twice = orb.threadpool().lane(Priority::MAX, 1).lane(Priority::MAX, 1).build();
    /// assert!(matches!(twice, Err(OrbError::ThreadPool(_))), "their priorities must differ");
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn lane(mut self, priority: Priority, threads: usize) -> Self {
        self.lanes.push((priority, threads));
        self
    }

    /// For a pool without lanes: how many threads. Default 1.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// For a pool without lanes: the priority at which its threads wait and read. Default 0.
    pub fn default_priority(mut self, priority: Priority) -> Self {
        self.default_priority = priority;
        self
    }

    /// Octets of each thread's stack, touched before the thread serves. Default 2 MiB.
    pub fn stack_bytes(mut self, bytes: usize) -> Self {
        self.stack_bytes = bytes;
        self
    }

    /// The CPUs its threads may run on. Default: those of the thread that builds it.
    pub fn affinity(mut self, cpus: CpuSet) -> Self {
        self.affinity = Some(cpus);
        self
    }

    /// The scheduling class of its threads. Default: the ORB's, which is SCHED_FIFO unless the ORB was built otherwise.
    pub fn scheduling_class(mut self, class: SchedulingClass) -> Self {
        self.class = class;
        self
    }

    /// Opens the lanes and starts the threads.
    ///
    /// Where the process has no right to real-time scheduling they run in the ordinary class, and standard error says so once.
    ///
    /// # Errors
    /// [`OrbError::ThreadPool`] for lanes of equal priority or without threads, [`OrbError::PriorityUnmappable`],
    /// [`OrbError::ShutDown`], and [`OrbError::Os`] or [`OrbError::Listen`] where the system refuses a thread or socket.
    ///
    /// ```
    /// # use punctual_orb::{Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// assert!(orb.threadpool().threads(1).build().is_ok());
    /// assert!(matches!(orb.threadpool().threads(0).build(), Err(OrbError::ThreadPool(_))));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn build(self) -> Result<ThreadPool, OrbError> {
        static NEXT_ID: AtomicU32 = AtomicU32::new(1);
        if self.orb.is_shut_down() {
            return Err(OrbError::ShutDown);
        }
        let mut layout = self.lanes.clone();
        layout.sort_by_key(|(priority, _)| *priority);
        if layout.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(OrbError::ThreadPool("two lanes have the same priority"));
        }
        if layout.iter().any(|(_, threads)| *threads == 0) || layout.is_empty() && self.threads == 0 {
            return Err(OrbError::ThreadPool("a lane has no thread"));
        }
        let with_lanes = !layout.is_empty();
        if !with_lanes {
            layout.push((self.default_priority, self.threads));
        }
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let mut lanes = Vec::new();
        for (priority, _) in &layout {
            let native = self
                .orb
                .mapping
                .to_native(*priority)
                .ok_or(OrbError::PriorityUnmappable(*priority))?;
            let scheduling = match self.class {
                SchedulingClass::Other => Scheduling::OTHER,
                class => Scheduling {
                    class,
                    priority: native,
                },
            };
            // The kernel keeps 15 octets of a thread's name: pool, lane's priority, thread.
            let name = format!("p{id}-{priority}");
            let places = self.orb.listen_beside(&name);
            let lane = Lane::new(
                name,
                id,
                with_lanes.then_some(*priority),
                Some(scheduling),
                &self.orb.limits,
            )?;
            lane.listen(&places)?;
            lanes.push(Arc::new(lane));
        }
        notice::enter_realtime(self.orb.lock_memory);
        let (threads, failure) = self.spawn(&lanes, &layout);
        let highest = layout.last().map_or(Priority::MIN, |(priority, _)| *priority);
        let realtime = threads.iter().all(|thread| thread.granted() == Granted::RealTime);
        let threads = PiMutex::new(threads);
        let core = Arc::new(PoolCore {
            id,
            lanes,
            with_lanes,
            highest,
            realtime,
            threads,
        });
        if let Some(error) = failure {
            core.stop();
            core.join();
            return Err(error.into());
        }
        if !realtime && self.class != SchedulingClass::Other {
            notice::realtime_denied();
        }
        self.orb.add_pool(&core);
        Ok(ThreadPool { core })
    }

    /// The threads of all lanes, and why there are no more of them where one could not be started.
    fn spawn(
        &self,
        lanes: &[Arc<Lane>],
        layout: &[(Priority, usize)],
    ) -> (Vec<Thread<()>>, Option<io::Error>) {
        let mut threads = Vec::new();
        for (lane, (_, count)) in lanes.iter().zip(layout) {
            for number in 0..*count {
                let spec = ThreadSpec::new(format!("{}.{number}", lane.name))
                    .scheduling(lane.scheduling.unwrap_or(Scheduling::OTHER))
                    .affinity(self.affinity.clone())
                    .stack_bytes(self.stack_bytes)
                    .prefault(true);
                let (orb, lane) = (Arc::clone(&self.orb), Arc::clone(lane));
                match spec.spawn(move || lane::work(&lane, &orb)) {
                    Ok(thread) => threads.push(thread),
                    Err(error) => return (threads, Some(error)),
                }
            }
        }
        (threads, None)
    }
}

/// A pool as adapters and the ORB keep it.
pub(crate) struct PoolCore {
    pub(crate) id: u32,
    /// The lowest priority first; the one lane of a pool without lanes.
    pub(crate) lanes: Vec<Arc<Lane>>,
    pub(crate) with_lanes: bool,
    /// The highest priority configured.
    pub(crate) highest: Priority,
    realtime: bool,
    threads: PiMutex<Vec<Thread<()>>>,
}

impl PoolCore {
    /// The pool behind `Orb::run`: one lane without priority and without threads of its own.
    pub(crate) fn default_pool(lane: Lane) -> Self {
        Self {
            id: lane.pool,
            lanes: vec![Arc::new(lane)],
            with_lanes: false,
            highest: Priority::MAX,
            realtime: false,
            threads: PiMutex::new(Vec::new()),
        }
    }

    pub(crate) fn stop(&self) {
        self.lanes.iter().for_each(|lane| lane.stop());
    }

    /// Waits for the threads to end. Not on one of them.
    pub(crate) fn join(&self) {
        let threads = std::mem::take(&mut *self.threads.lock());
        // A thread that panicked has said so; the others are to be waited for all the same.
        threads.into_iter().for_each(|thread| drop(thread.join()));
    }

    /// The endpoints of the lanes for which `wanted` holds, as references carry them.
    pub(crate) fn endpoints(&self, wanted: impl Fn(&Lane) -> bool) -> Vec<LaneEndpoint> {
        let lanes = self.lanes.iter().filter(|lane| wanted(lane));
        lanes
            .flat_map(|lane| {
                let priority = lane.priority.map_or(-1, Priority::value);
                lane.acceptors().iter().map(move |acceptor| LaneEndpoint {
                    transport: Arc::clone(&acceptor.transport),
                    address: acceptor.address().to_owned(),
                    priority,
                })
            })
            .collect()
    }
}

/// Where a lane is reached.
pub(crate) struct LaneEndpoint {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) address: String,
    /// -1: it serves all.
    pub(crate) priority: i16,
}

impl LaneEndpoint {
    pub(crate) fn profile_tag(&self) -> u32 {
        self.transport.profile_tag()
    }
}
