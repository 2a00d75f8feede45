//! Scheduling points 6 and 7: a thread arrives with a request and leaves with its reply.

use std::sync::Arc;

use punctual_flight::Event;
use punctual_orb::swap_call_deadline;
use punctual_sched::dynamic::{SchedulingParameters, Time, resource::ResourceId};
use punctual_transport::Peer;
use punctual_types::{DistributableThreadId, SystemException};

use super::{
    OpaqueParameters, SegmentHandle, SegmentSpec,
    context::{Activation, ActivationState, ClaimLimit, end_frame, end_frames_above, record_event, with},
    interrupted_at_point, scheduling_point,
    segments::end_segments,
};
use crate::{
    dispatcher::{self, SchedulingPoint},
    endsystem::Endsystem,
    error::{Interrupted, thread_cancelled},
};

/// A distributable thread that arrives with a request.
pub(crate) struct Arrival<'a> {
    pub(crate) id: DistributableThreadId,
    pub(crate) operation: &'a str,
    pub(crate) parameters: SchedulingParameters,
    pub(crate) implicit: Option<SchedulingParameters>,
    pub(crate) opaque: OpaqueParameters,
    pub(crate) peer: Option<Peer>,
    pub(crate) limit: ClaimLimit,
    /// Whether no caller waits for the request, so that the thread begins here.
    pub(crate) spawned: bool,
}

/// Begins a request on this OS thread; [`end_request`] ends it. If it is `separate`, it is not the current
/// thread's own, and hides the activations of the OS thread.
///
/// A thread that arrives with it is in a segment with the name of the operation.
pub(crate) fn begin_request(
    endsystem: &Arc<Endsystem>,
    separate: bool,
    arrival: Option<Arrival<'_>>,
) -> Result<(), SystemException> {
    let Some(arrival) = arrival else {
        let hides = with(|context| {
            context.push_request(separate);
            separate && !context.frames.is_empty()
        });
        if hides {
            pause();
            with(|context| context.hide());
        }
        return Ok(());
    };
    let slot = endsystem.dispatcher.register_arrival(
        arrival.id,
        arrival.operation,
        arrival.peer,
        arrival.spawned,
    )?;
    if let Some(stored) = endsystem.retained.restore(arrival.id, dispatcher::now()) {
        endsystem.dispatcher.restore_storage(slot, stored);
    }
    with(|context| context.push_request(separate));
    pause();
    record_event(Event::DistributableThreadReceived, arrival.id);
    let storage = endsystem.dispatcher.storage(slot);
    let segment = SegmentSpec {
        name: arrival.operation,
        parameters: arrival.parameters,
        implicit: arrival.implicit,
        opaque: arrival.opaque,
        scoped: true,
        timed: None,
    };
    let (point, locus, _) = with(|context| {
        let limit = context.limit(&arrival.limit);
        let activation = Activation::new(endsystem, slot, arrival.id, 1, true).within(limit);
        context.begin(activation, storage, &segment)
    });
    endsystem.dispatcher.arrive(point, locus).map_err(|interrupted| {
        let _ = end_request(endsystem);
        interrupted.exception()
    })
}

/// Acquires the resource of the object that the innermost request is for, until the request ends. On failure,
/// ends the request.
pub(crate) fn use_resource(endsystem: &Arc<Endsystem>, resource: ResourceId) -> Result<(), SystemException> {
    let acquired = scheduling_point(endsystem).and_then(|(point, id)| {
        match endsystem.dispatcher.acquire(resource, point, Time::NEVER) {
            Ok(_) => Ok((resource, point, id)),
            Err(interrupted) => Err(interrupted_at_point(interrupted)),
        }
    });
    match acquired {
        Ok(acquired) => {
            with(|context| {
                if let Some(request) = context.requests.last_mut() {
                    request.resource = Some(acquired);
                }
            });
            Ok(())
        }
        Err(exception) => {
            let _ = end_request(endsystem);
            Err(exception)
        }
    }
}

/// Ends the innermost request, and everything that began in it; what was before it continues. Fails with
/// THREAD_CANCELLED where the thread that arrived with the request has been cancelled.
pub(crate) fn end_request(endsystem: &Arc<Endsystem>) -> Result<(), SystemException> {
    let Some(request) = with(|context| context.requests.pop()) else {
        return Ok(());
    };
    end_frames_above(request.frames + 1);
    if let Some((resource, point, id)) = request.resource {
        endsystem.dispatcher.release(resource, point, Some(id));
    }
    let mut ended = Ok(());
    if with(|context| context.frames.len()) > request.frames {
        if is_cancelled() {
            ended = Err(thread_cancelled());
        }
        end_frame();
    }
    with(|context| {
        context.deadlines.truncate(request.deadlines);
        swap_call_deadline(request.call_deadline);
    });
    resume();
    // Segments that a servant on its caller's thread has left open.
    let left_open = with(|context| {
        let is_open = context.segments.depth() > request.depth;
        let frame = context.frames.last().filter(|_| is_open)?;
        Some(SegmentHandle {
            activation: frame.number,
            depth: request.depth,
        })
    });
    match left_open {
        Some(handle) => ended.and(end_segments(endsystem, handle)),
        None => ended,
    }
}

/// Returns whether the innermost activation has been cancelled.
fn is_cancelled() -> bool {
    let innermost = with(|context| {
        let innermost = context.innermost()?;
        let activation = &innermost.activation;
        let cancelled = matches!(activation.state, ActivationState::Cancelled);
        Some((Arc::clone(&activation.endsystem), innermost.point(), cancelled))
    });
    innermost.is_some_and(|(endsystem, point, cancelled)| {
        cancelled || endsystem.dispatcher.interruption(point) == Some(Interrupted::Cancelled)
    })
}

/// Suspends the innermost activation while another one uses its OS thread.
fn pause() {
    let paused = with(|context| {
        let innermost = context.innermost()?;
        if !matches!(innermost.activation.state, ActivationState::Active) {
            return None;
        }
        innermost.activation.state = ActivationState::Paused;
        let point = SchedulingPoint {
            deadline: None,
            watch: None,
            ..innermost.point()
        };
        Some((Arc::clone(&innermost.activation.endsystem), point))
    });
    if let Some((endsystem, point)) = paused {
        // A cancellation is reported when the activation resumes.
        let _ = endsystem.dispatcher.wait(point);
    }
}

/// Resumes the innermost activation if it is paused.
fn resume() {
    let resumed = with(|context| {
        let innermost = context.innermost()?;
        if !matches!(innermost.activation.state, ActivationState::Paused) {
            return None;
        }
        innermost.activation.state = ActivationState::Active;
        Some((Arc::clone(&innermost.activation.endsystem), innermost.point()))
    });
    if let Some((endsystem, point)) = resumed
        && let Err(interrupted) = endsystem.dispatcher.pass(point)
    {
        interrupted_at_point(interrupted);
    }
}
