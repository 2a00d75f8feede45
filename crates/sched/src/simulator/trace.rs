use alloc::vec::Vec;

use crate::dynamic::Time;

/// Something that happened to a distributable thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Event {
    /// When, in virtual time.
    pub time: Time,
    /// Where, as a place in the model.
    pub host: u32,
    /// To whom.
    pub thread: ThreadId,
    /// What.
    pub kind: EventKind,
}

/// Which distributable thread.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ThreadId {
    /// Whose: a place in the model.
    pub task: u32,
    /// Which of the task's streams, from 0; of a thread that another one started, that one's stream.
    pub stream: u32,
    /// The how-manyth of the stream, from 0; of threads that others started, of the task.
    pub job: u32,
}

/// What happens to threads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EventKind {
    /// It is there, and ready.
    Arrived,
    /// Its arrival was dropped: the one before has not ended.
    Skipped,
    /// It runs on this processor, for the first time since it came to this host.
    Started {
        /// From 0.
        processor: u32,
    },
    /// It runs again.
    Resumed {
        /// From 0.
        processor: u32,
    },
    /// It could run, but another one does.
    Suspended,
    /// It begins a nested segment.
    SegmentBegun,
    /// The parameters of its segment are others.
    SegmentUpdated,
    /// Its innermost segment has ended.
    SegmentEnded,
    /// It calls another host, and is on its way there.
    Sent {
        /// Where to.
        to: u32,
    },
    /// Its call has arrived.
    Received,
    /// Its upcall is done, and it is on its way back.
    Replied {
        /// Where to.
        to: u32,
    },
    /// It is back from a call.
    Returned,
    /// It has started another one here.
    Spawned {
        /// That one.
        thread: ThreadId,
    },
    /// A oneway or an asynchronous call is on its way.
    Posted {
        /// The task that it starts a thread of.
        task: u32,
        /// Where to.
        to: u32,
    },
    /// It waits for a resource.
    Waiting {
        /// Which, as a place in the model.
        resource: u32,
    },
    /// A wait for a resource that would never end was refused: the owner waits for what this thread owns. The thread ends.
    Refused {
        /// Which, as a place in the model.
        resource: u32,
    },
    /// It has a resource.
    Locked {
        /// Which, as a place in the model.
        resource: u32,
    },
    /// It has given a resource back.
    Unlocked {
        /// Which, as a place in the model.
        resource: u32,
    },
    /// It has the parameters of another one that waits for it, or of a ceiling.
    Inherited,
    /// It sleeps, or waits for the replies to asynchronous calls.
    Paused,
    /// It can go on after that.
    Woken,
    /// Somebody cancels it.
    CancelAsked,
    /// An operation of it (or all of it) is cancelled, for it would miss its deadline.
    OperationCancelled,
    /// It will try that operation again.
    Retried,
    /// It ended cancelled.
    Cancelled,
    /// It is done.
    Completed,
    /// And was in time.
    DeadlineMet,
    /// And was not.
    DeadlineMissed,
}

impl EventKind {
    /// Its name, as `Started`.
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

    /// Whether a thread that ran does not any more.
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

/// Gets every event as it happens.
pub trait Observer {
    /// One more.
    fn event(&mut self, event: Event);
}

/// Drops them: statistics are kept anyway.
impl Observer for () {
    fn event(&mut self, _: Event) {}
}

/// Keeps them all.
impl Observer for Vec<Event> {
    fn event(&mut self, event: Event) {
        self.push(event);
    }
}

/// Who ran where from when to when.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Run {
    /// The host, as a place in the model.
    pub host: u32,
    /// The thread.
    pub thread: ThreadId,
    /// Since when.
    pub from: Time,
    /// Until when.
    pub to: Time,
    /// What ended it; `None`: it still ran at the end of the trace.
    pub end: Option<EventKind>,
}

/// The dispatch graph of a trace: all runs, in the order of their beginnings. Runs that took no time are left out, unless `all`.
/// What still runs is taken to run until `until`.
pub fn dispatch_graph(events: &[Event], until: Time, all: bool) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    // The runs that have not ended: no more than there are processors.
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
                let own = |place: &usize| runs[*place].thread == event.thread;
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
