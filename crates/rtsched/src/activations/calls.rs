//! Scheduling points 4 and 5: the head leaves by a call and returns.

use std::{sync::Arc, time::Duration};

use punctual_flight::Event;
use punctual_sched::dynamic::SchedulingParameters;
use punctual_stub::ObjectRef;
use punctual_types::SystemException;

use super::{
    CurrentThread,
    context::{ActivationState, end_frames_above, record_event, with},
    interrupted_at_point,
};
use crate::{endsystem::Endsystem, error::Interrupted};

/// Begins a two-way call; `sent`: the result of [`send`]. [`end_call`] ends it. In between, interceptors may
/// make other calls.
pub(crate) fn begin_call(sent: Option<&CurrentThread>) {
    with(|context| {
        let caller = sent.and_then(|_| context.frames.last());
        let caller = caller.map(|frame| frame.number);
        context.calls.push(caller);
    });
}

/// Ends the innermost two-way call, and returns the head if the call took one. `cancelled`: the reply reports
/// a cancellation.
pub(crate) fn end_call(endsystem: &Arc<Endsystem>, cancelled: bool) -> Result<(), Interrupted> {
    match with(|context| context.calls.pop()).flatten() {
        Some(activation) => receive(endsystem, activation, cancelled),
        None => Ok(()),
    }
}

/// Suspends the current thread, if any, before it polls for the reply to an asynchronous call, until it
/// [`pass`](super::pass)es.
pub(crate) fn poll(endsystem: &Arc<Endsystem>) -> Result<(), SystemException> {
    let point = with(|context| {
        if context.current(endsystem).is_none() {
            return Ok(None);
        }
        let active = context.active(endsystem)?;
        active.activation.state = ActivationState::Polling;
        Ok::<_, SystemException>(Some(active.point()))
    })?;
    let Some(point) = point else {
        return Ok(());
    };
    endsystem.dispatcher.wait(point).map_err(|interrupted| {
        with(|context| {
            if let Some(innermost) = context.innermost() {
                innermost.activation.state = ActivationState::Active;
            }
        });
        interrupted_at_point(interrupted)
    })
}

/// Sends the head of the current thread, if any, to `target`. Returns the parameters for the other host: the
/// work that remains, not that of the segment's beginning.
pub(crate) fn send(
    endsystem: &Arc<Endsystem>,
    target: ObjectRef,
) -> Result<Option<CurrentThread>, SystemException> {
    let point = with(|context| {
        if context.current(endsystem).is_none() {
            return Ok(None);
        }
        Ok::<_, SystemException>(Some(context.active(endsystem)?.point()))
    })?;
    let Some(point) = point else {
        return Ok(None);
    };
    let locus = endsystem
        .dispatcher
        .leave(point, target)
        .map_err(interrupted_at_point)?;
    let sent = with(|context| {
        let mut innermost = context.innermost()?;
        let (id, limit) = (innermost.activation.id, innermost.activation.limit);
        let segment = *innermost.segment();
        record_event(Event::DistributableThreadSent, id);
        let left_at = innermost.depart(locus);
        let received = left_at.zip(segment.began_at);
        let received = received.map_or(Duration::ZERO, |(left, began)| left.saturating_sub(began));
        let parameters = match &segment.parameters {
            SchedulingParameters::User(user) => SchedulingParameters::User(endsystem.marshal(user, received)),
            parameters => parameters.after_work(received),
        };
        Some(CurrentThread {
            id,
            parameters,
            implicit: segment.implicit,
            opaque: segment.opaque,
            limit,
        })
    });
    Ok(sent)
}

/// Returns the head to its activation.
fn receive(endsystem: &Arc<Endsystem>, activation: u64, cancelled: bool) -> Result<(), Interrupted> {
    let caller = with(|context| {
        context
            .frames
            .iter()
            .rposition(|frame| frame.number == activation)
    });
    let Some(caller) = caller else {
        return Ok(());
    };
    // Other interceptors may have left segments open.
    end_frames_above(caller + 1);
    let returned = with(|context| {
        let mut innermost = context.innermost()?;
        let locus = innermost.take_up()?;
        Some((innermost.point(), innermost.activation.id, locus))
    });
    let Some((point, id, locus)) = returned else {
        return Ok(());
    };
    record_event(Event::DistributableThreadReturned, id);
    if cancelled {
        let _ = endsystem.dispatcher.cancel(id);
    }
    let arrived = endsystem.dispatcher.come_back(point, locus);
    if let Err(interrupted) = arrived {
        interrupted_at_point(interrupted);
    }
    arrived
}
