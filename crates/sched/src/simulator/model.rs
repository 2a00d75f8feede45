use alloc::{string::String, vec::Vec};
use core::time::Duration;

use punctual_types::Priority;

use crate::dynamic::{ParameterKind, SchedulingParameters, Time, Utility};

use super::Step;

/// A distributed system as the simulator takes it: hosts, the network between them, and what distributable threads do there.
///
/// Hosts, resources and tasks are named by their places in these lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The endsystems.
    pub hosts: Vec<Host>,
    /// What messages go through from one host to another.
    pub network: Link,
    /// Where it is another link: from, to, and what it is like. The last one counts.
    pub links: Vec<(usize, usize, Link)>,
    /// What threads lock. Each host has one of each.
    pub resources: Vec<Resource>,
    /// What there is to do.
    pub tasks: Vec<Task>,
    /// Threads that are cancelled from outside.
    pub cancellations: Vec<Cancellation>,
    /// Which operations are cancelled because they would miss their deadlines.
    pub shedding: Shedding,
}

/// An endsystem with one scheduler.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Host {
    /// Its name, for people.
    pub name: String,
    /// How many distributable threads can run at once, at least 1.
    pub processors: usize,
    /// What its dispatching mechanism takes.
    pub costs: Costs,
}

/// Processor time that the scheduling itself takes. It is all in which a mechanism (priorities of the operating system, a ready
/// queue in the middleware) differs here from another.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Costs {
    /// One decision: each time the scheduler is asked who is to run.
    pub decision: Duration,
    /// To let another thread run on a processor than the one that ran before.
    pub hand_over: Duration,
    /// To find out whether an operation that is about to be dispatched can still be in time. Where none are cancelled nobody asks.
    pub check: Duration,
    /// To cancel an operation or to unwind a cancelled thread on this host.
    pub cancellation: Duration,
}

/// How messages get from a host to another. None is lost: CORBA's connections deliver.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Link {
    /// Each message takes this long at least.
    pub latency: Duration,
    /// And up to this much longer, uniformly. One thread's message may so overtake another's.
    pub jitter: Duration,
    /// How many octets per second it takes, one message after the other, per direction; `None`: any number.
    pub bytes_per_second: Option<u64>,
}

/// Something that one thread at a time holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Its name, for people.
    pub name: String,
    /// What its resource manager does about inversions.
    pub protocol: Protocol,
}

/// What is done about a holder that is less eligible than who waits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Protocol {
    /// Nothing.
    None,
    /// The holder has the parameters of the most eligible waiter meanwhile.
    #[default]
    Inheritance,
    /// Every holder has at least these parameters. Deadlines in them count from when it was locked.
    Ceiling(Parameters),
}

/// Work that comes again and again, or once: each time a distributable thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its name, for people.
    pub name: String,
    /// Where its threads begin: for each entry a stream of arrivals of its own. A host can stand here more than once.
    pub hosts: Vec<usize>,
    /// When they begin.
    pub arrival: Arrival,
    /// The streams begin evenly spread over this long.
    pub spread: Duration,
    /// What they are scheduled by; `None`: by what the thread that starts them is (its implicit parameters).
    pub parameters: Option<Parameters>,
    /// What they do.
    pub steps: Vec<Step>,
    /// What becomes of an arrival while the thread of the one before has not ended.
    pub overrun: Overrun,
    /// What becomes of one that is cancelled so as not to miss its deadline.
    pub retry: Retry,
}

/// When threads of a task begin.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arrival {
    /// When others say so: [`Step::Spawn`], [`Step::Oneway`], [`Step::Async`].
    OnDemand,
    /// Once.
    Once {
        /// When.
        at: Time,
    },
    /// Again and again.
    Periodic {
        /// The first one.
        offset: Time,
        /// From one to the next, longer than zero.
        period: Duration,
        /// Each may be up to this much late, uniformly. Its deadline does not move with it.
        jitter: Duration,
    },
    /// From one to the next between two spans, uniformly.
    Sporadic {
        /// The first one comes at a random time in [0, `most`] after this.
        offset: Time,
        /// At least.
        least: Duration,
        /// At most, longer than zero.
        most: Duration,
    },
    /// At any time, independently of one another (a Poisson process).
    Random {
        /// None before this.
        offset: Time,
        /// From one to the next in the mean, longer than zero.
        mean: Duration,
    },
}

/// What becomes of an arrival that comes too early.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Overrun {
    /// It is one more thread.
    #[default]
    Queue,
    /// It is dropped, and counts as skipped and missed: the one thread that would do it is still busy.
    Skip,
}

/// How often a cancelled operation is tried again.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Retry {
    /// So many times.
    pub times: u32,
    /// That long after it was cancelled, with a deadline of its own.
    pub after: Duration,
}

/// Which operations are cancelled before they are dispatched, because with the time they are said to take they would miss their
/// deadlines. \[S4\] section 3.2.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Shedding {
    /// None.
    #[default]
    None,
    /// Those whose criticality is less than [`SchedulingParameters::CRITICAL`].
    NonCritical,
    /// All.
    All,
}

/// `DistributableThread::cancel()` from outside.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Cancellation {
    /// When.
    pub at: Time,
    /// All threads of this task that have not ended.
    pub task: usize,
}

/// What work is scheduled by, for every discipline: each takes of it what it needs, so that one model runs under all of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Parameters {
    /// For FP.
    pub priority: Priority,
    /// For TP and MIF; between equals elsewhere.
    pub importance: i32,
    /// For MUF and RMS+MLF, and for what may be cancelled.
    pub criticality: i32,
    /// For RMS and RMS+MLF; zero: it does not come again.
    pub period: Duration,
    /// From the arrival, or from the beginning of the segment; `None`: there is none.
    pub deadline: Option<Duration>,
    /// What it is said to take.
    pub execution_time: Duration,
    /// What it is worth to be in time.
    pub utility: Utility,
}

impl Default for Parameters {
    /// The least eligible: no deadline, not critical, worth 1.
    fn default() -> Self {
        Self {
            priority: Priority::MIN,
            importance: 0,
            criticality: 0,
            period: Duration::ZERO,
            deadline: None,
            execution_time: Duration::ZERO,
            utility: Utility {
                value: 1,
                decay: Duration::ZERO,
            },
        }
    }
}

impl Parameters {
    /// What a scheduler of this kind gets, for work that began at `from`.
    pub fn at(&self, kind: ParameterKind, from: Time) -> SchedulingParameters {
        let Self {
            priority,
            importance,
            criticality,
            execution_time,
            utility,
            ..
        } = *self;
        let deadline = self.deadline.map_or(Time::NEVER, |deadline| from + deadline);
        let period = if self.period.is_zero() {
            Duration::MAX
        } else {
            self.period
        };
        match kind {
            ParameterKind::FixedPriority => SchedulingParameters::FixedPriority { priority },
            ParameterKind::Importance => SchedulingParameters::Importance { importance },
            ParameterKind::Rate => SchedulingParameters::Rate { period, importance },
            ParameterKind::Deadline => SchedulingParameters::Deadline {
                deadline,
                period: self.period,
                execution_time,
                importance,
            },
            ParameterKind::Laxity => SchedulingParameters::Laxity {
                deadline,
                execution_time,
                importance,
            },
            ParameterKind::Urgency => SchedulingParameters::Urgency {
                criticality,
                deadline,
                execution_time,
                importance,
            },
            ParameterKind::RateOrLaxity => SchedulingParameters::RateOrLaxity {
                criticality,
                period,
                deadline,
                execution_time,
                importance,
            },
            ParameterKind::Utility => SchedulingParameters::Utility {
                deadline,
                execution_time,
                utility,
            },
        }
    }

    /// Whether missing it is not allowed.
    pub const fn is_critical(&self) -> bool {
        self.criticality >= SchedulingParameters::CRITICAL
    }
}

impl Host {
    /// One processor, and scheduling that takes no time.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            processors: 1,
            costs: Costs::default(),
        }
    }
}

impl Task {
    /// One thread that arrives at the beginning on the first host, and does nothing yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            hosts: Vec::from([0]),
            arrival: Arrival::Once { at: Time(0) },
            spread: Duration::ZERO,
            parameters: Some(Parameters::default()),
            steps: Vec::new(),
            overrun: Overrun::Queue,
            retry: Retry::default(),
        }
    }

    /// How long its steps compute, calls included, oneways and spawned threads not.
    pub fn execution_time(&self) -> Duration {
        Step::execution_time(&self.steps)
    }
}
