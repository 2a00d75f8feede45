//! Events of a simulation, and the dispatch graph made of them.

use alloc::vec::Vec;

use crate::dynamic::Time;

/// An event of a distributable thread.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Event, EventKind, Host, Model, Simulation, Step, Task};
///
/// # let mut task = Task::new("track");
/// # task.hosts = vec![0, 0];
/// # task.steps = vec![Step::compute(Duration::from_millis(2))];
/// # let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// # let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// let mut events: Vec<Event> = Vec::new();
/// simulation.run_until(Time(1_000_000_000), &mut events)?;
/// let last = events.iter().rfind(|event| event.kind == EventKind::Completed).expect("both end");
/// assert_eq!((last.time, last.host, last.thread.stream), (Time(4_000_000), 0, 1));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Event {
    /// Virtual time.
    pub time: Time,
    /// Index of the host.
    pub host: u32,
    /// Thread.
    pub thread: ThreadId,
    /// Kind of the event.
    pub kind: EventKind,
}

/// Identity of a distributable thread.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Event, EventKind, Host, Model, Simulation, Step, Task, ThreadId};
///
/// # let mut task = Task::new("track");
/// # task.hosts = vec![0, 0];
/// # task.steps = vec![Step::compute(Duration::from_millis(2))];
/// # let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// # let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// let mut events: Vec<Event> = Vec::new();
/// simulation.run_until(Time(1_000_000_000), &mut events)?;
/// let arrived = events.iter().filter(|event| event.kind == EventKind::Arrived);
/// let threads: Vec<ThreadId> = arrived.map(|event| event.thread).collect();
/// let of_stream = |stream| ThreadId { task: 0, stream, job: 0 };
/// assert_eq!(threads, [of_stream(0), of_stream(1)]);
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ThreadId {
    /// Index of the task.
    pub task: u32,
    /// Stream of the task, from 0; for a thread that another one started, the stream of that one.
    pub stream: u32,
    /// Number in the stream, from 0; for a thread that another one started, number in the task.
    pub job: u32,
}

/// Kind of an event.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Event, EventKind, Host, Model, Simulation, Step, Task};
///
/// # let mut task = Task::new("track");
/// # task.hosts = vec![0, 0];
/// # task.steps = vec![Step::compute(Duration::from_millis(2))];
/// # let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// # let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// let mut events: Vec<Event> = Vec::new();
/// simulation.run_until(Time(1_000_000_000), &mut events)?;
/// let first = events.iter().filter(|event| event.thread.stream == 0);
/// let names: Vec<_> = first.map(|event| event.kind.name()).collect();
/// assert_eq!(names[..3], ["Arrived", "Started", "Completed"]);
/// assert!(EventKind::Completed.gives_up_processor());
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EventKind {
    /// The thread began and is ready.
    Arrived,
    /// The arrival was dropped, because the previous thread has not ended.
    Skipped,
    /// The thread runs for the first time since it came to this host.
    Started {
        /// Processor, from 0.
        processor: u32,
    },
    /// The thread runs again.
    Resumed {
        /// Processor, from 0.
        processor: u32,
    },
    /// The thread was preempted.
    Suspended,
    /// The thread began a nested segment.
    SegmentBegun,
    /// The thread changed the parameters of its segment.
    SegmentUpdated,
    /// The thread ended its innermost segment.
    SegmentEnded,
    /// The thread sent the request of a call to another host.
    Sent {
        /// Index of the called host.
        to: u32,
    },
    /// The request of the thread's call arrived.
    Received,
    /// The thread completed an upcall and sent the reply.
    Replied {
        /// Index of the caller's host.
        to: u32,
    },
    /// The reply to the thread's call arrived.
    Returned,
    /// The thread spawned another one here.
    Spawned {
        /// Spawned thread.
        thread: ThreadId,
    },
    /// The thread sent a oneway or asynchronous request.
    Posted {
        /// Index of the task of which a thread is started.
        task: u32,
        /// Index of the host.
        to: u32,
    },
    /// The thread waits for a resource.
    Waiting {
        /// Index of the resource.
        resource: u32,
    },
    /// The thread was refused a resource: the wait would be a deadlock. The thread ends.
    Refused {
        /// Index of the resource.
        resource: u32,
    },
    /// The thread owns a resource.
    Locked {
        /// Index of the resource.
        resource: u32,
    },
    /// The thread released a resource.
    Unlocked {
        /// Index of the resource.
        resource: u32,
    },
    /// The thread inherited the parameters of a waiter or of a ceiling.
    Inherited,
    /// The thread sleeps, or waits for the replies to asynchronous requests.
    Paused,
    /// The sleep or the wait for replies ended.
    Woken,
    /// The cancellation of the thread was requested.
    CancelAsked,
    /// An operation of the thread, or the thread, is cancelled because it would miss its deadline.
    OperationCancelled,
    /// The thread will retry that operation.
    Retried,
    /// The thread ended by cancellation.
    Cancelled,
    /// The thread completed its steps.
    Completed,
    /// The completed thread met its deadline.
    DeadlineMet,
    /// The completed thread missed its deadline.
    DeadlineMissed,
}

impl EventKind {
    /// Returns the name of the variant, such as `Started`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Arrived => "Arrived",
            Self::Skipped => "Skipped",
            Self::Started { .. } => "Started",
            Self::Resumed { .. } => "Resumed",
            Self::Suspended => "Suspended",
            Self::SegmentBegun => "SegmentBegun",
            Self::SegmentUpdated => "SegmentUpdated",
            Self::SegmentEnded => "SegmentEnded",
            Self::Sent { .. } => "Sent",
            Self::Received => "Received",
            Self::Replied { .. } => "Replied",
            Self::Returned => "Returned",
            Self::Spawned { .. } => "Spawned",
            Self::Posted { .. } => "Posted",
            Self::Waiting { .. } => "Waiting",
            Self::Refused { .. } => "Refused",
            Self::Locked { .. } => "Locked",
            Self::Unlocked { .. } => "Unlocked",
            Self::Inherited => "Inherited",
            Self::Paused => "Paused",
            Self::Woken => "Woken",
            Self::CancelAsked => "CancelAsked",
            Self::OperationCancelled => "OperationCancelled",
            Self::Retried => "Retried",
            Self::Cancelled => "Cancelled",
            Self::Completed => "Completed",
            Self::DeadlineMet => "DeadlineMet",
            Self::DeadlineMissed => "DeadlineMissed",
        }
    }

    /// Returns whether a running thread stops running.
    pub const fn gives_up_processor(&self) -> bool {
        matches!(
            self,
            Self::Suspended
                | Self::Sent { .. }
                | Self::Replied { .. }
                | Self::Waiting { .. }
                | Self::Paused
                | Self::OperationCancelled
                | Self::Cancelled
                | Self::Completed
        )
    }
}

/// Receives every event when it happens.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Event, EventKind, Host, Model, Observer, Simulation, Step, Task};
///
/// /// Counts events of one kind without keeping them.
/// struct Count(EventKind, u32);
///
/// impl Observer for Count {
///     fn event(&mut self, event: Event) {
///         self.1 += u32::from(event.kind == self.0);
///     }
/// }
/// # let mut task = Task::new("track");
/// # task.hosts = vec![0, 0];
/// # task.steps = vec![Step::compute(Duration::from_millis(2))];
/// # let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// # let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// let mut completed = Count(EventKind::Completed, 0);
/// simulation.run_until(Time(1_000_000_000), &mut completed)?;
/// assert_eq!(completed.1, 2);
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
pub trait Observer {
    /// Receives an event.
    fn event(&mut self, event: Event);
}

/// Ignores events; statistics are kept anyway.
impl Observer for () {
    fn event(&mut self, _: Event) {}
}

/// Keeps all events.
impl Observer for Vec<Event> {
    fn event(&mut self, event: Event) {
        self.push(event);
    }
}

/// An interval in which a thread ran on a processor.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{
///     EventKind, Host, Model, Run, Simulation, Step, Task, dispatch_graph,
/// };
///
/// # let mut task = Task::new("track");
/// # task.hosts = vec![0, 0];
/// # task.steps = vec![Step::compute(Duration::from_millis(2))];
/// # let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// # let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// let mut events = Vec::new();
/// simulation.run_until(Time(1_000_000_000), &mut events)?;
/// let runs: Vec<Run> = dispatch_graph(&events, simulation.now(), false);
/// assert_eq!((runs[1].from, runs[1].to), (Time(2_000_000), Time(4_000_000)));
/// assert_eq!(runs[1].end, Some(EventKind::Completed));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Run {
    /// Index of the host.
    pub host: u32,
    /// Thread.
    pub thread: ThreadId,
    /// Beginning.
    pub from: Time,
    /// End.
    pub to: Time,
    /// Event that ended it; `None`: the thread still ran at the end of the trace.
    pub end: Option<EventKind>,
}

/// Returns the dispatch graph of a trace: all runs, in the order of their beginnings. Runs without duration
/// are omitted unless `all`. Runs that have not ended end at `until`.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Host, Model, Simulation, Step, Task, dispatch_graph};
///
/// # let mut task = Task::new("track");
/// # task.hosts = vec![0, 0];
/// # task.steps = vec![Step::compute(Duration::from_millis(2))];
/// # let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// # let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// let mut events = Vec::new();
/// simulation.run_until(Time(1_000_000_000), &mut events)?;
/// // Two threads of 2 ms on one processor.
/// let runs = dispatch_graph(&events, simulation.now(), false);
/// let streams: Vec<_> = runs.iter().map(|run| (run.thread.stream, run.to)).collect();
/// assert_eq!(streams, [(0, Time(2_000_000)), (1, Time(4_000_000))]);
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
pub fn dispatch_graph(events: &[Event], until: Time, all: bool) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    // Runs that have not ended: at most one per processor.
    let mut open: Vec<usize> = Vec::new();
    for event in events {
        match event.kind {
            EventKind::Started { .. } | EventKind::Resumed { .. } => {
                open.push(runs.len());
                runs.push(Run {
                    host: event.host,
                    thread: event.thread,
                    from: event.time,
                    to: until,
                    end: None,
                });
            }
            kind if kind.gives_up_processor() => {
                let own = |index: &usize| runs[*index].thread == event.thread;
                if let Some(found) = open.iter().position(own) {
                    let run = &mut runs[open.swap_remove(found)];
                    (run.to, run.end) = (event.time, Some(kind));
                }
            }
            _ => {}
        }
    }
    if !all {
        runs.retain(|run| run.from < run.to);
    }
    runs
}
