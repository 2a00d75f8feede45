//! Settings and counters of a lane, as its request handler sees them.

use punctual_os::Scheduling;
use punctual_types::Priority;

use crate::{LaneLimits, QueueLimits, ServiceTimes, SocketOptions, ThreadsConfig, statistics::Counters};

/// Part of a lane that is independent of its threads and connections.
pub struct LaneContext<D> {
    config: LaneConfig,
    /// Data of the handler for this lane.
    pub data: D,
    pub(crate) counters: Counters,
}

/// Settings of a lane.
pub struct LaneConfig {
    /// Name of the lane, which begins the names of its threads.
    pub name: String,
    /// Number of the thread pool; 0 is the ORB's default pool.
    pub pool: u32,
    /// CORBA priority of the lane. `None`: the one lane of a pool without lanes.
    pub priority: Option<Priority>,
    /// CORBA priority at which its threads wait and read.
    pub waits_at: Priority,
    /// Scheduling and number of its threads.
    pub threads: ThreadsConfig,
    /// How its threads wait.
    pub mode: LaneMode,
    /// Limits.
    pub limits: LaneLimits,
    /// Options of the sockets that it accepts.
    pub sockets: SocketOptions,
    /// Whether service times are recorded.
    pub records_service_times: bool,
}

/// Configured way of waiting, without the state that it needs at run time.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LaneMode {
    /// All threads wait in the poller, for all connections.
    #[default]
    Polled,
    /// Each thread blocks in `read` for its own connection.
    Blocking,
    /// One I/O thread waits in the poller and fills the request queue, within these limits; the others wait
    /// for the queue.
    Buffered(QueueLimits),
}

impl<D> LaneContext<D> {
    pub(crate) fn new(config: LaneConfig, data: D) -> Self {
        Self {
            counters: Counters::new(config.records_service_times),
            config,
            data,
        }
    }

    /// Returns the name of the lane.
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// Returns the number of the thread pool.
    pub fn pool(&self) -> u32 {
        self.config.pool
    }

    /// Returns the CORBA priority of the lane. `None`: the one lane of a pool without lanes.
    pub fn priority(&self) -> Option<Priority> {
        self.config.priority
    }

    /// Returns the CORBA priority at which its threads wait and read.
    pub fn waits_at(&self) -> Priority {
        self.config.waits_at
    }

    /// Returns the scheduling of its threads, which they return to after an upcall at another priority.
    /// `None`: the user's own threads.
    pub fn scheduling(&self) -> Option<Scheduling> {
        self.config
            .threads
            .thread
            .as_ref()
            .map(|thread| thread.scheduling)
    }

    /// Returns the stack size of each of its threads in octets. `None`: the user's own threads.
    pub fn stack_bytes(&self) -> Option<usize> {
        let thread = self.config.threads.thread.as_ref();
        thread.map(|thread| thread.stack_bytes)
    }

    pub(crate) fn limits(&self) -> &LaneLimits {
        &self.config.limits
    }

    pub(crate) fn sockets(&self) -> &SocketOptions {
        &self.config.sockets
    }

    /// Counts a request whose priority belongs to another lane.
    pub fn count_misdirected(&self) {
        self.counters.misdirected.add_one();
    }

    /// Counts a request refused for its priority.
    pub fn count_refused_priority(&self) {
        self.counters.refused_priorities.add_one();
    }

    /// Counts a request dropped because its deadline has passed.
    pub fn count_expired(&self) {
        self.counters.expired.add_one();
    }

    /// Counts a request whose servant took a response handler.
    pub fn count_deferred(&self) {
        self.counters.deferred.add_one();
    }

    /// Returns the histogram of service times, if they are recorded.
    pub fn service_times(&self) -> Option<&ServiceTimes> {
        self.counters.service_times.as_ref()
    }
}
