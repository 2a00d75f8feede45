//! Activations of distributable threads on the calling OS thread, and their scheduling points.

mod calls;
mod context;
mod requests;
mod segment_stack;
mod segments;
mod waiting;

use std::sync::Arc;

use punctual_flight::Event;
use punctual_sched::dynamic::SchedulingParameters;
use punctual_types::{DistributableThreadId, SystemException};

use self::context::{ActivationState, end_frame, record_event, with};
use crate::{
    dispatcher::{LaneLimit, SchedulingPoint},
    endsystem::Endsystem,
    error::{Interrupted, no_current},
};

pub(crate) use calls::{begin_call, end_call, poll, send};
pub(crate) use context::{ClaimLimit, SegmentHandle};
pub(crate) use requests::{Arrival, begin_request, end_request, use_resource};
pub(crate) use segment_stack::{OpaqueParameters, SegmentSpec};
pub(crate) use segments::{begin, begin_thread, close, end, update};
pub(crate) use waiting::{deadline, pass, pass_if_any, set_deadline, wait_until};

/// The current thread and the parameters of its innermost segment.
pub(crate) struct CurrentThread {
    pub(crate) id: DistributableThreadId,
    pub(crate) parameters: SchedulingParameters,
    pub(crate) implicit: Option<SchedulingParameters>,
    pub(crate) opaque: OpaqueParameters,
    pub(crate) limit: LaneLimit,
}

/// Returns the current thread; without one, BAD_INV_ORDER.
pub(crate) fn current_thread(endsystem: &Arc<Endsystem>) -> Result<CurrentThread, SystemException> {
    with(|context| {
        let mut current = context.current(endsystem).ok_or_else(no_current)?;
        let id = current.activation.id;
        let limit = current.activation.limit;
        let segment = current.segment();
        Ok(CurrentThread {
            id,
            parameters: segment.parameters,
            implicit: segment.implicit,
            opaque: segment.opaque,
            limit,
        })
    })
}

/// Names of the open segments, the innermost first.
pub(crate) fn names(endsystem: &Arc<Endsystem>) -> Result<Vec<String>, SystemException> {
    with(|context| {
        let current = context.current(endsystem).ok_or_else(no_current)?;
        Ok(current.segments.names(current.first_segment))
    })
}

/// Returns the current thread at a scheduling point, and its id.
pub(crate) fn scheduling_point(
    endsystem: &Arc<Endsystem>,
) -> Result<(SchedulingPoint, DistributableThreadId), SystemException> {
    with(|context| {
        let active = context.active(endsystem)?;
        Ok((active.point(), active.activation.id))
    })
}

/// Carries out an interruption at a scheduling point for the innermost activation; returns the exception that
/// reports it.
pub(crate) fn interrupted_at_point(interrupted: Interrupted) -> SystemException {
    if interrupted == Interrupted::Cancelled {
        with(|context| {
            if let Some(innermost) = context.innermost() {
                innermost.activation.state = ActivationState::Cancelled;
            }
        });
        end_if_unscoped();
    }
    interrupted.exception()
}

/// Ends a cancelled activation at once where no scope will end it.
fn end_if_unscoped() {
    let ends = with(|context| {
        context.innermost().is_some_and(|innermost| {
            innermost.activation.scopes == 0
                && matches!(innermost.activation.state, ActivationState::Cancelled)
        })
    });
    if ends {
        end_frame();
    }
}

/// Records that the current thread spawns another one.
pub(crate) fn record_spawned(id: DistributableThreadId) {
    record_event(Event::DistributableThreadSpawned, id);
}
