//! The model of the schedulability analysis.

use alloc::vec::Vec;
use core::fmt;

/// A duration in units common to the whole model.
pub type Time = u64;

/// Recurring work with a deadline.
///
/// Instances keep their order: none overtakes its predecessor in any step, as with calls of one thread over
/// one connection.
///
/// ```
/// use punctual_sched::analysis::{Step, Task};
///
/// // A client computes for 2, calls a servant that computes for 5, and computes for 1 with the result.
/// let task = Task::new(100, 7).step(Step::new(0, 2)).step(Step::new(1, 5)).step(Step::new(0, 1));
/// assert_eq!((task.period, task.deadline, task.steps.len()), (100, 100, 3));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Task {
    /// Minimum time between two arrivals, at least 1.
    pub period: Time,
    /// Deadline of the last step, from the arrival; may be longer than the period.
    pub deadline: Time,
    /// Maximum time from an arrival to the release of the first step.
    pub jitter: Time,
    /// Priority of its steps without fixed priorities, greater for more urgent tasks.
    pub priority: i32,
    /// Steps, executed one after the other.
    pub steps: Vec<Step>,
    /// Threads of lanes that some of its steps occupy.
    pub holds: Vec<Hold>,
}

/// Occupation of a thread of a lane, from the release of a step to the end of the same or a later one: the
/// servant of step `first` makes the calls that are the steps after it.
///
/// ```
/// use punctual_sched::analysis::{Hold, Step, Task, analyse};
///
/// // A servant computes for 1, calls another host for 50, and computes for 1 again.
/// let lane = |first, last| Hold { lane: 0, threads: 1, first, last, borrows: false };
/// let nested = Task::new(1000, 5)
///     .step(Step::new(0, 1))
///     .step(Step::new(1, 50))
///     .step(Step::new(0, 1))
///     .hold(lane(0, 2));
/// let other = Task::new(1000, 5).step(Step::new(0, 2)).hold(lane(0, 0));
/// let worst = |tasks: &[Task]| analyse(tasks).map(|analysis| analysis.responses[1].worst());
/// // Without the lane, it would wait for the processor only: 4.
/// assert!(worst(&[nested.clone(), other.clone()])? >= Some(54));
/// let two = Hold { threads: 2, ..lane(0, 0) };
/// assert_eq!(worst(&[nested, Task { holds: vec![two], ..other }])?, Some(4));
/// # Ok::<(), punctual_sched::analysis::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hold {
    /// Number of the lane.
    pub lane: usize,
    /// Number of its threads, at least 1.
    pub threads: usize,
    /// Index of the first step, which waits for the thread.
    pub first: usize,
    /// Index of the last step, at the end of which the thread is free.
    pub last: usize,
    /// Whether it may take a thread of this lane, which is not its own, and does not wait for it.
    pub borrows: bool,
}

impl Task {
    /// Creates a task without steps whose deadline is its period.
    pub fn new(period: Time, priority: i32) -> Self {
        Self {
            period,
            deadline: period,
            jitter: 0,
            priority,
            steps: Vec::new(),
            holds: Vec::new(),
        }
    }

    /// Sets the deadline.
    pub fn deadline(mut self, deadline: Time) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets the release jitter.
    pub fn jitter(mut self, jitter: Time) -> Self {
        self.jitter = jitter;
        self
    }

    /// Adds a step at the end.
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Adds the occupation of a thread.
    pub fn hold(mut self, hold: Hold) -> Self {
        self.holds.push(hold);
        self
    }

    /// Returns the priority of a step.
    pub(crate) fn priority_of(&self, step: &Step) -> i32 {
        step.fixed_priority.unwrap_or(self.priority)
    }

    /// Returns the priority at which a step delays others.
    pub(crate) fn peak_priority_of(&self, step: &Step) -> i32 {
        let own = self.priority_of(step);
        step.peak_priority.map_or(own, |peak| peak.max(own))
    }
}

/// Work on one processor.
///
/// ```
/// use punctual_sched::analysis::Step;
///
/// // A call over a network with a delay of at most 20, which may wait 3 for a lock of a lower task.
/// let step = Step::new(1, 50).delay(20).blocking(3);
/// assert_eq!((step.processor, step.wcet, step.fixed_priority), (1, 50, None));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Step {
    /// Number of the processor.
    pub processor: usize,
    /// Worst-case execution time without interference; may be 0.
    pub wcet: Time,
    /// Best-case execution time, at most the worst case: no execution is shorter.
    pub bcet: Time,
    /// Maximum delay by work of lower priority for other reasons than [`Self::sections`], such as sections
    /// that are not preemptible.
    pub blocking: Time,
    /// Critical sections, a part of the execution time, one after the other.
    pub sections: Vec<Section>,
    /// Maximum time from the end of the previous step to its release, such as the delay of a message.
    pub delay: Time,
    /// Minimum of the same time.
    pub least_delay: Time,
    /// Whether the processor serves the earliest deadline first, that of the task, and ignores priorities:
    /// the same for all steps of a processor.
    pub by_deadline: bool,
    /// Fixed priority instead of the task's: declared by the server, or that of a pool without lanes.
    pub fixed_priority: Option<i32>,
    /// Highest priority of any part of it, if above its priority at the beginning: a thread may read a
    /// request at one priority and serve it at another. The step waits at the lower priority and delays
    /// others at this one.
    pub peak_priority: Option<i32>,
}

impl Step {
    /// Creates a step at its task's priority, without blocking and delay.
    pub fn new(processor: usize, wcet: Time) -> Self {
        Self {
            processor,
            wcet,
            bcet: 0,
            blocking: 0,
            sections: Vec::new(),
            delay: 0,
            least_delay: 0,
            by_deadline: false,
            fixed_priority: None,
            peak_priority: None,
        }
    }

    /// Sets the blocking.
    pub fn blocking(mut self, blocking: Time) -> Self {
        self.blocking = blocking;
        self
    }

    /// Sets the best-case execution time.
    pub fn bcet(mut self, bcet: Time) -> Self {
        self.bcet = bcet;
        self
    }

    /// Adds a critical section.
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// Sets the minimum delay before it.
    pub fn least_delay(mut self, delay: Time) -> Self {
        self.least_delay = delay;
        self
    }

    /// Makes its processor serve the earliest deadline first.
    pub fn by_deadline(mut self) -> Self {
        self.by_deadline = true;
        self
    }

    /// Sets the delay before it.
    pub fn delay(mut self, delay: Time) -> Self {
        self.delay = delay;
        self
    }

    /// Sets a fixed priority.
    pub fn fixed_priority(mut self, priority: i32) -> Self {
        self.fixed_priority = Some(priority);
        self
    }

    /// Sets the highest priority of any part of it.
    pub fn peak_priority(mut self, priority: i32) -> Self {
        self.peak_priority = Some(priority);
        self
    }
}

/// Execution that owns a resource of its processor, without waiting for anything else meanwhile.
///
/// ```
/// use punctual_sched::analysis::{Section, Step, Task, analyse};
///
/// // A logger holds the lock of a queue for 3 of its 20; `urgent` needs the same lock for 1.
/// let of = |length| Section { resource: 0, length, ceiling: false };
/// let urgent = Task::new(100, 9).step(Step::new(0, 2).section(of(1)));
/// let middle = Task::new(100, 5).step(Step::new(0, 10));
/// let logger = Task::new(100, 1).step(Step::new(0, 20).section(of(3)));
/// let analysis = analyse(&[urgent, middle, logger])?;
/// // `middle` never takes the lock, but still waits for the logger while `urgent` does.
/// let worst: Vec<_> = analysis.responses.iter().map(|response| response.worst()).collect();
/// assert_eq!(worst, [Some(2 + 3), Some(10 + 2 + 3), Some(32)]);
/// # Ok::<(), punctual_sched::analysis::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Section {
    /// Number of the resource; each processor has its own of that number.
    pub resource: usize,
    /// Longest execution time with the resource.
    pub length: Time,
    /// Whether its owner runs at the highest priority of all users from the beginning (priority ceiling), not
    /// only while one of them waits (inheritance). The same for all sections of a resource.
    pub ceiling: bool,
}

/// Invalid task. Numbers are indices in the list of tasks.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum ModelError {
    /// The period is 0.
    NoPeriod(usize),
    /// The task has no steps.
    NoSteps(usize),
    /// A hold of the task has no thread, or no such steps.
    InvalidHold(usize),
    /// A step's best case exceeds its worst case, or its sections are longer than it is.
    InvalidStep(usize),
    /// Steps disagree whether this processor serves the earliest deadline first.
    TwoOrders(usize),
}

punctual_types::debug_as_display!(ModelError);

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPeriod(task) => write!(f, "task {task} has period 0; give it at least 1"),
            Self::NoSteps(task) => write!(f, "task {task} has no steps; add at least one"),
            Self::InvalidHold(task) => write!(
                f,
                "a hold of task {task} is invalid: it needs a thread, and steps of the task in order"
            ),
            Self::InvalidStep(task) => write!(
                f,
                "a step of task {task} is invalid: its best case and its sections fit into its worst case"
            ),
            Self::TwoOrders(processor) => write!(
                f,
                "steps on processor {processor} are ordered by priority and by deadline; choose one"
            ),
        }
    }
}

impl core::error::Error for ModelError {}

/// Checks tasks.
pub(crate) fn check(tasks: &[Task]) -> Result<(), ModelError> {
    for (index, task) in tasks.iter().enumerate() {
        if task.period == 0 {
            return Err(ModelError::NoPeriod(index));
        }
        if task.steps.is_empty() {
            return Err(ModelError::NoSteps(index));
        }
        let valid = |hold: &Hold| hold.threads > 0 && hold.first <= hold.last && hold.last < task.steps.len();
        if !task.holds.iter().all(valid) {
            return Err(ModelError::InvalidHold(index));
        }
        if !task.steps.iter().all(is_valid) {
            return Err(ModelError::InvalidStep(index));
        }
    }
    let steps = || tasks.iter().flat_map(|task| &task.steps);
    let mut orders = alloc::collections::BTreeMap::new();
    let other =
        steps().find(|step| *orders.entry(step.processor).or_insert(step.by_deadline) != step.by_deadline);
    other.map_or(Ok(()), |step| Err(ModelError::TwoOrders(step.processor)))
}

fn is_valid(step: &Step) -> bool {
    let sections = step.sections.iter();
    let held = sections.fold(0, |sum: Time, section| sum.saturating_add(section.length));
    step.bcet <= step.wcet && held <= step.wcet && step.least_delay <= step.delay
}
