//! What an OS thread carries: visits of distributable threads, the innermost last, and their segments.
//!
//! Nobody else looks at it, and it is never borrowed while the dispatcher makes the thread wait or code of the application's runs.

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
use punctual_stub::ObjectRef;
use punctual_transport::Peer;
use punctual_types::{DistributableThreadId, Minor, SystemException};

use crate::{
    SchedulingError,
    dispatcher::{self, Carrier, Head, Visitor},
    endsystem::Endsystem,
    error::{Interrupted, bad_order, no_current, thread_cancelled},
    storage::{self, ThreadStorage},
    wire::UnknownParameters,
};

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
    /// The head, while a call has taken it elsewhere.
    absent: Option<Head>,
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
        }
    }

    /// The innermost visit, where it is one of this endsystem's threads, and not just on its way by a call.
    fn current(&mut self, endsystem: &Arc<Endsystem>) -> Option<&mut Visit> {
        let current = self.visits.last_mut();
        current.filter(|visit| visit.is_of(endsystem) && visit.absent.is_none())
    }

    /// The visit whose call ends, among those of the request that the OS thread serves.
    fn calling(&self, endsystem: &Arc<Endsystem>) -> Option<usize> {
        let first = self.in_sight();
        let calls = |visit: &Visit| visit.is_of(endsystem) && visit.absent.is_some();
        Some(first + self.visits[first..].iter().rposition(calls)?)
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
            absent: None,
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

/// `begin_scheduling_segment`: a new thread where there is none, else a segment within the one that is open.
pub(crate) fn begin(
    endsystem: &Arc<Endsystem>,
    name: &str,
    parameters: SchedulingParameters,
    implicit: Option<SchedulingParameters>,
    scoped: bool,
) -> Result<Mark, SchedulingError> {
    endsystem.check(&parameters)?;
    if let Some(implicit) = &implicit {
        endsystem.check(implicit)?;
    }
    match with(|here| here.current(endsystem).map(|visit| visit.cancelled)) {
        None => {
            let id = endsystem.ids.next();
            let slot = endsystem.dispatcher.register(id, name)?;
            Ok(begin_thread(
                endsystem, id, slot, name, parameters, implicit, scoped,
            )?)
        }
        Some(true) => Err(thread_cancelled().into()),
        Some(false) => Ok(begin_nested(endsystem, name, parameters, implicit, scoped)?),
    }
}

/// The first segment of a thread that is registered already.
pub(crate) fn begin_thread(
    endsystem: &Arc<Endsystem>,
    id: DistributableThreadId,
    slot: Slot,
    name: &str,
    parameters: SchedulingParameters,
    implicit: Option<SchedulingParameters>,
    scoped: bool,
) -> Result<Mark, SystemException> {
    note(Event::SegmentBegin, id);
    let storage = endsystem.dispatcher.storage(slot);
    let (visitor, head, mark) = with(|here| {
        let number = here.push_visit(Some(endsystem), slot, id, Some(storage));
        let mark = Mark {
            visit: number,
            depth: here.depth,
        };
        let began_at = here.push_segment(name, parameters, implicit, scoped);
        let carrier = here.carrier();
        let visit = here.visits.last_mut().expect("just pushed");
        visit.scopes = scoped.into();
        let head = Head::new(number, &carrier, parameters, began_at);
        (here.visitor(&here.visits[here.visits.len() - 1]), head, mark)
    });
    endsystem
        .dispatcher
        .arrive(visitor, head)
        .map_err(|interrupted| {
            end_visit();
            interrupted.exception()
        })?;
    Ok(mark)
}

fn begin_nested(
    endsystem: &Arc<Endsystem>,
    name: &str,
    parameters: SchedulingParameters,
    implicit: Option<SchedulingParameters>,
    scoped: bool,
) -> Result<Mark, SystemException> {
    let (visitor, began_at, mark) = with(|here| {
        let visit = here.visits.last().expect("there is a current one");
        if here.depth - visit.first_segment >= endsystem.max_segments {
            return Err(SystemException::new(
                punctual_types::SystemExceptionKind::ImpLimit,
                Minor::SEGMENTS_NESTED_TOO_DEEP,
                punctual_types::Completion::No,
            ));
        }
        note(Event::SegmentBegin, visit.id);
        let mark = Mark {
            visit: visit.number,
            depth: here.depth,
        };
        let visitor = here.visitor(visit);
        let began_at = here.push_segment(name, parameters, implicit, scoped);
        here.visits.last_mut().expect("there is a current one").scopes += u32::from(scoped);
        Ok((visitor, began_at, mark))
    })?;
    if let Err(interrupted) = endsystem.dispatcher.change(visitor, parameters, began_at) {
        with(|here| {
            here.depth -= 1;
            let visit = here.visits.last_mut().expect("there is a current one");
            visit.scopes -= u32::from(scoped);
            note(Event::SegmentEnd, visit.id);
        });
        return Err(interrupted_at_point(interrupted));
    }
    Ok(mark)
}

/// `update_scheduling_segment`: of the innermost one. `None`: its implicit parameters stay.
pub(crate) fn update(
    endsystem: &Arc<Endsystem>,
    name: Option<&str>,
    parameters: SchedulingParameters,
    implicit: Option<SchedulingParameters>,
) -> Result<(), SchedulingError> {
    let visitor = with(|here| innermost_of(here, endsystem, name))?;
    endsystem.check(&parameters)?;
    if let Some(implicit) = &implicit {
        endsystem.check(implicit)?;
    }
    let (before, began_at) = with(|here| {
        let segment = here.innermost();
        let before = (
            segment.parameters,
            segment.implicit,
            segment.foreign,
            segment.began_at,
        );
        segment.parameters = parameters;
        segment.foreign.own = None;
        if implicit.is_some() {
            segment.implicit = implicit;
            segment.foreign.implicit = None;
        }
        if segment.began_at.is_none() && needs_processor_time(&parameters) {
            segment.began_at = Some(clock::thread_cpu_time());
        }
        (before, segment.began_at)
    });
    endsystem
        .dispatcher
        .change(visitor, parameters, began_at)
        .map_err(|interrupted| {
            if let Interrupted::Refused(_) = interrupted {
                with(|here| {
                    let segment = here.innermost();
                    (
                        segment.parameters,
                        segment.implicit,
                        segment.foreign,
                        segment.began_at,
                    ) = before;
                });
            }
            interrupted_at_point(interrupted).into()
        })
}

/// `end_scheduling_segment`: of the innermost one, which no scope ends.
pub(crate) fn end(endsystem: &Arc<Endsystem>, name: &str) -> Result<(), SystemException> {
    let mark = with(|here| {
        innermost_of(here, endsystem, Some(name))?;
        let depth = here.depth - 1;
        let visit = here.visits.last().expect("there is a current one");
        if here.segments[depth].scoped || visit.by_request && depth == visit.first_segment {
            return Err(bad_order(Minor::SEGMENT_IS_SCOPED));
        }
        Ok(Mark {
            visit: visit.number,
            depth,
        })
    })?;
    end_segments(endsystem, mark)
}

/// Ends a scoped segment, and what was left open inside.
pub(crate) fn close(endsystem: &Arc<Endsystem>, mark: Mark) -> Result<(), SystemException> {
    let there = with(|here| here.visits.iter().rposition(|visit| visit.number == mark.visit));
    let Some(there) = there else {
        return Err(thread_cancelled());
    };
    // What another endsystem's explicit segments have left above it.
    while with(|here| here.visits.len()) > there + 1 {
        end_visit();
    }
    with(|here| here.visits[there].scopes -= 1);
    end_segments(endsystem, mark)
}

/// Ends all segments from the mark on.
fn end_segments(endsystem: &Arc<Endsystem>, mark: Mark) -> Result<(), SystemException> {
    let (visitor, outer, cancelled) = with(|here| {
        let visit = here.visits.last().expect("there is a current one");
        let (id, cancelled, first) = (visit.id, visit.cancelled, visit.first_segment);
        let visitor = here.visitor(visit);
        for _ in mark.depth..here.depth {
            note(Event::SegmentEnd, id);
        }
        here.depth = here.depth.min(mark.depth);
        let outer = (here.depth > first).then(|| {
            let segment = here.innermost();
            (segment.parameters, segment.began_at)
        });
        (visitor, outer, cancelled)
    });
    if cancelled {
        drop_if_unscoped();
        return Err(thread_cancelled());
    }
    let Some((parameters, began_at)) = outer else {
        let interrupted = endsystem.dispatcher.interruption(visitor);
        end_visit();
        return interrupted.map_or(Ok(()), |interrupted| Err(interrupted.exception()));
    };
    endsystem
        .dispatcher
        .change(visitor, parameters, began_at)
        .map_err(interrupted_at_point)
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

/// A scheduling point of the current thread without news.
pub(crate) fn pass(endsystem: &Arc<Endsystem>) -> Result<(), SystemException> {
    let visitor = with(|here| innermost_of(here, endsystem, None))?;
    endsystem.dispatcher.pass(visitor).map_err(interrupted_at_point)
}

/// Waits, out of the ready ones, until `wake` or for ever; says whether something else opened the gate before. Comes back to the
/// ready ones with [`pass`].
pub(crate) fn wait_until(endsystem: &Arc<Endsystem>, wake: Time) -> Result<(), SystemException> {
    let (visitor, gate) = with(|here| {
        let visitor = innermost_of(here, endsystem, None)?;
        Ok::<_, SystemException>((visitor, here.carrier().gate))
    })?;
    let dispatcher = &endsystem.dispatcher;
    gate.close();
    dispatcher.wait(visitor).map_err(interrupted_at_point)?;
    let until = visitor.limit.map_or(wake, |limit| limit.min(wake));
    while dispatcher::now() < until && dispatcher.interruption(visitor).is_none() {
        gate.pass((until != Time::NEVER).then(|| dispatcher::instant(until)));
    }
    dispatcher.pass(visitor).map_err(interrupted_at_point)
}

/// From here on no wait and no call takes longer than until then; the result restores what was before.
pub(crate) fn limit(until: Time) -> Limited {
    with(|here| {
        let before = here.limits.len();
        let outer = here.limits.last().copied().unwrap_or(Time::NEVER);
        let until = until.min(outer);
        here.limits.push(until);
        Limited {
            before,
            call_limit: swap_call_limit(Some(dispatcher::instant(until))),
        }
    })
}

/// Until when the current operation may take.
pub(crate) fn present_limit() -> Time {
    with(|here| here.limits.last().copied().unwrap_or(Time::NEVER))
}

/// Restores the limit before.
pub(crate) struct Limited {
    before: usize,
    call_limit: Option<Instant>,
}

impl Drop for Limited {
    fn drop(&mut self) {
        with(|here| here.limits.truncate(self.before));
        swap_call_limit(self.call_limit);
    }
}

/// Whether there is a current thread; THREAD_CANCELLED where it was cancelled.
pub(crate) fn check(endsystem: &Arc<Endsystem>) -> Result<(), SystemException> {
    let visitor = with(|here| match here.current(endsystem) {
        None => Ok(None),
        Some(visit) if visit.cancelled => Err(thread_cancelled()),
        Some(_) => innermost_of(here, endsystem, None).map(Some),
    })?;
    match visitor.and_then(|visitor| endsystem.dispatcher.interruption(visitor)) {
        Some(interrupted) => Err(interrupted_at_point(interrupted)),
        None => Ok(()),
    }
}

/// The head of the current thread, if there is one, leaves by a call to `target`; gives what the other host is to know.
pub(crate) fn send(
    endsystem: &Arc<Endsystem>,
    target: ObjectRef,
) -> Result<Option<Present>, SystemException> {
    let sent = with(|here| {
        let id = match here.current(endsystem) {
            None => return Ok::<_, SystemException>(None),
            Some(visit) => visit.id,
        };
        let visitor = innermost_of(here, endsystem, None)?;
        Ok(Some((visitor, here.innermost().present(id))))
    })?;
    let Some((visitor, present)) = sent else {
        return Ok(None);
    };
    let head = endsystem
        .dispatcher
        .leave(visitor, target)
        .map_err(interrupted_at_point)?;
    note(Event::DistributableThreadSent, present.id);
    with(|here| here.visits.last_mut().expect("it is calling").absent = Some(head));
    Ok(Some(present))
}

/// The head returns from a call, if one took it. `cancelled`: the reply says that it was.
pub(crate) fn receive(endsystem: &Arc<Endsystem>, cancelled: bool) -> Result<(), Interrupted> {
    let Some(there) = with(|here| here.calling(endsystem)) else {
        return Ok(());
    };
    // What other interceptors have begun meanwhile and left open.
    while with(|here| here.visits.len()) > there + 1 {
        end_visit();
    }
    let returned = with(|here| {
        let head = here.visits[there].absent.take()?;
        let visit = &here.visits[there];
        Some((here.visitor(visit), visit.id, head))
    });
    let Some((visitor, id, head)) = returned else {
        return Ok(());
    };
    note(Event::DistributableThreadReceived, id);
    if cancelled {
        let _ = endsystem.dispatcher.cancel(id);
    }
    let arrived = endsystem.dispatcher.come_back(visitor, head);
    if let Err(interrupted) = arrived {
        interrupted_at_point(interrupted);
    }
    arrived
}

/// What comes with a request.
pub(crate) struct Arrival<'a> {
    pub(crate) id: DistributableThreadId,
    pub(crate) operation: &'a str,
    pub(crate) parameters: SchedulingParameters,
    pub(crate) implicit: Option<SchedulingParameters>,
    pub(crate) foreign: Foreign,
    pub(crate) peer: Option<Peer>,
    /// Whether nobody waits for its request, so that it begins here.
    pub(crate) spawned: bool,
}

/// A request begins on this OS thread; [`end_request`] ends it. What the OS thread has is kept, and out of sight if `apart`: the
/// request is not the current thread's own.
///
/// A thread that comes with it is in a segment with the operation's name.
pub(crate) fn begin_request(
    endsystem: &Arc<Endsystem>,
    apart: bool,
    arrival: Option<Arrival<'_>>,
) -> Result<(), SystemException> {
    let Some(arrival) = arrival else {
        let hides = with(|here| {
            here.push_request(apart);
            apart && !here.visits.is_empty()
        });
        if hides {
            pause();
            with(|here| here.push_visit(None, Slot(0), DistributableThreadId(0), None));
        }
        return Ok(());
    };
    let slot = endsystem.dispatcher.register_visitor(
        arrival.id,
        arrival.operation,
        arrival.peer,
        arrival.spawned,
    )?;
    if let Some(stored) = endsystem.visitors.returns(arrival.id, dispatcher::now()) {
        endsystem.dispatcher.restore_storage(slot, stored);
    }
    with(|here| here.push_request(apart));
    pause();
    note(Event::DistributableThreadReceived, arrival.id);
    let storage = endsystem.dispatcher.storage(slot);
    let (visitor, head) = with(|here| {
        let number = here.push_visit(Some(endsystem), slot, arrival.id, Some(storage));
        let began_at = here.push_segment(arrival.operation, arrival.parameters, arrival.implicit, true);
        here.innermost().foreign = arrival.foreign;
        let carrier = here.carrier();
        let visit = here.visits.last_mut().expect("just pushed");
        (visit.scopes, visit.by_request) = (1, true);
        let head = Head::new(number, &carrier, arrival.parameters, began_at);
        (here.visitor(&here.visits[here.visits.len() - 1]), head)
    });
    endsystem.dispatcher.arrive(visitor, head).map_err(|interrupted| {
        let _ = end_request(endsystem);
        interrupted.exception()
    })
}

/// The current thread waits for the resource of the object that the innermost request is for, which the request then has to its end.
/// Where it does not get it, the request ends.
pub(crate) fn use_resource(endsystem: &Arc<Endsystem>, resource: ResourceId) -> Result<(), SystemException> {
    let (visitor, id) = current_visitor(endsystem)?;
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

/// The innermost request ends, with everything that was begun in it; what was before it goes on. THREAD_CANCELLED where that was seen,
/// or is now, of the thread that came with it.
pub(crate) fn end_request(endsystem: &Arc<Endsystem>) -> Result<(), SystemException> {
    let Some(request) = with(|here| here.requests.pop()) else {
        return Ok(());
    };
    while with(|here| here.visits.len()) > request.visits + 1 {
        end_visit();
    }
    if let Some((resource, visitor, id)) = request.resource {
        endsystem.dispatcher.release(resource, visitor, Some(id));
    }
    let mut ended = Ok(());
    if with(|here| here.visits.len()) > request.visits {
        let visitor = with(|here| {
            let visit = here.visits.last()?;
            let cancelled = visit.cancelled;
            let endsystem = visit.endsystem.clone()?;
            Some((endsystem, cancelled, here.visitor(visit)))
        });
        if let Some((endsystem, cancelled, visitor)) = visitor
            && (cancelled || endsystem.dispatcher.interruption(visitor) == Some(Interrupted::Cancelled))
        {
            ended = Err(thread_cancelled());
        }
        end_visit();
    }
    with(|here| {
        here.limits.truncate(request.limits);
        swap_call_limit(request.call_limit);
    });
    resume();
    let left_open = with(|here| here.depth > request.depth);
    if left_open {
        // Segments that a servant on its caller's thread has left open.
        let mark = with(|here| {
            here.visits.last().map(|visit| Mark {
                visit: visit.number,
                depth: request.depth,
            })
        });
        if let Some(mark) = mark {
            ended = ended.and(end_segments(endsystem, mark));
        }
    }
    ended
}

/// The current visit, whose OS thread another one takes, is not ready meanwhile.
fn pause() {
    let paused = with(|here| {
        let visit = here.visits.last_mut()?;
        if visit.absent.is_some() || visit.cancelled || visit.endsystem.is_none() {
            return None;
        }
        visit.paused = true;
        here.visiting()
    });
    if let Some((endsystem, mut visitor)) = paused {
        visitor.limit = None;
        // Cancelled: it sees that when it goes on.
        let _ = endsystem.dispatcher.wait(visitor);
    }
}

/// The opposite of [`pause`].
fn resume() {
    let resumed = with(|here| {
        let visit = here.visits.last_mut()?;
        std::mem::take(&mut visit.paused).then_some(())?;
        here.visiting()
    });
    if let Some((endsystem, visitor)) = resumed
        && let Err(interrupted) = endsystem.dispatcher.pass(visitor)
    {
        interrupted_at_point(interrupted);
    }
}

fn note(event: Event, id: DistributableThreadId) {
    record(|| Record::new(event).detail(id.0 as u64));
}
