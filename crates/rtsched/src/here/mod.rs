//! What an OS thread carries: visits of distributable threads, the innermost last, and their segments.
//!
//! Nobody else looks at it, and it is never borrowed while the dispatcher makes the thread wait or code of the application's runs.

mod moves;
mod segments;
mod waits;

use std::{
    cell::RefCell,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_flight::{Event, Record, record};
use punctual_orb::swap_call_limit;
use punctual_os::clock;
use punctual_sched::dynamic::{SchedulingParameters, Slot, Time, resource::ResourceId};
use punctual_types::{DistributableThreadId, Minor, SystemException};

use crate::{
    dispatcher::{Carrier, Head, Visitor},
    endsystem::Endsystem,
    error::{Interrupted, no_current, thread_cancelled},
    storage::{self, ThreadStorage},
    wire::UnknownParameters,
};

pub(crate) use moves::{Arrival, begin_call, begin_request, end_call, end_request, poll, send};
pub(crate) use segments::{begin, begin_thread, close, end, update};
pub(crate) use waits::{limit, pass, pass_if_any, present_limit, wait_until};

thread_local! {
    static HERE: RefCell<Here> = const { RefCell::new(Here::new()) };
}

static VISITS: AtomicU64 = AtomicU64::new(1);

/// What an OS thread carries.
struct Here {
    carrier: Option<Carrier>,
    visits: Vec<Visit>,
    /// Those of all visits; only the first `depth` are open. The others keep the memory of their names.
    segments: Vec<OpenSegment>,
    depth: usize,
    /// Until when operations may take; each no later than the one around it.
    limits: Vec<Time>,
    /// The requests that the OS thread serves, the innermost last.
    requests: Vec<Request>,
    /// The two-way calls that the OS thread is in, the innermost last: which visit each has taken the head of.
    calls: Vec<Option<u64>>,
}

/// What an OS thread carried when a request came.
struct Request {
    visits: usize,
    /// From where on visits are in sight.
    in_sight: usize,
    depth: usize,
    limits: usize,
    call_limit: Option<Instant>,
    /// What the object uses while it serves the request, and for which thread.
    resource: Option<(ResourceId, Visitor, DistributableThreadId)>,
}

/// One stay of a distributable thread on this OS thread.
struct Visit {
    /// `None`: a request without a distributable thread, which hides those that the OS thread has.
    endsystem: Option<Arc<Endsystem>>,
    slot: Slot,
    id: DistributableThreadId,
    number: u64,
    /// Where its segments and limits begin.
    first_segment: usize,
    /// How many scopes will end it: scoped segments, and the request that brought it.
    scopes: u32,
    /// Whether a request brought it.
    by_request: bool,
    /// Cancellation was seen: nothing of it is scheduled any more.
    cancelled: bool,
    /// It waits for another visit on this OS thread.
    paused: bool,
    /// It looks for the reply to an asynchronous call, or waits for it.
    polls: bool,
    /// The head, while a call has taken it elsewhere.
    absent: Option<Head>,
    /// The OS thread's processor time when it left; `None`: nobody asks.
    left_at: Option<Duration>,
    /// What was attached before.
    storage_before: Option<ThreadStorage>,
}

struct OpenSegment {
    name: String,
    parameters: SchedulingParameters,
    implicit: Option<SchedulingParameters>,
    /// Parameters that came with the thread and are not known here: they travel on.
    foreign: Foreign,
    /// The OS thread's processor time at its beginning; `None`: nobody asks.
    began_at: Option<Duration>,
    scoped: bool,
}

/// Parameters of disciplines that are not known here.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Foreign {
    pub(crate) own: Option<UnknownParameters>,
    pub(crate) implicit: Option<UnknownParameters>,
}

/// Which scope a segment belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    visit: u64,
    depth: usize,
}

/// What is known of the current thread.
pub(crate) struct Present {
    pub(crate) id: DistributableThreadId,
    pub(crate) parameters: SchedulingParameters,
    pub(crate) implicit: Option<SchedulingParameters>,
    pub(crate) foreign: Foreign,
}

impl Here {
    const fn new() -> Self {
        Self {
            carrier: None,
            visits: Vec::new(),
            segments: Vec::new(),
            depth: 0,
            limits: Vec::new(),
            requests: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// The innermost visit, where it is one of this endsystem's threads, and not just on its way by a call.
    fn current(&mut self, endsystem: &Arc<Endsystem>) -> Option<&mut Visit> {
        let current = self.visits.last_mut();
        current.filter(|visit| visit.is_of(endsystem) && visit.absent.is_none())
    }

    /// Which visits belong to the request that the OS thread serves, or to none.
    fn in_sight(&self) -> usize {
        self.requests.last().map_or(0, |request| request.in_sight)
    }

    fn carrier(&mut self) -> Carrier {
        self.carrier.get_or_insert_with(Carrier::of_this_thread).clone()
    }

    fn push_visit(
        &mut self,
        endsystem: Option<&Arc<Endsystem>>,
        slot: Slot,
        id: DistributableThreadId,
        storage: Option<ThreadStorage>,
    ) -> u64 {
        let number = VISITS.fetch_add(1, Ordering::Relaxed);
        let storage_before = match storage {
            Some(storage) => storage::attach(storage),
            None => storage::detach(),
        };
        self.visits.push(Visit {
            endsystem: endsystem.cloned(),
            slot,
            id,
            number,
            first_segment: self.depth,
            scopes: 0,
            by_request: false,
            cancelled: false,
            paused: false,
            polls: false,
            absent: None,
            left_at: None,
            storage_before,
        });
        number
    }

    fn push_segment(
        &mut self,
        name: &str,
        parameters: SchedulingParameters,
        implicit: Option<SchedulingParameters>,
        scoped: bool,
    ) -> Option<Duration> {
        let began_at = needs_processor_time(&parameters).then(clock::thread_cpu_time);
        if self.depth == self.segments.len() {
            self.segments.push(OpenSegment {
                name: String::with_capacity(64),
                parameters,
                implicit,
                foreign: Foreign::default(),
                began_at,
                scoped,
            });
        }
        let segment = &mut self.segments[self.depth];
        segment.name.clear();
        segment.name.push_str(name);
        segment.parameters = parameters;
        segment.implicit = implicit;
        segment.foreign = Foreign::default();
        segment.began_at = began_at;
        segment.scoped = scoped;
        self.depth += 1;
        began_at
    }

    /// The OS thread's processor time, where a segment of the innermost visit counts by it.
    fn processor_time(&self) -> Option<Duration> {
        let first = self.visits.last()?.first_segment;
        let counts = |segment: &OpenSegment| segment.began_at.is_some();
        self.segments[first..self.depth]
            .iter()
            .any(counts)
            .then(clock::thread_cpu_time)
    }

    /// The innermost visit has its head back: what the OS thread has done meanwhile, for whomever, was no work of its segments.
    fn take_up(&mut self, visit: usize, head: &mut Head) {
        let visit = &mut self.visits[visit];
        let Some(left_at) = visit.left_at.take() else {
            return;
        };
        let away = clock::thread_cpu_time().saturating_sub(left_at);
        let segments = self.segments[visit.first_segment..self.depth].iter_mut();
        for began_at in segments.filter_map(|segment| segment.began_at.as_mut()) {
            *began_at += away;
        }
        if let Some(began_at) = &mut head.began_at {
            *began_at += away;
        }
    }

    fn innermost(&mut self) -> &mut OpenSegment {
        &mut self.segments[self.depth - 1]
    }

    fn visitor(&self, visit: &Visit) -> Visitor {
        Visitor {
            slot: visit.slot,
            visit: visit.number,
            limit: self.limits.last().copied().filter(|limit| *limit != Time::NEVER),
        }
    }

    /// The limits of operations that this OS thread is in are those of another thread where the request is `apart`.
    fn push_request(&mut self, apart: bool) {
        let in_sight = if apart { self.visits.len() } else { self.in_sight() };
        self.requests.push(Request {
            visits: self.visits.len(),
            in_sight,
            depth: self.depth,
            limits: self.limits.len(),
            call_limit: swap_call_limit(None),
            resource: None,
        });
        if apart {
            self.limits.push(Time::NEVER);
        } else {
            swap_call_limit(self.requests[self.requests.len() - 1].call_limit);
        }
    }

    /// The innermost visit with its endsystem, as a visitor.
    fn visiting(&self) -> Option<(Arc<Endsystem>, Visitor)> {
        let visit = self.visits.last()?;
        Some((visit.endsystem.clone()?, self.visitor(visit)))
    }
}

/// An OS thread that ends with segments open ends them.
impl Drop for Here {
    fn drop(&mut self) {
        while let Some(visit) = self.visits.pop() {
            visit.end();
        }
    }
}

impl OpenSegment {
    fn present(&self, id: DistributableThreadId) -> Present {
        Present {
            id,
            parameters: self.parameters,
            implicit: self.implicit,
            foreign: self.foreign,
        }
    }
}

impl Visit {
    fn is_of(&self, endsystem: &Arc<Endsystem>) -> bool {
        self.endsystem
            .as_ref()
            .is_some_and(|own| Arc::ptr_eq(own, endsystem))
    }

    /// Destructors of what the thread has stored run here, where it ends, with nothing borrowed or locked.
    fn end(mut self) {
        if let Some(endsystem) = self.endsystem.take() {
            let end = endsystem.dispatcher.end(self.slot, self.number);
            if let Some(kept) = endsystem.keep_storage(self.id, end) {
                // Still attached: destructors find the other values.
                kept.clear();
            }
        }
        let own = match self.storage_before.take() {
            Some(before) => storage::attach(before),
            None => storage::detach(),
        };
        drop(own);
    }
}

fn with<R>(look: impl FnOnce(&mut Here) -> R) -> R {
    HERE.with_borrow_mut(look)
}

fn needs_processor_time(parameters: &SchedulingParameters) -> bool {
    parameters.execution_time().is_some()
}

/// The current visit as a visitor, where its innermost segment has that name.
fn innermost_of(
    here: &mut Here,
    endsystem: &Arc<Endsystem>,
    name: Option<&str>,
) -> Result<Visitor, SystemException> {
    let visit = here.current(endsystem).ok_or_else(no_current)?;
    if visit.cancelled {
        return Err(thread_cancelled());
    }
    let visit = here.visits.last().expect("there is a current one");
    let visitor = here.visitor(visit);
    if name.is_some_and(|name| here.segments[here.depth - 1].name != name) {
        return Err(SystemException::new(
            punctual_types::SystemExceptionKind::BadParam,
            Minor::SEGMENT_NAME_WRONG,
            punctual_types::Completion::No,
        ));
    }
    Ok(visitor)
}

/// The current thread at a scheduling point, and its id.
pub(crate) fn current_visitor(
    endsystem: &Arc<Endsystem>,
) -> Result<(Visitor, DistributableThreadId), SystemException> {
    with(|here| {
        let visitor = innermost_of(here, endsystem, None)?;
        let visit = here.current(endsystem).ok_or_else(no_current)?;
        Ok((visitor, visit.id))
    })
}

/// What an interruption at a scheduling point means for the current visit, and how it is told.
pub(crate) fn interrupted_at_point(interrupted: Interrupted) -> SystemException {
    if interrupted == Interrupted::Cancelled {
        with(|here| {
            if let Some(visit) = here.visits.last_mut() {
                visit.cancelled = true;
            }
        });
        drop_if_unscoped();
    }
    interrupted.exception()
}

/// A cancelled visit goes at once where no scope is going to end it.
fn drop_if_unscoped() {
    let goes = with(|here| {
        here.visits
            .last()
            .is_some_and(|visit| visit.scopes == 0 && visit.cancelled)
    });
    if goes {
        end_visit();
    }
}

/// Ends the innermost visit, with its segments and limits.
fn end_visit() {
    let visit = with(|here| {
        let visit = here.visits.pop()?;
        for _ in visit.first_segment..here.depth {
            note(Event::SegmentEnd, visit.id);
        }
        here.depth = visit.first_segment;
        Some(visit)
    });
    if let Some(visit) = visit {
        visit.end();
    }
}

/// What the current thread is, or BAD_INV_ORDER, or THREAD_CANCELLED where that was seen.
pub(crate) fn present(endsystem: &Arc<Endsystem>) -> Result<Present, SystemException> {
    with(|here| {
        let visit = here.current(endsystem).ok_or_else(no_current)?;
        let id = visit.id;
        Ok(here.innermost().present(id))
    })
}

/// The names of the open segments, the innermost first.
pub(crate) fn names(endsystem: &Arc<Endsystem>) -> Result<Vec<String>, SystemException> {
    with(|here| {
        let first = here.current(endsystem).ok_or_else(no_current)?.first_segment;
        let open = here.segments[first..here.depth].iter().rev();
        Ok(open.map(|segment| segment.name.clone()).collect())
    })
}

/// The current thread waits for the resource of the object that the innermost request is for, which the request then has to its end.
/// Where it does not get it, the request ends.
pub(crate) fn use_resource(endsystem: &Arc<Endsystem>, resource: ResourceId) -> Result<(), SystemException> {
    let (visitor, id) = current_visitor(endsystem).inspect_err(|_| {
        let _ = end_request(endsystem);
    })?;
    match endsystem.dispatcher.acquire(resource, visitor, Time::NEVER) {
        Ok(_) => {
            with(|here| {
                let request = here.requests.last_mut().expect("it has begun");
                request.resource = Some((resource, visitor, id));
            });
            Ok(())
        }
        Err(interrupted) => {
            let exception = interrupted_at_point(interrupted);
            let _ = end_request(endsystem);
            Err(exception)
        }
    }
}

/// A segment of that name begins.
fn note_segment(id: DistributableThreadId, name: &str) {
    note(Event::SegmentBegin, id);
    record(|| Record::of_text(Event::SegmentName, name));
}

/// The current thread spawns that one.
pub(crate) fn note_spawned(id: DistributableThreadId) {
    note(Event::DistributableThreadSpawned, id);
}

fn note(event: Event, id: DistributableThreadId) {
    record(|| Record::new(event).detail(id.0 as u64));
}
