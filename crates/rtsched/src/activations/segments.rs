//! Scheduling points 1 to 3: segments begin, change and end.

use std::sync::Arc;

use punctual_flight::Event;
use punctual_sched::dynamic::{SchedulingParameters, SheddingPoint, Slot};
use punctual_types::{Completion, DistributableThreadId, Minor, SystemException, SystemExceptionKind};

use super::{
    SegmentHandle, SegmentSpec,
    context::{
        Activation, ActivationState, end_frame, end_frames_above, record_event, record_segment,
        record_segment_ends, with,
    },
    end_if_unscoped, interrupted_at_point,
};
use crate::{
    dispatcher::{LaneLimit, SchedulingPoint},
    endsystem::Endsystem,
    error::{Interrupted, SchedulingError, bad_order, thread_cancelled},
};

/// `begin_scheduling_segment`: begins a nested segment, or a new thread where there is none.
pub(crate) fn begin(
    endsystem: &Arc<Endsystem>,
    segment: &SegmentSpec<'_>,
) -> Result<SegmentHandle, SchedulingError> {
    endsystem.check(&segment.parameters)?;
    if let Some(implicit) = &segment.implicit {
        endsystem.check(implicit)?;
    }
    if with(|context| context.current(endsystem).is_some()) {
        return Ok(begin_nested(endsystem, segment)?);
    }
    let id = endsystem.ids.next();
    let slot = endsystem.dispatcher.register(id, segment.name)?;
    Ok(begin_thread(endsystem, id, slot, LaneLimit::NONE, segment)?)
}

/// Begins the first segment of a registered thread.
pub(crate) fn begin_thread(
    endsystem: &Arc<Endsystem>,
    id: DistributableThreadId,
    slot: Slot,
    limit: LaneLimit,
    segment: &SegmentSpec<'_>,
) -> Result<SegmentHandle, SystemException> {
    let storage = endsystem.dispatcher.storage(slot);
    let activation = Activation::new(endsystem, slot, id, segment.scoped.into(), false).within(limit);
    let (point, locus, handle) = with(|context| context.begin(activation, storage, segment));
    endsystem.dispatcher.arrive(point, locus).map_err(|interrupted| {
        end_frame();
        interrupted.exception_when(not_begun(interrupted))
    })?;
    Ok(handle)
}

fn begin_nested(
    endsystem: &Arc<Endsystem>,
    segment: &SegmentSpec<'_>,
) -> Result<SegmentHandle, SystemException> {
    let watch = endsystem.watch(segment);
    let (point, began_at, handle) = with(|context| {
        let active = context.active(endsystem)?;
        let depth = active.segments.depth();
        if depth - active.first_segment >= endsystem.max_segments {
            return Err(SystemException::new(
                SystemExceptionKind::ImpLimit,
                Minor::SEGMENTS_NESTED_TOO_DEEP,
                Completion::No,
            ));
        }
        record_segment(active.activation.id, segment.name);
        let enclosing = active.segments.watch(active.first_segment);
        let began_at = active.segments.push(segment, watch.or(enclosing));
        active.activation.scopes += u32::from(segment.scoped);
        let (point, activation) = (active.point(), active.number);
        Ok((point, began_at, SegmentHandle { activation, depth }))
    })?;
    let changed = endsystem
        .dispatcher
        .change(point, SheddingPoint::Dispatch, segment.parameters, began_at);
    changed.map_err(|interrupted| {
        let outer = with(|context| {
            let mut innermost = context.innermost()?;
            innermost.segments.truncate(handle.depth);
            innermost.activation.scopes -= u32::from(segment.scoped);
            record_segment_ends(innermost.activation.id, 1);
            let point = SchedulingPoint {
                deadline: None,
                watch: None,
                ..innermost.point()
            };
            Some((point, *innermost.segment()))
        });
        if let Some((point, outer)) = outer
            && interrupted == Interrupted::Hopeless
        {
            // A cancellation is reported at the next scheduling point.
            let at = SheddingPoint::Checkpoint;
            let _ = endsystem
                .dispatcher
                .change(point, at, outer.parameters, outer.began_at);
        }
        let exception = interrupted_at_point(interrupted);
        exception.with_completion(not_begun(interrupted))
    })?;
    Ok(handle)
}

/// `update_scheduling_segment`: updates the innermost segment. `implicit`: `None` leaves them.
pub(crate) fn update(
    endsystem: &Arc<Endsystem>,
    name: &str,
    parameters: SchedulingParameters,
    implicit: Option<SchedulingParameters>,
) -> Result<(), SchedulingError> {
    with(|context| context.active_in(endsystem, name).map(drop))?;
    endsystem.check(&parameters)?;
    if let Some(implicit) = &implicit {
        endsystem.check(implicit)?;
    }
    let watch = endsystem.watch_of(&parameters);
    let (point, before, began_at) = with(|context| {
        let mut active = context.active_in(endsystem, name)?;
        record_event(Event::SegmentUpdate, active.activation.id);
        let segment = active.segment();
        let before = *segment;
        segment.update(parameters, implicit, watch);
        let began_at = segment.began_at;
        Ok::<_, SystemException>((active.point(), before, began_at))
    })?;
    let changed = endsystem
        .dispatcher
        .change(point, SheddingPoint::Checkpoint, parameters, began_at);
    changed.map_err(|interrupted| {
        if let Interrupted::Refused(_) = interrupted {
            with(|context| {
                if let Some(mut innermost) = context.innermost() {
                    *innermost.segment() = before;
                }
            });
        }
        interrupted_at_point(interrupted).into()
    })
}

/// `end_scheduling_segment`: ends the innermost segment, which no scope ends.
pub(crate) fn end(endsystem: &Arc<Endsystem>, name: &str) -> Result<(), SystemException> {
    let handle = with(|context| {
        let active = context.active_in(endsystem, name)?;
        let depth = active.segments.depth() - 1;
        let is_of_request = active.activation.by_request && depth == active.first_segment;
        if active.segments.innermost().scoped || is_of_request {
            return Err(bad_order(Minor::SEGMENT_IS_SCOPED));
        }
        let activation = active.number;
        Ok(SegmentHandle { activation, depth })
    })?;
    end_segments(endsystem, handle)
}

/// Ends a scoped segment, and the segments left open inside.
pub(crate) fn close(endsystem: &Arc<Endsystem>, handle: SegmentHandle) -> Result<(), SystemException> {
    let frame = with(|context| {
        let mut frames = context.frames.iter();
        frames.rposition(|frame| frame.number == handle.activation)
    });
    let Some(frame) = frame else {
        return Err(thread_cancelled());
    };
    // Explicit segments of another endsystem may be open above it.
    end_frames_above(frame + 1);
    with(|context| {
        if let Some(innermost) = context.innermost() {
            innermost.activation.scopes -= 1;
        }
    });
    end_segments(endsystem, handle)
}

/// Ends all segments from the given one on.
pub(super) fn end_segments(endsystem: &Arc<Endsystem>, handle: SegmentHandle) -> Result<(), SystemException> {
    let ended = with(|context| {
        let mut innermost = context.innermost()?;
        let open = innermost.segments.depth().saturating_sub(handle.depth);
        record_segment_ends(innermost.activation.id, open);
        innermost.segments.truncate(handle.depth);
        let outer = (innermost.segments.depth() > innermost.first_segment).then(|| *innermost.segment());
        let cancelled = matches!(innermost.activation.state, ActivationState::Cancelled);
        Some((innermost.point(), outer, cancelled))
    });
    let Some((point, outer, cancelled)) = ended else {
        return Ok(());
    };
    if cancelled {
        end_if_unscoped();
        return Err(thread_cancelled());
    }
    let Some(outer) = outer else {
        let interrupted = endsystem.dispatcher.interruption(point);
        end_frame();
        return interrupted.map_or(Ok(()), |interrupted| Err(interrupted.exception()));
    };
    endsystem
        .dispatcher
        .change(point, SheddingPoint::Checkpoint, outer.parameters, outer.began_at)
        .map_err(interrupted_at_point)
}

/// Completion of a segment that an interruption has kept from beginning.
fn not_begun(interrupted: Interrupted) -> Completion {
    match interrupted {
        Interrupted::Hopeless => Completion::No,
        _ => Completion::Maybe,
    }
}
