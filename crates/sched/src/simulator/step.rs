use alloc::vec::Vec;
use core::time::Duration;

use super::{Parameters, Retry};

/// One thing that a distributable thread does. All but [`Compute`](Self::Compute) take no time of their own.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Needs a processor.
    Compute(Work),
    /// Begins a nested scheduling segment.
    Begin(Parameters),
    /// Changes the parameters of the innermost segment.
    Update(Parameters),
    /// Ends the innermost segment that was begun in the same list of steps.
    End,
    /// A two-way call: the head moves there and comes back. On the same host it is an ordinary call.
    Call(Call),
    /// A oneway: implicitly spawns a thread of another task, on that one's host.
    Oneway(Start),
    /// An asynchronous call: likewise, and a reply comes back when that thread has ended.
    Async(Start),
    /// Waits for the replies to all asynchronous calls that this thread has made.
    Await,
    /// Spawns a thread of another task on this host.
    Spawn {
        /// Its place in the model; it is [`Arrival::OnDemand`](super::Arrival::OnDemand).
        task: usize,
    },
    /// Waits for a resource of this host, and takes it; again, if it has it already.
    Lock(usize),
    /// Gives it back.
    Unlock(usize),
    /// Does nothing for so long, without a processor.
    Sleep(Duration),
    /// Cancels all threads of a task that have not ended, wherever they are.
    Cancel {
        /// Its place in the model.
        task: usize,
    },
}

/// Processor time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// What it is said to take.
    pub time: Duration,
    /// What it takes is this times as much at least.
    pub least: f64,
    /// And at most; uniformly between.
    pub most: f64,
}

/// A two-way call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Where to: the thread of stream `n` of its task calls entry `n`, and begins again after the last one.
    pub hosts: Vec<usize>,
    /// What is done there.
    pub steps: Vec<Step>,
    /// Size of the request.
    pub request_bytes: u64,
    /// Size of the reply.
    pub reply_bytes: u64,
    /// By when the operation is to have been done, from the call. Where operations are cancelled, the call ends then, and the
    /// caller goes on.
    pub deadline: Option<Duration>,
    /// How often it is tried again when it is cancelled.
    pub retry: Retry,
}

/// A thread that a message starts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Start {
    /// The task; it is [`Arrival::OnDemand`](super::Arrival::OnDemand).
    pub task: usize,
    /// Size of the request.
    pub request_bytes: u64,
    /// Size of the reply, if there is one.
    pub reply_bytes: u64,
}

impl Step {
    /// Computes for exactly so long.
    pub const fn compute(time: Duration) -> Self {
        Self::Compute(Work {
            time,
            least: 1.0,
            most: 1.0,
        })
    }

    /// Calls a host, with messages of no size.
    pub fn call(host: usize, steps: impl Into<Vec<Self>>) -> Self {
        Self::Call(Call {
            hosts: Vec::from([host]),
            steps: steps.into(),
            request_bytes: 0,
            reply_bytes: 0,
            deadline: None,
            retry: Retry::default(),
        })
    }

    /// How long steps are said to compute, calls included.
    pub fn execution_time(steps: &[Self]) -> Duration {
        let times = steps.iter().map(|step| match step {
            Self::Compute(work) => work.time,
            Self::Call(call) => Self::execution_time(&call.steps),
            _ => Duration::ZERO,
        });
        times.fold(Duration::ZERO, Duration::saturating_add)
    }
}
