//! State of a distributable thread.

use alloc::vec::Vec;
use core::{mem, time::Duration};

use crate::dynamic::{
    Claim, ParameterKind, SchedulingParameters, SheddingPoint, SheddingPolicy, Slot, Time, TimedWork,
    TranslationDefaults,
};

use super::{Parameters, Step, ThreadId, random::Random};

/// Record of a distributable thread.
#[derive(Debug)]
pub(super) struct Thread<'m> {
    pub(super) id: ThreadId,
    /// Increases with each use of the record, to recognise events of earlier threads.
    pub(super) generation: u32,
    pub(super) state: State,
    /// Host of its head; during a message, the sending host.
    pub(super) host: usize,
    /// Slot in its host's scheduler while it is ready.
    pub(super) slot: Slot,
    pub(super) processor: Option<usize>,
    /// The thread's own frame, then one per nested call. Never empty during its life; empty in an unused
    /// record, which keeps the memory for its next thread.
    pub(super) frames: Vec<Frame<'m>>,
    /// Segments, the innermost last; the first is the thread's own, and each call to another host adds one.
    /// Empty as [`Self::frames`] is.
    pub(super) segments: Vec<Segment>,
    /// Remaining nanoseconds of the present computation.
    pub(super) remaining: u64,
    pub(super) held: Vec<Held>,
    pub(super) unwinding: Unwinding,
    pub(super) attempt: Attempt,
    pub(super) replies: Replies,
    /// Increases with each pause, to recognise late alarms.
    pub(super) pauses: u32,
    pub(super) random: Random,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum State {
    /// The record is unused.
    Free,
    /// Known to its host's scheduler.
    Ready,
    /// Its head is in a message.
    Travelling,
    /// Waits for a resource of its host.
    Waiting,
    /// Sleeps, or waits before a retry.
    Paused,
    /// Waits for replies to asynchronous requests.
    Awaiting,
}

/// A list of steps in progress.
#[derive(Debug)]
pub(super) struct Frame<'m> {
    pub(super) host: usize,
    pub(super) steps: &'m [Step],
    pub(super) next: usize,
    /// Number of segments before it.
    pub(super) segments: usize,
    /// It has run on this host.
    pub(super) started: bool,
    pub(super) deadline: Option<Time>,
    /// Its own policy.
    pub(super) shedding: Option<SheddingPolicy>,
    /// Declared nanoseconds of processor time.
    pub(super) estimate: u64,
    /// Received nanoseconds of processor time.
    pub(super) received: u64,
    /// Retries of the call that is its next step.
    pub(super) retries: u32,
    /// Delay before its next step.
    pub(super) delay: Duration,
    pub(super) reply_bytes: u64,
}

/// A scheduling segment that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) parameters: Parameters,
    /// Kind of the scheduler where it began or was last updated, whose parameters travel to other hosts.
    pub(super) kind: ParameterKind,
    pub(super) from: Time,
    /// Nanoseconds of its work done on other hosts before the thread arrived here, which reduce the claim.
    pub(super) done: u64,
    /// Nanoseconds of processor time on this host, excluding nested segments that have not ended.
    pub(super) received: u64,
}

/// One acquisition of a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) host: usize,
    pub(super) resource: u32,
    /// Number of frames at the acquisition.
    pub(super) frames: usize,
}

/// Cancellation in progress.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unwinding {
    /// Reason for which the thread ends at its next scheduling point.
    pub(super) ending: Option<Ending>,
    /// Index of the frame that is cancelled with all frames above it.
    pub(super) to: Option<usize>,
}

/// Reason for which a thread ends before its steps are done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ending {
    /// Cancelled from outside.
    Cancelled,
    /// Refused by the resource manager, because the wait would be a deadlock.
    Deadlock,
}

/// The present attempt at the thread's work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attempt {
    /// Arrival, from which the deadline counts.
    pub(super) arrived: Time,
    /// It has received a processor.
    pub(super) dispatched: bool,
    /// Number of attempts before.
    pub(super) retries: u32,
}

/// Replies to asynchronous requests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Replies {
    /// Outstanding replies to this thread.
    pub(super) outstanding: u32,
    /// Thread that expects a reply when this one ends.
    pub(super) parent: Option<Parent>,
}

/// Sender of the asynchronous request that started a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parent {
    pub(super) thread: usize,
    pub(super) generation: u32,
    pub(super) host: usize,
    pub(super) reply_bytes: u64,
}

impl Segment {
    /// Returns the segment as it continues on another host: with the remaining work.
    pub(super) fn on_another_host(self) -> Self {
        Self {
            done: self.done + self.received,
            received: 0,
            ..self
        }
    }

    /// Returns its parameters for the work that was left when it arrived here.
    pub(super) fn left(&self) -> SchedulingParameters {
        let own = self.parameters.at(self.kind, self.from);
        own.after_work(Duration::from_nanos(self.done))
    }

    /// Returns its own claim, translated for a scheduler of this kind.
    pub(super) fn claim(&self, kind: ParameterKind, now: Time) -> Claim {
        let defaults = TranslationDefaults {
            now,
            ..TranslationDefaults::default()
        };
        Claim::new(
            self.left().translated(kind, &defaults),
            Duration::from_nanos(self.received),
        )
    }
}

impl<'m> Frame<'m> {
    pub(super) fn new(host: usize, steps: &'m [Step], segments: usize) -> Self {
        Self {
            host,
            steps,
            next: 0,
            segments,
            started: false,
            deadline: None,
            shedding: None,
            estimate: 0,
            received: 0,
            retries: 0,
            delay: Duration::ZERO,
            reply_bytes: 0,
        }
    }
}

impl<'m> Thread<'m> {
    pub(super) fn unused() -> Self {
        Self {
            id: ThreadId {
                task: 0,
                stream: 0,
                job: 0,
            },
            generation: 0,
            state: State::Free,
            host: 0,
            slot: Slot(0),
            processor: None,
            frames: Vec::new(),
            segments: Vec::new(),
            remaining: 0,
            held: Vec::new(),
            unwinding: Unwinding::default(),
            attempt: Attempt::default(),
            replies: Replies::default(),
            pauses: 0,
            random: Random::of([0; 4]),
        }
    }

    /// Reuses the record and its memory for another thread.
    pub(super) fn reuse(&mut self, id: ThreadId, host: usize, random: Random) {
        *self = Self {
            id,
            generation: self.generation.wrapping_add(1),
            state: State::Travelling,
            host,
            pauses: self.pauses,
            frames: mem::take(&mut self.frames),
            segments: mem::take(&mut self.segments),
            held: mem::take(&mut self.held),
            random,
            ..Self::unused()
        };
    }

    pub(super) fn frame(&self) -> &Frame<'m> {
        self.frames.last().expect("a live thread has a frame")
    }

    pub(super) fn frame_mut(&mut self) -> &mut Frame<'m> {
        self.frames.last_mut().expect("a live thread has a frame")
    }

    pub(super) fn segment(&self) -> &Segment {
        self.segments.last().expect("a live thread has a segment")
    }

    /// Returns the innermost segment of a host that the head is on or will return to.
    pub(super) fn segment_at(&self, host: usize) -> &Segment {
        let inner = self.frames.iter().rposition(|frame| frame.host == host);
        let above = inner.and_then(|inner| self.frames.get(inner + 1));
        above.map_or_else(|| self.segment(), |above| &self.segments[above.segments - 1])
    }

    /// Returns the processor time that its innermost segment of a host has received there.
    pub(super) fn received_at(&self, host: usize) -> Duration {
        Duration::from_nanos(self.segment_at(host).received)
    }

    /// Returns the processor time of all its frames.
    pub(super) fn processor_time(&self) -> Duration {
        Duration::from_nanos(self.frames.iter().map(|frame| frame.received).sum())
    }

    /// Accounts for nanoseconds on a processor.
    pub(super) fn progress(&mut self, nanoseconds: u64) {
        self.remaining -= nanoseconds;
        if let Some(segment) = self.segments.last_mut() {
            segment.received += nanoseconds;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.received += nanoseconds;
        }
    }

    /// Ends the innermost segments until `left` remain.
    pub(super) fn end_segments(&mut self, left: usize) {
        while self.segments.len() > left {
            let ended = self.segments.pop().map_or(0, |segment| segment.received);
            if let Some(outer) = self.segments.last_mut() {
                outer.received += ended;
            }
        }
    }

    /// Leaves the innermost frame, which is a call's, and the segments that began in it.
    pub(super) fn leave_frame(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        let caller = self.frame_mut();
        caller.received += frame.received;
        if caller.host == frame.host {
            self.end_segments(frame.segments);
        } else {
            // Replies do not carry the work that was done: the caller's segment is as it was at the call.
            self.segments.truncate(frame.segments);
        }
    }

    /// Returns whether an operation is examined at this point, given the policy of the host.
    pub(super) fn is_examined(&self, of_host: SheddingPolicy, at: SheddingPoint) -> bool {
        let frames = self.frames.iter();
        let mut policies = frames.filter_map(|frame| frame.shedding).chain([of_host]);
        policies.any(|policy| match at {
            SheddingPoint::Dispatch => !policy.is_never(),
            SheddingPoint::Checkpoint => policy.examines_checkpoints(),
        })
    }

    /// Returns the outermost operation that is shed at this point, given the policy of the host.
    pub(super) fn shed_operation(
        &self,
        of_host: SheddingPolicy,
        now: Time,
        at: SheddingPoint,
    ) -> Option<usize> {
        let is_critical = self.segment().parameters.is_critical();
        let mut received = 0;
        let mut found = None;
        for (depth, frame) in self.frames.iter().enumerate().rev() {
            received += frame.received;
            let Some(deadline) = frame.deadline else { continue };
            let work = TimedWork {
                deadline,
                execution_time: Duration::from_nanos(frame.estimate),
                is_critical,
            };
            let policy = frame.shedding.unwrap_or(of_host);
            if policy.sheds(&work, Duration::from_nanos(received), now, at) {
                found = Some(depth);
            }
        }
        found
    }
}
