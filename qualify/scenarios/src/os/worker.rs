//! Shared code of the child processes.

use punctual::NativePriority;
use punctual_harness::{
    Span,
    child::{Role, Task, TaskEntry},
};
use punctual_os::{Scheduling, Thread, ThreadSpec, clock, memory};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::samples::now_ns;
use crate::error::Error;

/// Report of a child process when it is ready.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Ready {
    /// Time between two consecutive readings of the clock, in nanoseconds, which every sample includes.
    pub(crate) stamp_ns: u64,
    /// Why memory is not locked, if it is not.
    pub(crate) not_locked: Option<String>,
}

/// A response, and the span in which the child process executed the command.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Measured<A> {
    pub(crate) span: Span,
    pub(crate) response: A,
}

/// A measurement that a child process executes, without a state.
pub(crate) trait Job: Serialize + DeserializeOwned {
    /// Name, unique in the list of jobs.
    const NAME: &'static str;
    type Reply: Serialize + DeserializeOwned;

    fn run(self) -> Result<Self::Reply, Error>;
}

/// The child process of `os.*`, which executes the jobs of all experiments.
pub(crate) struct Worker;

impl Role for Worker {
    const NAME: &'static str = "__os";
    type Setup = ();
    type Ready = Ready;
    const TASKS: &'static [TaskEntry<Self>] = super::JOBS;

    fn start((): ()) -> Result<(Self, Ready), Error> {
        Ok((Self, get_ready()?))
    }
}

/// A job, whose answer comes with its span.
#[derive(Deserialize, Serialize)]
#[serde(transparent)]
pub(crate) struct Timed<J>(pub(crate) J);

impl<S, J: Job> Task<S> for Timed<J> {
    const NAME: &'static str = J::NAME;
    type Reply = Measured<J::Reply>;

    fn perform(self, _: &mut S) -> Result<Self::Reply, Error> {
        timed(|| self.0.run())
    }
}

/// Locks memory, and measures the cost of the clock.
pub(crate) fn get_ready() -> Result<Ready, Error> {
    clock::exact_timers()?;
    Ok(Ready {
        not_locked: memory::lock_all().err().map(|error| error.to_string()),
        stamp_ns: run(fifo("calibrates", CALIBRATION), stamp_ns)?,
    })
}

/// Executes what a request asks for, and returns the response with its span.
pub(crate) fn timed<A>(response: impl FnOnce() -> Result<A, Error>) -> Result<Measured<A>, Error> {
    let start_ns = now_ns();
    let response = response()?;
    let end_ns = now_ns();
    let span = Span { start_ns, end_ns };
    Ok(Measured { span, response })
}

/// Priority of the measurement of the clock, while nothing else runs.
const CALIBRATION: i16 = 60;
/// Enough for loops of system calls, and small enough for a thousand stacks in locked memory.
const STACK_BYTES: usize = 64 * 1024;

/// Returns the specification of a SCHED_FIFO thread on the measured CPU, where its starter runs.
pub(crate) fn fifo(name: impl Into<String>, priority: i16) -> ThreadSpec {
    ThreadSpec::new(name)
        .scheduling(Scheduling::fifo(NativePriority(priority)))
        .stack_bytes(STACK_BYTES)
        .prefault_bytes(STACK_BYTES)
}

/// Runs a closure in a thread and waits for it, without a deadline: the driver has a watchdog.
pub(crate) fn run<T: Send + 'static>(
    spec: ThreadSpec,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    joined(spec.spawn(work)?)
}

/// Waits for a thread and returns its result.
pub(crate) fn joined<T>(thread: Thread<T>) -> Result<T, Error> {
    thread.join().map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        format!("a measuring thread panicked: {}", text.unwrap_or_default()).into()
    })
}

/// Returns the median time between two readings of the clock.
fn stamp_ns() -> u64 {
    let mut pairs = [0; 2001];
    for pair in &mut pairs {
        let before = now_ns();
        *pair = now_ns() - before;
    }
    pairs.sort_unstable();
    pairs[pairs.len() / 2]
}

/// Uses the CPU for this time by the clock.
pub(crate) fn spin_for(ns: u64) {
    let until = now_ns() + ns;
    while now_ns() < until {
        std::hint::spin_loop();
    }
}
