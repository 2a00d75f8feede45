//! Files for the simulator: hosts, network, resources and tasks under dynamic schedulers.

mod build;
mod check;

use std::{fs, path::Path};

use punctual::Priority;
use punctual_sched::{
    dynamic::{Scheduler, standard},
    simulator::Model,
};
use serde::Deserialize;

use crate::{ScheduleError, Span};

/// A distributed system and what distributable threads do in it, as the file has it. `docs/simulation.md` describes every key.
///
/// ```
/// use punctual_scheduling::Scenario;
/// use punctual_sched::{dynamic::Time, simulator::Simulation};
///
/// let text = r#"
///     scheduler = "EDF"
///     until = "1 s"
///     [[host]]
///     name = "radar"
///     [[task]]
///     name = "track"
///     host = "radar"
///     period = "10 ms"
///     parameters = { deadline = "8 ms" }
///     steps = [{ compute = "2 ms" }]
/// "#;
/// let scenario = Scenario::parse("radar.toml", text)?;
/// let model = scenario.model();
/// let mut simulation = Simulation::new(&model, scenario.seed, |host| scenario.scheduler_of(host, None))?;
/// simulation.run_until(Time(0) + scenario.until.0, &mut ());
/// let statistics = simulation.finish();
/// // The one that arrives in the last moment is not done.
/// assert_eq!((statistics.tasks[0].made, statistics.tasks[0].unfinished), (100, 1));
///
/// let wrong = Scenario::parse("radar.toml", &text.replace("host = \"radar\"", "host = \"rader\"")).unwrap_err();
/// assert!(wrong.to_string().ends_with("task[1].host: no host is named `rader`; there is `radar`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The scheduler of hosts that do not say another: one of [`STANDARD`](punctual_sched::dynamic::STANDARD).
    pub scheduler: String,
    /// How long it goes on, from 0.
    pub until: Span,
    /// What random numbers come from. Default: 1.
    #[serde(default = "one")]
    pub seed: u64,
    /// Which operations are cancelled before they are dispatched, because they would miss their deadlines. Default: none.
    #[serde(default)]
    pub cancellation: Sheds,
    /// What messages between hosts go through. Default: they take no time.
    #[serde(default)]
    pub network: Network,
    /// The endsystems.
    #[serde(default, rename = "host")]
    pub hosts: Vec<HostEntry>,
    /// Where messages go through something else.
    #[serde(default, rename = "link")]
    pub links: Vec<LinkEntry>,
    /// What threads lock; each host has one of each.
    #[serde(default, rename = "resource")]
    pub resources: Vec<ResourceEntry>,
    /// What there is to do.
    #[serde(default, rename = "task")]
    pub tasks: Vec<TaskEntry>,
    /// Threads that are cancelled from outside.
    #[serde(default, rename = "cancel")]
    pub cancels: Vec<CancelEntry>,
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ScheduleError`].
    pub fn read(file: impl AsRef<Path>) -> Result<Self, ScheduleError> {
        let file = file.as_ref();
        let text = fs::read_to_string(file).map_err(|error| ScheduleError::read(file, error))?;
        Self::parse(&file.display().to_string(), &text)
    }

    /// Reads a text; `file` is what errors call it.
    ///
    /// # Errors
    /// [`ScheduleError::Invalid`].
    pub fn parse(file: &str, text: &str) -> Result<Self, ScheduleError> {
        crate::location::read(file, text, check::check)
    }

    /// As the simulator takes it. Hosts with a `count` are that many.
    pub fn model(&self) -> Model {
        build::model(self)
    }

    /// A scheduler for a host of the model; `instead` is the name of one that all hosts have instead of theirs.
    ///
    /// # Panics
    /// Without such a host or scheduler, which a checked scenario does not have.
    pub fn scheduler_of(&self, host: usize, instead: Option<&str>) -> Box<dyn Scheduler> {
        let name = instead.unwrap_or_else(|| self.scheduler_name(host));
        standard(name).expect("the names of a checked scenario's schedulers are known")
    }

    /// The name of the scheduler of a host of the model.
    pub fn scheduler_name(&self, host: usize) -> &str {
        let mut end = 0;
        let entry = self.hosts.iter().find(|entry| {
            end += entry.count;
            host < end
        });
        let own = entry.and_then(|entry| entry.scheduler.as_deref());
        own.unwrap_or(&self.scheduler)
    }
}

fn one() -> u64 {
    1
}

fn single() -> usize {
    1
}

fn all() -> f64 {
    1.0
}

/// Which operations are cancelled before they are dispatched.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Sheds {
    /// None.
    #[default]
    None,
    /// Those below criticality 3.
    NonCritical,
    /// All.
    All,
}

/// How messages get from one host to another.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// At least. Default: 0.
    #[serde(default)]
    pub latency: Span,
    /// Up to this much more. Default: 0.
    #[serde(default)]
    pub jitter: Span,
    /// Default: no limit.
    pub bytes_per_second: Option<u64>,
}

/// An endsystem, or several that are alike.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct HostEntry {
    /// Its name. With a `count` the name of all, and `NAME-1` … are theirs.
    pub name: String,
    /// How many there are. Default: 1.
    #[serde(default = "single")]
    pub count: usize,
    /// Processors of each. Default: 1.
    #[serde(default = "single")]
    pub processors: usize,
    /// Default: the scenario's.
    pub scheduler: Option<String>,
    /// Processor time of a decision. Default: 0.
    #[serde(default)]
    pub decision: Span,
    /// Processor time of a switch to another thread. Default: 0.
    #[serde(default)]
    pub hand_over: Span,
    /// Processor time to find out whether an operation can still be in time, before it is dispatched. Default: 0.
    #[serde(default)]
    pub check: Span,
    /// Processor time to cancel an operation or unwind a cancelled thread. Default: 0.
    #[serde(default)]
    pub cancellation: Span,
}

/// What messages from one host (or each of a group) to another go through.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LinkEntry {
    /// Where from.
    pub from: String,
    /// Where to. The way back is another link.
    pub to: String,
    /// As in [`Network::latency`].
    #[serde(default)]
    pub latency: Span,
    /// As in [`Network::jitter`].
    #[serde(default)]
    pub jitter: Span,
    /// As in [`Network::bytes_per_second`].
    pub bytes_per_second: Option<u64>,
}

/// Something that one thread at a time holds.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ResourceEntry {
    /// Its name.
    pub name: String,
    /// Default: inheritance.
    #[serde(default)]
    pub protocol: ResourceProtocol,
    /// What every holder has at least. With protocol `ceiling`.
    pub ceiling: Option<SegmentParameters>,
}

/// What is done about a holder that is less eligible than who waits.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum ResourceProtocol {
    /// Nothing.
    None,
    /// It has the parameters of the most eligible waiter.
    #[default]
    Inheritance,
    /// It has at least those of the ceiling.
    Ceiling,
}

/// What work is scheduled by; each scheduler takes of it what it needs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SegmentParameters {
    /// For FP: a CORBA priority. Default: 0.
    #[serde(default)]
    pub priority: CorbaPriority,
    /// For TP and MIF; between equals elsewhere. Default: 0.
    #[serde(default)]
    pub importance: i32,
    /// For MUF and RMS+MLF, from 3 on critical. Default: 0.
    #[serde(default)]
    pub criticality: i32,
    /// For RMS and RMS+MLF. Default: the task's.
    pub period: Option<Span>,
    /// From the arrival, or the beginning of the segment. Default: none.
    pub deadline: Option<Span>,
    /// What it is said to take. Default: what the task's steps compute; of nested segments 0.
    pub execution_time: Option<Span>,
    /// For MAU: what it is worth. Default: 1.
    pub utility: Option<u32>,
    /// For MAU: how long after the deadline that falls to nothing. Default: 0.
    #[serde(default)]
    pub decay: Span,
}

/// A CORBA priority, 0 to 32767.
#[derive(Clone, Copy, Debug, Eq, PartialEq, serde::Deserialize)]
#[serde(transparent)]
pub struct CorbaPriority(#[serde(with = "crate::schedule::priority")] pub Priority);

impl Default for CorbaPriority {
    fn default() -> Self {
        Self(Priority::MIN)
    }
}

/// Work that comes once, again and again, or when others ask for it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TaskEntry {
    /// Its name.
    pub name: String,
    /// Where its threads begin: a host, or each of a group.
    pub host: String,
    /// How many streams of threads per host. Default: 1.
    #[serde(default = "single")]
    pub threads: usize,
    /// Once, then.
    pub start: Option<Span>,
    /// Again and again.
    pub period: Option<Span>,
    /// From one to the next between the first and the second span, uniformly.
    pub between: Option<[Span; 2]>,
    /// At any time, so long after one another on average.
    pub mean: Option<Span>,
    /// When the first one comes. With `period`, `between` and `mean`. Default: 0.
    pub offset: Option<Span>,
    /// How late each may come. With `period`. Default: 0.
    pub jitter: Option<Span>,
    /// The streams begin evenly spread over this long. Default: 0.
    #[serde(default)]
    pub spread: Span,
    /// What is done with an arrival while the stream's last one has not ended. Default: it is one more thread.
    #[serde(default)]
    pub overrun: Overruns,
    /// How often one that was cancelled because of its deadline is tried again. Default: 0.
    #[serde(default)]
    pub retries: u32,
    /// How long after it. Default: 0.
    #[serde(default)]
    pub retry_after: Span,
    /// By what it is scheduled. Default, of tasks that others start: by what those are.
    pub parameters: Option<SegmentParameters>,
    /// What it does.
    #[serde(default)]
    pub steps: Vec<ScenarioStep>,
}

/// When a task arrives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arrivals {
    /// When others ask for it.
    OnDemand,
    /// Once.
    Start(Span),
    /// Again and again.
    Period(Span),
    /// Between two spans after one another.
    Between(Span, Span),
    /// At random.
    Mean(Span),
}

impl TaskEntry {
    /// Which arrivals it has; `None` where more than one kind is stated, which no checked scenario has.
    pub fn arrivals(&self) -> Option<Arrivals> {
        match (self.start, self.period, self.between, self.mean) {
            (None, None, None, None) => Some(Arrivals::OnDemand),
            (Some(at), None, None, None) => Some(Arrivals::Start(at)),
            (None, Some(period), None, None) => Some(Arrivals::Period(period)),
            (None, None, Some([least, most]), None) => Some(Arrivals::Between(least, most)),
            (None, None, None, Some(mean)) => Some(Arrivals::Mean(mean)),
            _ => None,
        }
    }
}

/// What is done with an arrival that comes too early.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Overruns {
    /// It is one more thread.
    #[default]
    Queue,
    /// It is dropped, and has missed its deadline.
    Skip,
}

/// One thing that a thread does: exactly one of `compute`, `begin`, `update`, `end`, `call`, `oneway`, `async`, `await`, `spawn`,
/// `lock`, `unlock`, `sleep` and `cancel`, with what belongs to it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ScenarioStep {
    /// Processor time.
    pub compute: Option<Span>,
    /// With `compute`: what it takes is at least this times that. Default: 1.
    #[serde(default = "all")]
    pub least: f64,
    /// With `compute`: what it takes is at most this times that. Default: 1.
    #[serde(default = "all")]
    pub most: f64,
    /// Begins a nested segment.
    pub begin: Option<SegmentParameters>,
    /// Changes the parameters of the innermost segment.
    pub update: Option<SegmentParameters>,
    /// Ends the innermost segment: `true`.
    pub end: Option<bool>,
    /// Calls a host, or of a group the one with the caller's number (of the caller's own group the next one).
    pub call: Option<String>,
    /// With `call`: what is done there.
    pub steps: Option<Vec<ScenarioStep>>,
    /// With `call`: by when. Default: no limit.
    pub deadline: Option<Span>,
    /// With `call`: how often it is tried again when it is cancelled. Default: 0.
    pub retries: Option<u32>,
    /// With `call`: how long after that. Default: 0.
    pub retry_after: Option<Span>,
    /// With `call`: so many hosts further in the group.
    pub shift: Option<usize>,
    /// Starts a thread of this task on that one's host, with a message.
    pub oneway: Option<String>,
    /// Likewise, and a reply comes back.
    #[serde(rename = "async")]
    pub asynchronous: Option<String>,
    /// With `call`, `oneway`, `async`: size of the request. Default: 0.
    pub request_bytes: Option<u64>,
    /// With `call` and `async`: size of the reply. Default: 0.
    pub reply_bytes: Option<u64>,
    /// Waits for all those replies: `true`.
    #[serde(rename = "await")]
    pub wait: Option<bool>,
    /// Starts a thread of this task here.
    pub spawn: Option<String>,
    /// Waits for this resource, and takes it.
    pub lock: Option<String>,
    /// Gives it back.
    pub unlock: Option<String>,
    /// Does nothing for so long.
    pub sleep: Option<Span>,
    /// Cancels all threads of this task.
    pub cancel: Option<String>,
}

/// Cancels all threads of a task from outside.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CancelEntry {
    /// The task.
    pub task: String,
    /// When.
    pub at: Span,
}
