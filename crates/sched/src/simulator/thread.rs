use alloc::vec::Vec;
use core::{mem, time::Duration};

use crate::dynamic::{Claim, ParameterKind, SchedulingParameters, Slot, Time, TranslationDefaults};

use super::{Parameters, Step, ThreadId, random::Random};

/// A distributable thread that has not ended.
#[derive(Debug)]
pub(super) struct Thread<'m> {
    pub(super) id: ThreadId,
    /// Grows with each use of the record, so that a late reply does not find the next one.
    pub(super) life: u32,
    pub(super) state: State,
    /// Where its head is, or was sent from.
    pub(super) host: usize,
    /// What its host's scheduler knows it by, while it is ready.
    pub(super) slot: Slot,
    pub(super) processor: Option<usize>,
    /// The first one is the thread's own, each other one a call's. Never empty while it lives.
    pub(super) frames: Vec<Frame<'m>>,
    /// The innermost last. Never empty while it lives. The first one is the thread's own; each call to another host has one there.
    pub(super) segments: Vec<Segment>,
    /// What the computation under way still takes, in nanoseconds.
    pub(super) remaining: u64,
    pub(super) held: Vec<Held>,
    /// Why it ends at its next scheduling point, if it does.
    pub(super) ending: Option<Ending>,
    /// Frames are left until there are so many.
    pub(super) unwinding_to: Option<usize>,
    /// Its arrival: what its deadline counts from.
    pub(super) arrived: Time,
    pub(super) dispatched: bool,
    /// How often it was tried again.
    pub(super) retries: u32,
    /// Replies to asynchronous calls that have not come.
    pub(super) outstanding: u32,
    /// Changes whenever it pauses, so that a late alarm does not wake it.
    pub(super) pauses: u32,
    pub(super) parent: Option<Parent>,
    pub(super) random: Random,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum State {
    /// The record is not in use.
    Free,
    /// Its host's scheduler knows it.
    Ready,
    /// Its head is in a message.
    Travelling,
    /// It waits for a resource of its host.
    Waiting,
    /// It sleeps, or is to be tried again.
    Paused,
    /// It waits for replies.
    Awaiting,
}

/// A list of steps that is being done.
#[derive(Debug)]
pub(super) struct Frame<'m> {
    pub(super) host: usize,
    pub(super) steps: &'m [Step],
    pub(super) next: usize,
    /// How many segments there were before it.
    pub(super) segments: usize,
    /// It has run here.
    pub(super) started: bool,
    pub(super) deadline: Option<Time>,
    /// What it is said to take, in nanoseconds.
    pub(super) estimate: u64,
    /// The processor time that it has had, in nanoseconds.
    pub(super) received: u64,
    /// How often the call that is its next step was tried again.
    pub(super) retries: u32,
    /// How long it waits before its next step.
    pub(super) delay: Duration,
    pub(super) reply_bytes: u64,
}

/// A scheduling segment that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) parameters: Parameters,
    /// What the scheduler takes where it was begun or last updated: what the thread brings to other hosts.
    pub(super) kind: ParameterKind,
    pub(super) from: Time,
    /// The work, in nanoseconds, that was done before the thread came here with it: so much less is asked for here.
    pub(super) done: u64,
    /// Processor time on this host, in nanoseconds, without segments in it that have not ended.
    pub(super) received: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) host: usize,
    pub(super) resource: u32,
    /// How many frames there were.
    pub(super) frames: usize,
}

/// Why a thread ends before its steps are done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ending {
    /// It was cancelled from outside.
    Cancelled,
    /// A wait was refused that would never have ended.
    Deadlock,
}

/// Who is told that an asynchronous call is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parent {
    pub(super) thread: usize,
    pub(super) life: u32,
    pub(super) host: usize,
    pub(super) reply_bytes: u64,
}

impl Segment {
    /// The same at another host that the thread goes to: with the work that is left.
    pub(super) fn taken_along(self) -> Self {
        Self {
            done: self.done + self.received,
            received: 0,
            ..self
        }
    }

    /// What it asks for by itself, in the terms of the scheduler that it asks.
    pub(super) fn claim(&self, kind: ParameterKind, now: Time) -> Claim {
        let defaults = TranslationDefaults {
            now,
            ..TranslationDefaults::default()
        };
        let own: SchedulingParameters = self.parameters.at(self.kind, self.from);
        let left = own.after_work(Duration::from_nanos(self.done));
        Claim::new(
            left.translated(kind, &defaults),
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
            estimate: 0,
            received: 0,
            retries: 0,
            delay: Duration::ZERO,
            reply_bytes: 0,
        }
    }
}

impl Thread<'_> {
    pub(super) fn unused() -> Self {
        Self {
            id: ThreadId {
                task: 0,
                stream: 0,
                job: 0,
            },
            life: 0,
            state: State::Free,
            host: 0,
            slot: Slot(0),
            processor: None,
            frames: Vec::new(),
            segments: Vec::new(),
            remaining: 0,
            held: Vec::new(),
            ending: None,
            unwinding_to: None,
            arrived: Time(0),
            dispatched: false,
            retries: 0,
            outstanding: 0,
            pauses: 0,
            parent: None,
            random: Random::of([0; 4]),
        }
    }

    /// Makes the record another thread's, with the memory that it has.
    pub(super) fn reuse(&mut self, id: ThreadId, host: usize, random: Random) {
        *self = Self {
            id,
            life: self.life.wrapping_add(1),
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

    pub(super) fn frame(&self) -> &Frame<'_> {
        self.frames.last().expect("a thread that lives has a frame")
    }

    pub(super) fn segment(&self) -> &Segment {
        self.segments.last().expect("a thread that lives has a segment")
    }

    /// The innermost one of a host that it is on or will return to.
    pub(super) fn segment_at(&self, host: usize) -> &Segment {
        let inner = self.frames.iter().rposition(|frame| frame.host == host);
        let above = inner.and_then(|inner| self.frames.get(inner + 1));
        above.map_or_else(|| self.segment(), |above| &self.segments[above.segments - 1])
    }

    /// Returns the processor time that its innermost segment of a host has received there.
    pub(super) fn received_at(&self, host: usize) -> Duration {
        Duration::from_nanos(self.segment_at(host).received)
    }

    /// It has had the processor for so long, in nanoseconds.
    pub(super) fn progress(&mut self, nanoseconds: u64) {
        self.remaining -= nanoseconds;
        if let Some(segment) = self.segments.last_mut() {
            segment.received += nanoseconds;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.received += nanoseconds;
        }
    }

    /// Ends the innermost segments until there are so many.
    pub(super) fn end_segments(&mut self, left: usize) {
        while self.segments.len() > left {
            let ended = self.segments.pop().map_or(0, |segment| segment.received);
            if let Some(outer) = self.segments.last_mut() {
                outer.received += ended;
            }
        }
    }

    /// Leaves the innermost frame, which is a call's, and the segments that were begun in it.
    pub(super) fn leave_frame(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        let caller = self.frames.last_mut().expect("a call has a caller");
        caller.received += frame.received;
        if caller.host == frame.host {
            self.end_segments(frame.segments);
        } else {
            // A reply does not say how much was done: the caller's segment is as it was when its thread left.
            self.segments.truncate(frame.segments);
        }
    }

    /// The outermost operation that cannot be done in time any more if it takes what it is said to.
    pub(super) fn hopeless(&self, now: Time) -> Option<usize> {
        let mut received = 0;
        let mut found = None;
        for (depth, frame) in self.frames.iter().enumerate().rev() {
            received += frame.received;
            let left = Duration::from_nanos(frame.estimate.saturating_sub(received));
            if frame.deadline.is_some_and(|deadline| now + left > deadline) {
                found = Some(depth);
            }
        }
        found
    }
}
