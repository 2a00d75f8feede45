//! Construction of channels.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Instant,
};

use punctual::{Orb, Poa, Priority};
use punctual_os::{PiMutex, ThreadSpec};

use super::{Core, Counters, EventChannel};
use crate::{
    ChannelLimits, Dispatching, EventError, Lane, Overflow,
    dispatching::{Mapping, Threads},
    observers::Observers,
    pool::EventPool,
    settings::QueueSettings,
    suppliers::Suppliers,
    timers::Timers,
};

/// Builder of an [`EventChannel`].
///
/// ```
/// use punctual::Priority;
/// use punctual_events::{EventChannel, Overflow};
///
/// // Consumers of priority 20000 and above share a thread, all others another.
/// let channel = EventChannel::builder()
///     .name("plant")
///     .lane(Priority::MIN, 1)
///     .lane(Priority::new(20_000)?, 1)
///     .queue(256, Overflow::DropOldest)
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChannelBuilder {
    name: String,
    dispatching: Dispatching,
    queue: usize,
    overflow: Overflow,
    limits: ChannelLimits,
    timer_priority: Option<Priority>,
    mapping: Mapping,
}

impl ChannelBuilder {
    /// Length of consumers' queues unless builder or subscription state another.
    pub const DEFAULT_QUEUE: usize = 256;

    pub(crate) fn new() -> Self {
        Self {
            name: "events".to_owned(),
            dispatching: Dispatching::default(),
            queue: Self::DEFAULT_QUEUE,
            overflow: Overflow::default(),
            limits: ChannelLimits::default(),
            timer_priority: None,
            mapping: Mapping::default(),
        }
    }

    /// Gives the threads of the channel the scheduling class and native priorities that this ORB's lanes
    /// have. Default: SCHED_FIFO, linear from 1 to 99, and the ordinary class for the lowest priority.
    ///
    /// ```
    /// use punctual::{ContinuousMapping, Orb, Priority};
    /// use punctual_events::EventChannel;
    ///
    /// let orb = Orb::builder().priority_mapping(ContinuousMapping::new(20..=40)).build()?;
    /// let channel = EventChannel::builder().orb(&orb).lane(Priority::new(10)?, 1).build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn orb(mut self, orb: &Orb) -> Self {
        self.mapping = Mapping::of(orb);
        self
    }

    /// Like [`orb`](Self::orb), with the ORB of an adapter.
    pub(crate) fn adapter(mut self, poa: &Poa) -> Self {
        self.mapping = Mapping::of_adapter(poa);
        self
    }

    /// Sets the name, with which the names of threads begin. Default: `events`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the threads on which consumers receive their events. Default: those of suppliers.
    pub fn dispatching(mut self, dispatching: Dispatching) -> Self {
        self.dispatching = dispatching;
        self
    }

    /// Adds a lane with this number of threads, as [`Lane::new`] does, and with it [`Dispatching::Lanes`].
    pub fn lane(mut self, priority: Priority, threads: usize) -> Self {
        let lane = Lane::new(priority, threads);
        match &mut self.dispatching {
            Dispatching::Lanes(lanes) => lanes.push(lane),
            other => *other = Dispatching::Lanes(vec![lane]),
        }
        self
    }

    /// Sets length and overflow rule of the queues of consumers that state no others.
    pub fn queue(mut self, events: usize, overflow: Overflow) -> Self {
        self.queue = events;
        self.overflow = overflow;
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: ChannelLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the priority of the thread of timeouts. Default: that of ordinary threads.
    pub fn timer_priority(mut self, priority: Priority) -> Self {
        self.timer_priority = Some(priority);
        self
    }

    /// Builds the channel and starts the threads of its lanes.
    ///
    /// # Errors
    /// A lane without threads, a thread that cannot be started, or a queue outside the limits.
    pub fn build(self) -> Result<EventChannel, EventError> {
        if self.queue == 0 || self.queue > self.limits.queue {
            let (requested, limit) = (self.queue, self.limits.queue);
            return Err(EventError::Queue { requested, limit });
        }
        let timer = ThreadSpec::new(format!("{}-timer", self.name));
        let timer = match self.timer_priority {
            Some(priority) => timer.scheduling(self.mapping.scheduling(priority)?),
            None => timer,
        };
        let threads = Threads::start(&self.name, self.dispatching, &self.limits, self.mapping)?;
        let suppliers = Suppliers::new(self.limits.former_suppliers);
        let core = Core {
            observers: Observers::new(
                self.limits.observers,
                self.limits.filter.all_elements,
                self.limits.send_timeout,
            ),
            pool: EventPool::new(self.limits.octets.reused),
            name: self.name,
            limits: self.limits,
            default_queue: QueueSettings {
                events: self.queue,
                overflow: self.overflow,
            },
            threads,
            timers: Arc::new(Timers::new(timer)),
            liveness: Arc::default(),
            federation: Default::default(),
            subscriptions: PiMutex::default(),
            routes: PiMutex::default(),
            schedule: Default::default(),
            is_destroyed: AtomicBool::new(false),
            built: Instant::now(),
            counters: Counters {
                suppliers,
                ..Counters::default()
            },
        };
        Ok(EventChannel { core: Arc::new(core) })
    }
}
