//! Steps of distributable threads.

use alloc::vec::Vec;
use core::time::Duration;

use crate::dynamic::SheddingPolicy;

use super::Parameters;

/// One step of a distributable thread. Only [`Compute`](Self::Compute) takes processor time itself.
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
