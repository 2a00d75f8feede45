//! The model of a distributed system: hosts, network, resources and tasks.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use crate::dynamic::{SheddingPolicy, Time};

use super::{Limits, Parameters, Step};

/// A distributed system: hosts, the network between them, and the work of distributable threads.
///
/// Hosts, resources and tasks are identified by their indices in these lists.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time, simulator::{Host, Model, Simulation, Step, Task}};
///
/// let mut task = Task::new("track");
/// task.steps = vec![Step::compute(Duration::from_millis(2))];
/// let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// simulation.run_until(Time(1_000_000_000), &mut ())?;
/// let statistics = simulation.finish();
/// assert_eq!(statistics.tasks[0].response.max(), Some(2_000_000));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Endsystems.
    pub hosts: Vec<Host>,
    /// Delays of messages between hosts.
    pub network: Link,
    /// Exceptions to `network`: from, to, delays. The last entry for a direction applies.
    pub links: Vec<(usize, usize, Link)>,
    /// Resources that threads lock. Each host has one of each.
    pub resources: Vec<Resource>,
    /// Tasks, whose arrivals are distributable threads.
    pub tasks: Vec<Task>,
    /// Cancellations from outside.
    pub cancellations: Vec<Cancellation>,
    /// Limits of the model and its simulation.
    pub limits: Limits,
}

/// An endsystem with one scheduler.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time, simulator::{Host, Model, Simulation, Step, Task}};
///
/// let mut task = Task::new("track");
/// task.hosts = vec![0, 0];
/// task.steps = vec![Step::compute(Duration::from_millis(2))];
/// let radar = Host { processors: 2, ..Host::new("radar") };
/// let model = Model { hosts: vec![radar], tasks: vec![task], ..Model::default() };
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// simulation.run_until(Time(1_000_000_000), &mut ())?;
/// let statistics = simulation.finish();
/// assert_eq!(statistics.tasks[0].response.max(), Some(2_000_000), "both run at the same time");
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Host {
    /// Name for reports.
    pub name: String,
    /// Number of processors, at least 1.
    pub processors: usize,
    /// Costs of its dispatching mechanism.
    pub costs: Costs,
    /// Policy of its scheduler for operations that would miss their deadlines, except those that have their
    /// own policy.
    pub shedding: SheddingPolicy,
}

impl Host {
    /// Creates a host with one processor and no scheduling costs.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            processors: 1,
            costs: Costs::default(),
            shedding: SheddingPolicy::never(),
        }
    }
}

/// Processor time that scheduling takes. Dispatching mechanisms (priorities of the operating system, a ready
/// queue in the middleware) differ here in nothing else.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Costs, Host, Model, Simulation, Step, Task};
///
/// let microseconds = Duration::from_micros;
/// let costs = Costs { decision: microseconds(3), hand_over: microseconds(5), ..Costs::default() };
/// let mut task = Task::new("track");
/// task.steps = vec![Step::compute(microseconds(100))];
/// let radar = Host { costs, ..Host::new("radar") };
/// let model = Model { hosts: vec![radar], tasks: vec![task], ..Model::default() };
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// simulation.run_until(Time(1_000_000_000), &mut ())?;
/// let statistics = simulation.finish();
/// assert!(statistics.tasks[0].response.max() >= Some(108_000));
/// assert!(statistics.hosts[0].overhead >= microseconds(8));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Costs {
    /// A scheduling decision.
    pub decision: Duration,
    /// A switch of a processor to another thread.
    pub hand_over: Duration,
    /// The check, before dispatch, whether an operation can meet its deadline. Only with a policy.
    pub check: Duration,
    /// Cancelling an operation, or unwinding a cancelled thread on this host.
    pub cancellation: Duration,
}

/// Delays of messages from one host to another. No message is lost: CORBA's connections are reliable.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Host, Link, Model, Simulation, Step, Task};
///
/// let network = Link { latency: Duration::from_millis(3), ..Link::default() };
/// let mut task = Task::new("track");
/// task.steps = vec![Step::call(1, [Step::compute(Duration::from_millis(2))])];
/// let hosts = vec![Host::new("radar"), Host::new("display")];
/// let model = Model { hosts, network, tasks: vec![task], ..Model::default() };
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// simulation.run_until(Time(1_000_000_000), &mut ())?;
/// let statistics = simulation.finish();
/// assert_eq!(statistics.tasks[0].response.max(), Some(8_000_000), "3 ms there, 2 ms, 3 ms back");
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Link {
    /// Minimum delay of each message.
    pub latency: Duration,
    /// Maximum additional delay, uniformly distributed. A message of one thread can overtake that of another.
    pub jitter: Duration,
    /// Bandwidth in octets per second and direction, used by one message after the other; `None`: unlimited.
    pub bytes_per_second: Option<u64>,
}

/// A resource that one thread at a time owns.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Host, Model, Resource, Simulation, Step, Task};
///
/// let mut task = Task::new("track");
/// task.hosts = vec![0, 0];
/// task.steps = vec![Step::Lock(0), Step::compute(Duration::from_millis(2)), Step::Unlock(0)];
/// let mut model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// model.hosts[0].processors = 2;
/// model.resources.push(Resource::new("map"));
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// simulation.run_until(Time(1_000_000_000), &mut ())?;
/// let statistics = simulation.finish();
/// assert_eq!(statistics.tasks[0].response.max(), Some(4_000_000), "one after the other");
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Name for reports.
    pub name: String,
    /// Protocol against priority inversion.
    pub protocol: Protocol,
}

impl Resource {
    /// Creates a resource with inheritance.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            protocol: Protocol::default(),
        }
    }
}

/// Parameters by which the owner of a resource is scheduled: [`crate::dynamic::resource::Protocol`] for every
/// discipline.
///
/// ```
/// # mod punctual { pub(crate) use punctual_sched as rtscheduling; }
/// use punctual::rtscheduling::simulator::{Model, Parameters, Protocol, Resource};
///
/// let ceiling = Parameters { importance: 9, ..Parameters::default() };
/// let map = Resource { protocol: Protocol::Ceiling(ceiling), ..Resource::new("map") };
/// let model = Model { resources: vec![map, Resource::new("log")], ..Model::default() };
/// assert_eq!(model.resources[1].protocol, Protocol::Inheritance, "the default");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Protocol {
    /// Its own.
    None,
    /// The owner has the parameters of the most eligible waiter.
    #[default]
    Inheritance,
    /// The owner has at least these parameters. Their deadline counts from the time at which the resource is
    /// taken.
    Ceiling(Parameters),
}

/// Work whose arrivals are distributable threads.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{EarliestDeadlineFirst, Time};
/// use punctual::rtscheduling::simulator::{Arrival, Host, Model, Parameters, Simulation, Step, Task};
///
/// let milliseconds = Duration::from_millis;
/// let mut task = Task::new("track");
/// task.arrival = Arrival::Periodic { offset: Time(0), period: milliseconds(100), jitter: Duration::ZERO };
/// task.parameters = Some(Parameters { deadline: Some(milliseconds(20)), ..Parameters::default() });
/// task.steps = vec![Step::compute(milliseconds(5))];
/// let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(EarliestDeadlineFirst::new()))?;
/// simulation.run_until(Time(950_000_000), &mut ())?;
/// let statistics = simulation.finish();
/// assert_eq!((statistics.tasks[0].made, statistics.tasks[0].missed()), (10, 0));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Name for reports.
    pub name: String,
    /// Hosts on which its threads begin, one stream of arrivals per entry. A host may occur several times.
    pub hosts: Vec<usize>,
    /// Times of the arrivals.
    pub arrival: Arrival,
    /// Span over which the beginnings of the streams are evenly distributed.
    pub spread: Duration,
    /// Scheduling parameters; `None`: those of the thread that starts them (its implicit parameters).
    pub parameters: Option<Parameters>,
    /// Steps of each thread.
    pub steps: Vec<Step>,
    /// Treatment of an arrival whose stream's last thread has not ended.
    pub overrun: Overrun,
    /// Policy for threads that would miss their deadlines; `None`: that of the host.
    pub shedding: Option<SheddingPolicy>,
}

impl Task {
    /// Creates a task with one arrival at time 0 on the first host, and no steps.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            hosts: Vec::from([0]),
            arrival: Arrival::Once { at: Time(0) },
            spread: Duration::ZERO,
            parameters: Some(Parameters::default()),
            steps: Vec::new(),
            overrun: Overrun::Queue,
            shedding: None,
        }
    }

    /// Returns the declared processor time of its steps, including calls but not oneways and spawned threads.
    pub fn execution_time(&self) -> Duration {
        Step::execution_time(&self.steps)
    }
}

/// Arrivals of a task.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Arrival, Host, Model, Simulation, Step, Task};
///
/// let mut task = Task::new("report");
/// let milliseconds = Duration::from_millis;
/// task.arrival =
///     Arrival::Sporadic { offset: Time(0), least: milliseconds(50), most: milliseconds(100) };
/// task.steps = vec![Step::compute(milliseconds(1))];
/// let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// simulation.run_until(Time(1_000_000_000), &mut ())?;
/// let statistics = simulation.finish();
/// assert!((10..=20).contains(&statistics.tasks[0].arrived));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arrival {
    /// Its threads are started by [`Step::Spawn`], [`Step::Oneway`] and [`Step::Async`].
    OnDemand,
    /// One arrival.
    Once {
        /// Time of the arrival.
        at: Time,
    },
    /// Periodic arrivals.
    Periodic {
        /// Time of the first arrival.
        offset: Time,
        /// Time between arrivals, longer than zero.
        period: Duration,
        /// Maximum delay of each arrival, uniformly distributed. The deadline is not delayed.
        jitter: Duration,
    },
    /// Arrivals separated by uniformly distributed times.
    Sporadic {
        /// The first arrival is at a random time in [0, `most`] after this.
        offset: Time,
        /// Minimum time between arrivals.
        least: Duration,
        /// Maximum time between arrivals, longer than zero.
        most: Duration,
    },
    /// Independent random arrivals (a Poisson process).
    Random {
        /// Beginning of the process.
        offset: Time,
        /// Mean time between arrivals, longer than zero.
        mean: Duration,
    },
}

/// Treatment of an arrival whose stream's last thread has not ended.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Arrival, Host, Model, Overrun, Simulation, Step, Task};
///
/// let milliseconds = Duration::from_millis;
/// let mut task = Task::new("scan");
/// task.arrival = Arrival::Periodic { offset: Time(0), period: milliseconds(10), jitter: Duration::ZERO };
/// task.steps = vec![Step::compute(milliseconds(15))];
/// // The thread that serves it is busy at every second arrival.
/// task.overrun = Overrun::Skip;
/// let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// simulation.run_until(Time(35_000_000), &mut ())?;
/// let statistics = simulation.finish();
/// assert_eq!((statistics.tasks[0].arrived, statistics.tasks[0].skipped), (4, 2));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Overrun {
    /// It becomes another thread.
    #[default]
    Queue,
    /// It is dropped, and counts as skipped and missed: the single thread that would serve it is busy.
    Skip,
}

/// A `DistributableThread::cancel()` from outside.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Cancellation, Host, Model, Simulation, Step, Task};
///
/// let mut task = Task::new("scan");
/// task.steps = vec![Step::compute(Duration::from_millis(10)); 2];
/// let mut model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// // It takes effect at the next scheduling point: between the computations.
/// model.cancellations.push(Cancellation { at: Time(5_000_000), task: 0 });
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// simulation.run_until(Time(1_000_000_000), &mut ())?;
/// let statistics = simulation.finish();
/// assert_eq!(statistics.tasks[0].cancelled, 1);
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Cancellation {
    /// Time of the cancellation.
    pub at: Time,
    /// Task whose unfinished threads are all cancelled.
    pub task: usize,
}
