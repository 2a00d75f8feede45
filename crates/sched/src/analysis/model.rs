use alloc::vec::Vec;
use core::fmt;

/// A span of time in whole units, the same for all of a model.
pub type Time = u64;

/// Work that comes again and again, and has to be done by a deadline each time.
///
/// Instances keep their order: in no step does one overtake the one before it, as with calls of one thread
/// over one connection.
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
    /// The shortest time between two arrivals; at least 1.
    pub period: Time,
    /// From an arrival to the end of the last step; may be longer than the period.
    pub deadline: Time,
    /// How long after its arrival the first step may be released.
    pub jitter: Time,
    /// At which its steps run, where they have none of their own; the greater the more urgent.
    pub priority: i32,
    /// What is done, each after the one before it.
    pub steps: Vec<Step>,
}

impl Task {
    /// A task without steps whose deadline is its period.
    pub fn new(period: Time, priority: i32) -> Self {
        Self {
            period,
            deadline: period,
            jitter: 0,
            priority,
            steps: Vec::new(),
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

    /// The priority at which a step of it runs.
    pub(crate) fn priority_of(&self, step: &Step) -> i32 {
        step.fixed_priority.unwrap_or(self.priority)
    }

    /// The priority at which a step of it keeps others waiting.
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
/// // Comes over a network that takes 20 at most, and may have to wait 3 for a lock of a lower task.
/// let step = Step::new(1, 50).delay(20).blocking(3);
/// assert_eq!((step.processor, step.wcet, step.fixed_priority), (1, 50, None));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Step {
    /// Where it runs.
    pub processor: usize,
    /// Its worst-case execution time, alone on the processor; may be 0.
    pub wcet: Time,
    /// How long work of lower priority can keep it from running: the longest critical section whose lock
    /// inherits a priority as high, and what cannot be preempted.
    pub blocking: Time,
    /// The longest time from the end of the step before it to its release, such as that of a message.
    pub delay: Time,
    /// A priority of its own, whatever the task's is: declared by the server, or that of a pool without
    /// lanes.
    pub fixed_priority: Option<i32>,
    /// The highest priority at which any part of it runs, where that is above the one it begins with: a
    /// thread that reads a request at one priority and serves it at another. It waits at the lower one and
    /// keeps others waiting at this one.
    pub peak_priority: Option<i32>,
}

impl Step {
    /// A step at its task's priority, without blocking and delay.
    pub fn new(processor: usize, wcet: Time) -> Self {
        Self {
            processor,
            wcet,
            blocking: 0,
            delay: 0,
            fixed_priority: None,
            peak_priority: None,
        }
    }

    /// Sets the blocking.
    pub fn blocking(mut self, blocking: Time) -> Self {
        self.blocking = blocking;
        self
    }

    /// Sets the delay before it.
    pub fn delay(mut self, delay: Time) -> Self {
        self.delay = delay;
        self
    }

    /// Gives it a priority of its own.
    pub fn fixed_priority(mut self, priority: i32) -> Self {
        self.fixed_priority = Some(priority);
        self
    }

    /// Sets the highest priority at which any part of it runs.
    pub fn peak_priority(mut self, priority: i32) -> Self {
        self.peak_priority = Some(priority);
        self
    }
}

/// What makes no model. Numbers are places in the list of tasks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ModelError {
    /// The task never stops arriving: its period is 0.
    NoPeriod(usize),
    /// The task has nothing to do.
    NoSteps(usize),
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPeriod(task) => write!(f, "task {task} has period 0; give it at least 1"),
            Self::NoSteps(task) => write!(f, "task {task} has no step; give it at least one"),
        }
    }
}

impl core::error::Error for ModelError {}

pub(crate) fn check(tasks: &[Task]) -> Result<(), ModelError> {
    for (index, task) in tasks.iter().enumerate() {
        if task.period == 0 {
            return Err(ModelError::NoPeriod(index));
        }
        if task.steps.is_empty() {
            return Err(ModelError::NoSteps(index));
        }
    }
    Ok(())
}
