//! Steps of distributable threads.

use alloc::vec::Vec;
use core::time::Duration;

use crate::dynamic::SheddingPolicy;

use super::Parameters;

/// One step of a distributable thread. Only [`Compute`](Self::Compute) takes processor time itself.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Host, Model, Parameters, Simulation, Step, Task};
///
/// let compute = Step::compute(Duration::from_millis(2));
/// let urgent = Parameters { importance: 9, ..Parameters::default() };
/// let mut task = Task::new("track");
/// task.steps = vec![
///     compute.clone(),
///     Step::Begin(urgent),
///     Step::call(1, [compute.clone()]),
///     Step::End,
///     Step::Sleep(Duration::from_millis(1)),
/// ];
/// let hosts = vec![Host::new("radar"), Host::new("display")];
/// let model = Model { hosts, tasks: vec![task], ..Model::default() };
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// simulation.run_until(Time(1_000_000_000), &mut ())?;
/// let statistics = simulation.finish();
/// assert_eq!(statistics.tasks[0].response.max(), Some(5_000_000));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Computes.
    Compute(Work),
    /// Begins a nested scheduling segment.
    Begin(Parameters),
    /// Changes the parameters of the innermost segment.
    Update(Parameters),
    /// Ends the innermost segment that began in the same list of steps.
    End,
    /// Makes a two-way call: the head moves to a host and returns. On the same host it is an ordinary call.
    Call(Call),
    /// Sends a oneway request, which spawns a thread of another task on that task's host.
    Oneway(Start),
    /// Sends an asynchronous request, which spawns a thread as a oneway does and is answered when that thread
    /// has ended.
    Async(Start),
    /// Waits for the replies to all asynchronous requests of this thread.
    Await,
    /// Spawns a thread of another task on this host.
    Spawn {
        /// Index of the task, which is [`Arrival::OnDemand`](super::Arrival::OnDemand).
        task: usize,
    },
    /// Takes a resource of this host, and waits for it if necessary. Reentrant.
    Lock(usize),
    /// Releases a resource.
    Unlock(usize),
    /// Sleeps.
    Sleep(Duration),
    /// Cancels all unfinished threads of a task on all hosts.
    Cancel {
        /// Index of the task.
        task: usize,
    },
}

/// Processor time.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Host, Model, Simulation, Step, Task, Work};
///
/// // Declared as 10 ms; it takes 5 to 10 ms, at random.
/// let work = Work { time: Duration::from_millis(10), least: 0.5, most: 1.0 };
/// let mut task = Task::new("track");
/// task.steps = vec![Step::Compute(work)];
/// let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// simulation.run_until(Time(1_000_000_000), &mut ())?;
/// let statistics = simulation.finish();
/// let response = statistics.tasks[0].response.max().expect("it has ended");
/// assert!((5_000_000..=10_000_000).contains(&response));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Declared processor time.
    pub time: Duration,
    /// Minimum factor of the actual time.
    pub least: f64,
    /// Maximum factor of the actual time; uniformly distributed.
    pub most: f64,
}

/// A two-way call.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, SheddingPolicy, Time};
/// use punctual::rtscheduling::simulator::{Call, Host, Model, Simulation, Step, Task};
///
/// let call = Call {
///     hosts: vec![1],
///     steps: vec![Step::compute(Duration::from_secs(60))],
///     request_bytes: 64,
///     reply_bytes: 16,
///     deadline: Some(Duration::from_millis(10)),
///     shedding: Some(SheddingPolicy::at_checkpoints()),
/// };
/// let mut task = Task::new("track");
/// task.steps = vec![Step::Call(call)];
/// let hosts = vec![Host::new("radar"), Host::new("display")];
/// let model = Model { hosts, tasks: vec![task], ..Model::default() };
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// simulation.run_until(Time(1_000_000_000), &mut ())?;
/// let statistics = simulation.finish();
/// // The call is shed, and the thread continues.
/// assert_eq!((statistics.tasks[0].calls_shed, statistics.tasks[0].made), (1, 1));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Called hosts: stream `n` of the task calls entry `n` modulo their number.
    pub hosts: Vec<usize>,
    /// Steps of the upcall.
    pub steps: Vec<Step>,
    /// Size of the request.
    pub request_bytes: u64,
    /// Size of the reply.
    pub reply_bytes: u64,
    /// Deadline of the operation, from the call. If it is shed, the call ends and the caller continues.
    pub deadline: Option<Duration>,
    /// Policy for the operation when it would miss its deadline; `None`: that of the host.
    pub shedding: Option<SheddingPolicy>,
}

/// A request that starts a thread.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Arrival, Host, Model, Simulation, Start, Step, Task};
///
/// let mut alarm = Task::new("alarm");
/// alarm.steps = vec![Step::Oneway(Start { task: 1, request_bytes: 64, reply_bytes: 0 })];
/// let mut display = Task::new("display");
/// display.arrival = Arrival::OnDemand;
/// display.steps = vec![Step::compute(Duration::from_millis(2))];
/// let model =
///     Model { hosts: vec![Host::new("radar")], tasks: vec![alarm, display], ..Model::default() };
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// simulation.run_until(Time(1_000_000_000), &mut ())?;
/// let statistics = simulation.finish();
/// assert_eq!(statistics.tasks[1].made, 1);
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Start {
    /// Index of the task, which is [`Arrival::OnDemand`](super::Arrival::OnDemand).
    pub task: usize,
    /// Size of the request.
    pub request_bytes: u64,
    /// Size of the reply of an asynchronous request.
    pub reply_bytes: u64,
}

impl Step {
    /// Creates a computation of exactly this time.
    pub const fn compute(time: Duration) -> Self {
        Self::Compute(Work {
            time,
            least: 1.0,
            most: 1.0,
        })
    }

    /// Creates a call of a host, with empty messages.
    pub fn call(host: usize, steps: impl Into<Vec<Self>>) -> Self {
        Self::Call(Call {
            hosts: Vec::from([host]),
            steps: steps.into(),
            request_bytes: 0,
            reply_bytes: 0,
            deadline: None,
            shedding: None,
        })
    }

    /// Returns the declared processor time of steps, including calls.
    pub fn execution_time(steps: &[Self]) -> Duration {
        let times = steps.iter().map(|step| match step {
            Self::Compute(work) => work.time,
            Self::Call(call) => Self::execution_time(&call.steps),
            _ => Duration::ZERO,
        });
        times.fold(Duration::ZERO, Duration::saturating_add)
    }
}
