//! The state of one OS thread: its activations, their segments, the requests that it serves, and the calls
//! that it is in.

use std::{
    cell::RefCell,
    mem,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_flight::{Event, Record, record};
use punctual_orb::{interceptors::ServingLane, swap_call_deadline, swap_own_scheduling};
use punctual_os::{clock, scheduling};
use punctual_sched::dynamic::{Slot, Time, resource::ResourceId};
use punctual_types::{DistributableThreadId, Minor, SystemException};

use super::segment_stack::{SegmentSpec, SegmentStack, SegmentValues};
use crate::{
    dispatcher::{LaneLimit, Locus, OsThread, SchedulingPoint},
    endsystem::Endsystem,
    error::{bad_param, no_current, thread_cancelled},
    storage::{self, ThreadStorage},
};

thread_local! {
    static CONTEXT: RefCell<Context> = const { RefCell::new(Context::new()) };
}

static ACTIVATIONS: AtomicU64 = AtomicU64::new(1);

/// Accesses the context of the calling OS thread. It is never borrowed while the dispatcher makes the thread
/// wait, or while code of the application runs.
pub(super) fn with<R>(access: impl FnOnce(&mut Context) -> R) -> R {
    CONTEXT.with_borrow_mut(access)
}

/// State of an OS thread with regard to distributable threads.
pub(super) struct Context {
    os_thread: Option<OsThread>,
    /// The innermost last.
    pub(super) frames: Vec<Frame>,
    pub(super) segments: SegmentStack,
    /// Deadlines of operations, each no later than the one around it.
    pub(super) deadlines: Vec<Time>,
    /// Requests that the OS thread serves, the innermost last.
    pub(super) requests: Vec<Request>,
    /// Two-way calls that the OS thread is in, the innermost last; with the activation whose head each has
    /// taken.
    pub(super) calls: Vec<Option<u64>>,
}

/// State of an OS thread when a request arrived.
pub(super) struct Request {
    pub(super) frames: usize,
    pub(super) depth: usize,
    pub(super) deadlines: usize,
    pub(super) call_deadline: Option<Instant>,
    /// Resource that the object uses while it serves the request, and the thread that owns it.
    pub(super) resource: Option<(ResourceId, SchedulingPoint, DistributableThreadId)>,
}

/// A part of the OS thread's stack.
pub(super) struct Frame {
    pub(super) number: u64,
    /// Index of its first segment.
    pub(super) first_segment: usize,
    /// `None`: a request without a distributable thread, which hides the frames below.
    pub(super) activation: Option<Activation>,
    /// Storage that was attached before.
    storage_before: Option<ThreadStorage>,
}

/// An activation of a distributable thread: the part that one OS thread runs, from the outermost segment, or
/// the request that brought the thread, to its end.
pub(super) struct Activation {
    pub(super) endsystem: Arc<Endsystem>,
    pub(super) slot: Slot,
    pub(super) id: DistributableThreadId,
    /// Number of scopes that will end it: scoped segments, and the request that brought it.
    pub(super) scopes: u32,
    /// Whether a request brought it.
    pub(super) by_request: bool,
    pub(super) limit: LaneLimit,
    pub(super) state: ActivationState,
}

/// State of an activation.
#[expect(
    clippy::large_enum_variant,
    reason = "a box would be an allocation for each call of a distributable thread"
)]
pub(super) enum ActivationState {
    /// It has the head.
    Active,
    /// It has the head, which is not ready: another activation uses its OS thread.
    Paused,
    /// It has the head, which is not ready: it polls for the reply to an asynchronous call, or waits for it.
    Polling,
    /// A call has taken the head away. `left_at`: processor time of the OS thread then, where a segment
    /// counts it.
    Calling { locus: Locus, left_at: Option<Duration> },
    /// It has seen its cancellation; it is no longer scheduled.
    Cancelled,
}

/// Limit of the claims of an arriving thread.
pub(crate) enum ClaimLimit {
    /// No limit.
    None,
    /// The lane that serves the request.
    Lane(ServingLane),
    /// The limit of the calling thread, if it has one.
    Caller,
}

/// Identifies the activation and the depth at which a segment began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentHandle {
    pub(super) activation: u64,
    pub(super) depth: usize,
}

/// The innermost activation with its segments.
pub(super) struct Innermost<'c> {
    pub(super) number: u64,
    pub(super) first_segment: usize,
    pub(super) activation: &'c mut Activation,
    pub(super) segments: &'c mut SegmentStack,
    deadline: Option<Time>,
}

impl Context {
    const fn new() -> Self {
        Self {
            os_thread: None,
            frames: Vec::new(),
            segments: SegmentStack::new(),
            deadlines: Vec::new(),
            requests: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// Returns the innermost activation, unless a request without a distributable thread hides it.
    pub(super) fn innermost(&mut self) -> Option<Innermost<'_>> {
        let deadline = self.deadline();
        let frame = self.frames.last_mut()?;
        Some(Innermost {
            number: frame.number,
            first_segment: frame.first_segment,
            activation: frame.activation.as_mut()?,
            segments: &mut self.segments,
            deadline: (deadline != Time::NEVER).then_some(deadline),
        })
    }

    /// Returns the innermost activation, if it belongs to this endsystem and its head is not away.
    pub(super) fn current(&mut self, endsystem: &Arc<Endsystem>) -> Option<Innermost<'_>> {
        let innermost = self.innermost()?;
        let activation = &innermost.activation;
        let is_current = Arc::ptr_eq(&activation.endsystem, endsystem)
            && !matches!(activation.state, ActivationState::Calling { .. });
        is_current.then_some(innermost)
    }

    /// Returns the current activation; fails where there is none, or where it was cancelled.
    pub(super) fn active(&mut self, endsystem: &Arc<Endsystem>) -> Result<Innermost<'_>, SystemException> {
        let current = self.current(endsystem).ok_or_else(no_current)?;
        match current.activation.state {
            ActivationState::Cancelled => Err(thread_cancelled()),
            _ => Ok(current),
        }
    }

    /// Returns the result of [`active`](Self::active) if the innermost segment has this name.
    pub(super) fn active_in(
        &mut self,
        endsystem: &Arc<Endsystem>,
        segment: &str,
    ) -> Result<Innermost<'_>, SystemException> {
        let active = self.active(endsystem)?;
        if active.segments.innermost().name != segment {
            return Err(bad_param(Minor::SEGMENT_NAME_WRONG));
        }
        Ok(active)
    }

    pub(super) fn os_thread(&mut self) -> OsThread {
        self.os_thread.get_or_insert_with(OsThread::current).clone()
    }

    /// Limit of a request's claims.
    pub(super) fn limit(&mut self, of: &ClaimLimit) -> LaneLimit {
        let around = self.innermost().map(|innermost| innermost.activation.limit);
        match of {
            ClaimLimit::None => LaneLimit::NONE,
            ClaimLimit::Caller => around.unwrap_or(LaneLimit::NONE),
            ClaimLimit::Lane(lane) => LaneLimit::of(*lane, around),
        }
    }

    /// Returns the deadline of the innermost operation.
    pub(super) fn deadline(&self) -> Time {
        self.deadlines.last().copied().unwrap_or(Time::NEVER)
    }

    /// Pushes an activation with its first segment; returns what the dispatcher needs for its arrival.
    pub(super) fn begin(
        &mut self,
        activation: Activation,
        storage: ThreadStorage,
        segment: &SegmentSpec<'_>,
    ) -> (SchedulingPoint, Locus, SegmentHandle) {
        let watch = activation.endsystem.watch(segment);
        let (slot, id, limit) = (activation.slot, activation.id, activation.limit);
        if self.frames.is_empty() && activation.endsystem.dispatcher.preempts() {
            // Calls propagate the priority from before the dispatcher changes it.
            swap_own_scheduling(Some(scheduling::current()));
        }
        let number = self.push_frame(Some(activation), storage::attach(storage));
        let handle = SegmentHandle {
            activation: number,
            depth: self.segments.depth(),
        };
        record_segment(id, segment.name);
        let began_at = self.segments.push(segment, watch);
        let locus = Locus::new(
            number,
            self.os_thread().within(limit),
            segment.parameters,
            began_at,
        );
        let deadline = self.deadline();
        let point = SchedulingPoint {
            slot,
            activation: number,
            deadline: (deadline != Time::NEVER).then_some(deadline),
            watch,
        };
        (point, locus, handle)
    }

    /// Hides the frames below from a request without a distributable thread.
    pub(super) fn hide(&mut self) {
        self.push_frame(None, storage::detach());
    }

    fn push_frame(&mut self, activation: Option<Activation>, storage_before: Option<ThreadStorage>) -> u64 {
        let number = ACTIVATIONS.fetch_add(1, Ordering::Relaxed);
        self.frames.push(Frame {
            number,
            first_segment: self.segments.depth(),
            activation,
            storage_before,
        });
        number
    }

    /// Remembers the state before a request. If it is `separate`, the deadlines of operations around it do
    /// not apply to it.
    pub(super) fn push_request(&mut self, separate: bool) {
        let call_deadline = swap_call_deadline(None);
        self.requests.push(Request {
            frames: self.frames.len(),
            depth: self.segments.depth(),
            deadlines: self.deadlines.len(),
            call_deadline,
            resource: None,
        });
        if separate {
            self.deadlines.push(Time::NEVER);
        } else {
            swap_call_deadline(call_deadline);
        }
    }
}

/// An OS thread that ends with open segments ends them.
impl Drop for Context {
    fn drop(&mut self) {
        while let Some(frame) = self.frames.pop() {
            frame.end();
        }
    }
}

impl Innermost<'_> {
    pub(super) fn point(&self) -> SchedulingPoint {
        SchedulingPoint {
            slot: self.activation.slot,
            activation: self.number,
            deadline: self.deadline,
            watch: self.segments.watch(self.first_segment),
        }
    }

    /// Values of the innermost segment.
    pub(super) fn segment(&mut self) -> &mut SegmentValues {
        &mut self.segments.innermost().values
    }

    /// Takes the head away by a call; returns the processor time of the OS thread where a segment counts it.
    pub(super) fn depart(&mut self, locus: Locus) -> Option<Duration> {
        let left_at = self
            .segments
            .count_processor_time(self.first_segment)
            .then(clock::thread_cpu_time);
        self.activation.state = ActivationState::Calling { locus, left_at };
        left_at
    }

    /// Returns the head from the call. What the OS thread has done since then was not the work of these
    /// segments.
    pub(super) fn take_up(&mut self) -> Option<Locus> {
        let (mut locus, left_at) = self.activation.state.take_call()?;
        if let Some(left_at) = left_at {
            let away = clock::thread_cpu_time().saturating_sub(left_at);
            self.segments.postpone(self.first_segment, away);
            if let Some(began_at) = &mut locus.began_at {
                *began_at += away;
            }
        }
        Some(locus)
    }
}

impl ActivationState {
    fn take_call(&mut self) -> Option<(Locus, Option<Duration>)> {
        match mem::replace(self, Self::Active) {
            Self::Calling { locus, left_at } => Some((locus, left_at)),
            other => {
                *self = other;
                None
            }
        }
    }
}

impl Activation {
    pub(super) fn new(
        endsystem: &Arc<Endsystem>,
        slot: Slot,
        id: DistributableThreadId,
        scopes: u32,
        by_request: bool,
    ) -> Self {
        Self {
            endsystem: Arc::clone(endsystem),
            slot,
            id,
            scopes,
            by_request,
            limit: LaneLimit::NONE,
            state: ActivationState::Active,
        }
    }

    /// The same with a limit on its claims.
    pub(super) fn within(self, limit: LaneLimit) -> Self {
        Self { limit, ..self }
    }
}

impl Frame {
    /// Ends the frame. Where the thread ends, destructors of its stored values run here, with nothing
    /// borrowed or locked.
    fn end(self) {
        let departure = self.activation.as_ref().and_then(|activation| {
            let dispatcher = &activation.endsystem.dispatcher;
            dispatcher.end(activation.slot, self.number)
        });
        // First: the last reference calls the destructors, and it must not be the one of this OS thread where
        // the storage is handed to a housekeeper.
        drop(match self.storage_before {
            Some(before) => storage::attach(before),
            None => storage::detach(),
        });
        if let (Some(activation), Some(departure)) = (self.activation, departure) {
            activation.endsystem.dispose_of_storage(activation.id, departure);
        }
    }
}

/// Ends the innermost frame with its segments.
pub(super) fn end_frame() {
    let frame = with(|context| {
        let frame = context.frames.pop()?;
        if let Some(activation) = &frame.activation {
            record_segment_ends(activation.id, context.segments.depth() - frame.first_segment);
        }
        context.segments.truncate(frame.first_segment);
        Some((frame, context.frames.is_empty()))
    });
    if let Some((frame, is_outermost)) = frame {
        frame.end();
        if is_outermost {
            swap_own_scheduling(None);
        }
    }
}

/// Ends all frames above the first `count`.
pub(super) fn end_frames_above(count: usize) {
    while with(|context| context.frames.len()) > count {
        end_frame();
    }
}

pub(super) fn record_segment(id: DistributableThreadId, name: &str) {
    record_event(Event::SegmentBegin, id);
    record(|| Record::of_text(Event::SegmentName, name));
}

pub(super) fn record_segment_ends(id: DistributableThreadId, count: usize) {
    for _ in 0..count {
        record_event(Event::SegmentEnd, id);
    }
}

/// Records an event of a distributable thread.
pub(super) fn record_event(event: Event, id: DistributableThreadId) {
    record(|| Record::new(event).detail(id.0 as u64));
}
