//! Scheduling points 1 to 3: segments begin, change and end.

use std::sync::Arc;

use punctual_flight::Event;
use punctual_os::clock;
use punctual_sched::dynamic::{SchedulingParameters, Slot};
use punctual_types::{DistributableThreadId, Minor, SystemException};

use super::{
    Mark, drop_if_unscoped, end_visit, innermost_of, interrupted_at_point, needs_processor_time, note,
    note_segment, with,
};
use crate::{
    SchedulingError,
    dispatcher::Head,
    endsystem::Endsystem,
    error::{Interrupted, bad_order, thread_cancelled},
};

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
    note_segment(id, name);
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
        note_segment(visit.id, name);
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
        note(
            Event::SegmentUpdate,
            here.visits.last().expect("there is a current one").id,
        );
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
pub(super) fn end_segments(endsystem: &Arc<Endsystem>, mark: Mark) -> Result<(), SystemException> {
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
