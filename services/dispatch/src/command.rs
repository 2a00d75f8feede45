//! Commands, their quality of service, and the context of their execution.

use std::time::Duration;

use punctual_os::clock;
use punctual_sched::dynamic::{SheddingPoint, SheddingPolicy, Time, TimedWork};

/// A command to execute. Corresponds to Kokyu's `Dispatch_Command`. Closures from [`Execution`] to
/// `Result<(), Hopeless>` are commands.
pub trait Command: Send + 'static {
    /// Executes the command. It may end with [`Hopeless`], which [`Execution::checkpoint`] returns.
    ///
    /// # Errors
    /// [`Hopeless`]: the command has given up at a checkpoint.
    fn execute(&mut self, execution: &Execution) -> Result<(), Hopeless>;

    /// Called instead of (the rest of) the execution when the command is cancelled. Must be short: the
    /// thread of the level calls it, or the supplier whose command takes its place.
    fn cancelled(&mut self, _: Cancellation) {}

    /// Called under [`Order::Laxity`](crate::Order::Laxity) when the command can no longer be in time, before
    /// it is put behind all that can. A command that stands for several pieces of work takes up the one that
    /// is the most urgent now, and returns its urgency: the first one that can be in time, or else the first
    /// one. Its level stays. Default: it stands for one.
    ///
    /// Called with the lock of the dispatcher held: it must be short, and not use the dispatcher.
    fn taken_up(&mut self, now: Time) -> Option<Qos> {
        let _ = now;
        None
    }
}

impl<F: FnMut(&Execution) -> Result<(), Hopeless> + Send + 'static> Command for F {
    fn execute(&mut self, execution: &Execution) -> Result<(), Hopeless> {
        self(execution)
    }
}

impl Command for Box<dyn Command> {
    fn execute(&mut self, execution: &Execution) -> Result<(), Hopeless> {
        (**self).execute(execution)
    }

    fn cancelled(&mut self, cancellation: Cancellation) {
        (**self).cancelled(cancellation);
    }

    fn taken_up(&mut self, now: Time) -> Option<Qos> {
        (**self).taken_up(now)
    }
}

/// Why a command was cancelled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cancellation {
    /// It can no longer meet its deadline, and its level's policy gives it up.
    Hopeless,
    /// A newer command has taken its place in a full queue.
    Dropped,
    /// The dispatcher is shut down.
    ShutDown,
}

/// A command can no longer meet its deadline.
#[derive(Clone, Copy, Eq, PartialEq, thiserror::Error)]
#[error("the command can no longer meet its deadline")]
pub struct Hopeless;

punctual_types::debug_as_display!(Hopeless);

/// Urgency of a command. Corresponds to Kokyu's `QoSDescriptor`.
///
/// ```
/// use std::time::Duration;
/// use punctual_dispatch::Qos;
///
/// let milliseconds = Duration::from_millis;
/// let qos = Qos::new(1).deadline_in(milliseconds(20)).execution_time(milliseconds(3)).importance(5);
/// assert_eq!((qos.preemption_priority, qos.importance, qos.is_critical), (1, 5, false));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Qos {
    /// Preemption priority of the command's level; 0 is the highest. The lowest level takes commands whose
    /// preemption priority has no level.
    pub preemption_priority: u32,
    /// Deadline on the monotonic clock; [`Time::NEVER`]: none.
    pub deadline: Time,
    /// Worst-case execution time; zero if unknown.
    pub execution_time: Duration,
    /// Decides among commands that are equally urgent; higher is more important.
    pub importance: i32,
    /// Whether policies may [spare](SheddingPolicy::sparing_critical) it.
    pub is_critical: bool,
    /// Time from which it waits, which decides among commands that are equal otherwise, and alone under
    /// [`Order::Arrival`](crate::Order::Arrival); [`Time::NEVER`]: when it is dispatched.
    pub released: Time,
}

impl Qos {
    /// Creates a command without a deadline.
    pub const fn new(preemption_priority: u32) -> Self {
        Self {
            preemption_priority,
            deadline: Time::NEVER,
            execution_time: Duration::ZERO,
            importance: 0,
            is_critical: false,
            released: Time::NEVER,
        }
    }

    /// Sets the deadline, on the monotonic clock.
    pub const fn deadline(mut self, deadline: Time) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets the deadline, from now.
    pub fn deadline_in(self, from_now: Duration) -> Self {
        self.deadline(now() + from_now)
    }

    /// Sets the worst-case execution time.
    pub const fn execution_time(mut self, time: Duration) -> Self {
        self.execution_time = time;
        self
    }

    /// Sets the importance.
    pub const fn importance(mut self, importance: i32) -> Self {
        self.importance = importance;
        self
    }

    /// Marks the command as critical.
    pub const fn critical(mut self) -> Self {
        self.is_critical = true;
        self
    }

    /// Sets the time from which the command waits, on the monotonic clock.
    pub const fn released(mut self, released: Time) -> Self {
        self.released = released;
        self
    }

    /// Whether the command misses its deadline even if it begins now.
    pub fn is_hopeless(&self, now: Time) -> bool {
        self.timed_work().is_hopeless(Duration::ZERO, now)
    }

    pub(crate) fn timed_work(&self) -> TimedWork {
        TimedWork {
            deadline: self.deadline,
            execution_time: self.execution_time,
            is_critical: self.is_critical,
        }
    }
}

/// The execution of a command.
#[derive(Debug)]
pub struct Execution {
    pub(crate) qos: Qos,
    pub(crate) shedding: SheddingPolicy,
    /// Processor time of the thread when the command began.
    pub(crate) cpu_time_before: Duration,
}

impl Execution {
    /// Returns the urgency of the command. The deadline is that of this attempt.
    pub fn qos(&self) -> &Qos {
        &self.qos
    }

    /// Returns an error if the policy of the level gives the command up here, because it can no longer meet
    /// its deadline. Without such a policy this costs no system call.
    ///
    /// # Errors
    /// [`Hopeless`]; return it from [`Command::execute`].
    pub fn checkpoint(&self) -> Result<(), Hopeless> {
        if !self.shedding.examines_checkpoints() {
            return Ok(());
        }
        let received = clock::thread_cpu_time().saturating_sub(self.cpu_time_before);
        let work = self.qos.timed_work();
        if self
            .shedding
            .sheds(&work, received, now(), SheddingPoint::Checkpoint)
        {
            Err(Hopeless)
        } else {
            Ok(())
        }
    }
}

/// Returns the time on the monotonic clock, by which deadlines are stated.
pub fn now() -> Time {
    Time(0) + clock::monotonic()
}
