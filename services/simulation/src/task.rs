//! Entries for the work of distributable threads: tasks, scheduling parameters, steps.

use punctual_toml::Span;
use punctual_types::Priority;
use serde::Deserialize;

/// Work whose arrivals are distributable threads.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TaskEntry {
    /// Name.
    pub name: String,
    /// Host on which its threads begin, or group on each of whose hosts they begin.
    pub host: String,
    /// Streams of arrivals per host. Default: 1.
    #[serde(default = "single")]
    pub threads: usize,
    /// Time of a single arrival.
    pub start: Option<Span>,
    /// Period of the arrivals.
    pub period: Option<Span>,
    /// Minimum and maximum time between arrivals, uniformly distributed.
    pub between: Option<[Span; 2]>,
    /// Mean time between random arrivals.
    pub mean: Option<Span>,
    /// Time of the first arrival, with `period`, `between` and `mean`. Default: 0.
    pub offset: Option<Span>,
    /// Maximum delay of each arrival, with `period`. Default: 0.
    pub jitter: Option<Span>,
    /// Span over which the beginnings of the streams are evenly distributed. Default: 0.
    #[serde(default)]
    pub spread: Span,
    /// Treatment of an arrival whose stream's last thread has not ended. Default: queue.
    #[serde(default)]
    pub overrun: OverrunEntry,
    /// Number of retries of a thread that was cancelled because of its deadline. Default: 0.
    #[serde(default)]
    pub retries: u32,
    /// Delay before a retry. Default: 0.
    #[serde(default)]
    pub retry_after: Span,
    /// Scheduling parameters. Default of a task that others start: the parameters of the starting thread.
    pub parameters: Option<ParametersEntry>,
    /// Steps of each thread.
    #[serde(default)]
    pub steps: Vec<StepEntry>,
}

pub(crate) fn single() -> usize {
    1
}

/// Arrivals of a task.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ArrivalEntry {
    /// Steps of other tasks start its threads.
    OnDemand,
    /// One arrival.
    Start(Span),
    /// Periodic arrivals.
    Period(Span),
    /// Minimum and maximum time between arrivals.
    Between(Span, Span),
    /// Mean time between random arrivals.
    Mean(Span),
}

impl TaskEntry {
    /// Returns the arrivals; `None` if more than one kind is stated, which a checked scenario excludes.
    pub fn arrivals(&self) -> Option<ArrivalEntry> {
        match (self.start, self.period, self.between, self.mean) {
            (None, None, None, None) => Some(ArrivalEntry::OnDemand),
            (Some(at), None, None, None) => Some(ArrivalEntry::Start(at)),
            (None, Some(period), None, None) => Some(ArrivalEntry::Period(period)),
            (None, None, Some([least, most]), None) => Some(ArrivalEntry::Between(least, most)),
            (None, None, None, Some(mean)) => Some(ArrivalEntry::Mean(mean)),
            _ => None,
        }
    }
}

/// Treatment of an arrival whose stream's last thread has not ended.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum OverrunEntry {
    /// It becomes another thread.
    #[default]
    Queue,
    /// It is dropped and has missed its deadline.
    Skip,
}

/// Scheduling parameters; each scheduler uses those that it needs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ParametersEntry {
    /// CORBA priority, for FP. Default: 0.
    #[serde(default)]
    pub priority: CorbaPriority,
    /// Importance, for TP and MIF; decides between equals elsewhere. Default: 0.
    #[serde(default)]
    pub importance: i32,
    /// Criticality, for MUF and RMS+MLF; critical from 3. Default: 0.
    #[serde(default)]
    pub criticality: i32,
    /// Period, for RMS and RMS+MLF. Default: the task's.
    pub period: Option<Span>,
    /// Deadline, from the arrival or the beginning of the segment. Default: none.
    pub deadline: Option<Span>,
    /// Declared execution time. Default: the sum of the task's steps; 0 for nested segments.
    pub execution_time: Option<Span>,
    /// Utility, for MAU. Default: 1.
    pub utility: Option<u32>,
    /// Time after the deadline in which the utility falls to nothing, for MAU. Default: 0.
    #[serde(default)]
    pub decay: Span,
}

/// A CORBA priority, 0 to 32767.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct CorbaPriority(#[serde(with = "punctual_toml::priority")] pub Priority);

impl Default for CorbaPriority {
    fn default() -> Self {
        Self(Priority::MIN)
    }
}

/// One step of a thread: exactly one of `compute`, `begin`, `update`, `end`, `call`, `oneway`, `async`,
/// `await`, `spawn`, `lock`, `unlock`, `sleep` and `cancel`, and the keys that belong to it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct StepEntry {
    /// Processor time.
    pub compute: Option<Span>,
    /// Minimum factor of the actual time of `compute`. Default: 1.
    #[serde(default = "whole")]
    pub least: f64,
    /// Maximum factor of the actual time of `compute`. Default: 1.
    #[serde(default = "whole")]
    pub most: f64,
    /// Begins a nested segment.
    pub begin: Option<ParametersEntry>,
    /// Changes the parameters of the innermost segment.
    pub update: Option<ParametersEntry>,
    /// Ends the innermost segment: `true`.
    pub end: Option<bool>,
    /// Calls a host; in a group, the host with the caller's number (in the caller's own group, the next
    /// host).
    pub call: Option<String>,
    /// Steps of the upcall of `call`.
    pub steps: Option<Vec<StepEntry>>,
    /// Deadline of `call`. Default: none.
    pub deadline: Option<Span>,
    /// Number of retries of `call` after a cancellation. Default: 0.
    pub retries: Option<u32>,
    /// Delay before a retry of `call`. Default: 0.
    pub retry_after: Option<Span>,
    /// Offset of the called host of `call` in the group.
    pub shift: Option<usize>,
    /// Sends a oneway message that starts a thread of this task on its host.
    pub oneway: Option<String>,
    /// Sends an asynchronous request that starts a thread of this task on its host.
    #[serde(rename = "async")]
    pub asynchronous: Option<String>,
    /// Size of the request of `call`, `oneway` and `async`. Default: 0.
    pub request_bytes: Option<u64>,
    /// Size of the reply to `call` and `async`. Default: 0.
    pub reply_bytes: Option<u64>,
    /// Waits for the replies to all asynchronous requests: `true`.
    #[serde(rename = "await")]
    pub wait: Option<bool>,
    /// Starts a thread of this task on this host.
    pub spawn: Option<String>,
    /// Takes this resource, and waits for it if necessary.
    pub lock: Option<String>,
    /// Releases this resource.
    pub unlock: Option<String>,
    /// Sleeps for this time.
    pub sleep: Option<Span>,
    /// Cancels all threads of this task.
    pub cancel: Option<String>,
}

fn whole() -> f64 {
    1.0
}
