//! Scheduling points 4 to 7: a thread leaves by a call and returns, comes with a request and goes.

use std::sync::Arc;

use punctual_flight::Event;
use punctual_orb::swap_call_limit;
use punctual_sched::dynamic::{SchedulingParameters, Slot};
use punctual_stub::ObjectRef;
use punctual_transport::Peer;
use punctual_types::{DistributableThreadId, SystemException};

use super::{
    Foreign, Mark, Present, end_visit, innermost_of, interrupted_at_point, note, note_segment,
    segments::end_segments, with,
};
use crate::{
    dispatcher::{self, Head},
    endsystem::Endsystem,
    error::{Interrupted, thread_cancelled},
};

/// A two-way call begins; `moved` is what [`send`] has said. [`end_call`] ends it: interceptors make calls of their own in between.
pub(crate) fn begin_call(moved: Option<&Present>) {
    with(|here| {
        let takes = moved.and_then(|_| here.visits.last());
        let visit = takes.map(|visit| visit.number);
        here.calls.push(visit);
    });
}

/// The innermost two-way call ends, and the head returns if it took one; `cancelled`: the reply says that it was.
pub(crate) fn end_call(endsystem: &Arc<Endsystem>, cancelled: bool) -> Result<(), Interrupted> {
    match with(|here| here.calls.pop()).flatten() {
        Some(visit) => receive(endsystem, visit, cancelled),
        None => Ok(()),
    }
}

/// The current thread, if there is one, is about to look or wait for the reply to an asynchronous call: it is not ready until it
/// [`pass`](super::pass)es.
pub(crate) fn poll(endsystem: &Arc<Endsystem>) -> Result<(), SystemException> {
    let visitor = with(|here| {
        if here.current(endsystem).is_none() {
            return Ok(None);
        }
        let visitor = innermost_of(here, endsystem, None)?;
        here.visits.last_mut().expect("there is a current one").polls = true;
        Ok::<_, SystemException>(Some(visitor))
    })?;
    let Some(visitor) = visitor else {
        return Ok(());
    };
    endsystem.dispatcher.wait(visitor).map_err(|interrupted| {
        with(|here| here.visits.last_mut().expect("there is a current one").polls = false);
        interrupted_at_point(interrupted)
    })
}

/// The head of the current thread, if there is one, leaves by a call to `target`; gives what the other host is to know: the work that
/// is left, not what the segment began with.
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
    let Some((visitor, mut present)) = sent else {
        return Ok(None);
    };
    let head = endsystem
        .dispatcher
        .leave(visitor, target)
        .map_err(interrupted_at_point)?;
    note(Event::DistributableThreadSent, present.id);
    with(|here| {
        let left_at = here.processor_time();
        if let (Some(left_at), Some(began_at)) = (left_at, here.innermost().began_at) {
            present.parameters = present.parameters.after_work(left_at.saturating_sub(began_at));
        }
        let visit = here.visits.last_mut().expect("it is calling");
        (visit.absent, visit.left_at) = (Some(head), left_at);
    });
    Ok(Some(present))
}

/// The head returns to its visit.
fn receive(endsystem: &Arc<Endsystem>, visit: u64, cancelled: bool) -> Result<(), Interrupted> {
    let Some(there) = with(|here| here.visits.iter().rposition(|open| open.number == visit)) else {
        return Ok(());
    };
    // What other interceptors have begun meanwhile and left open.
    while with(|here| here.visits.len()) > there + 1 {
        end_visit();
    }
    let returned = with(|here| {
        let mut head = here.visits[there].absent.take()?;
        here.take_up(there, &mut head);
        let visit = &here.visits[there];
        Some((here.visitor(visit), visit.id, head))
    });
    let Some((visitor, id, head)) = returned else {
        return Ok(());
    };
    note(Event::DistributableThreadReturned, id);
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
    note_segment(arrival.id, arrival.operation);
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
        if visit.absent.is_some() || visit.cancelled || visit.polls || visit.endsystem.is_none() {
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
